// A simulated machine: lanes of given rates, links and failures on a virtual clock, around the engine's own schedule. The
// cuts are really made.
#pragma once

#include <cstdint>
#include <vector>

#include <cutpoint/bytes.h>
#include <cutpoint/engine.h>
#include <cutpoint/status.h>
#include <cutpoint/work_plan.h>

namespace cutpoint::tests {

/// The true rates of the machine. `feed_options::rates` has the rates that the engine expects. `lane_count` and
/// `batch_bytes` of devices are ignored.
struct simulated_machine {
  job_rates rates;
  /// Seconds after which every call to a device fails, for each device. Devices without an entry never fail.
  std::vector<double> device_fails_at = {};
  /// Other work on the processors: from the time on, its lanes work at this share of their rates. In order of time.
  struct slowdown {
    double begin = 0;
    double speed = 1;
  };
  std::vector<slowdown> slowdowns = {};
  /// Seconds of each batch in which its device does nothing else, besides the latency, in which it does.
  double launch_seconds = 0;
  /// The time of each task is drawn: up to this share longer or shorter than its rates say.
  double jitter = 0;
  std::uint64_t seed = 1;
};

/// The work of a lane, in virtual seconds.
struct simulated_lane {
  int device = -1;               ///< -1 for a lane of the processor
  std::uint64_t task_count = 0;  ///< tasks that cut or fingerprinted
  double busy_seconds = 0;
  double last_begin = 0;  ///< of its last map
  double last_end = 0;
};

struct simulated_run {
  double seconds = 0;  ///< until all chunks are delivered
  std::uint64_t bytes = 0;
  std::vector<simulated_lane> lanes;
  feed_statistics statistics;  ///< with virtual seconds

  [[nodiscard]] double bytes_per_second() const { return seconds > 0 ? static_cast<double>(bytes) / seconds : 0; }
};

/// One of the feeds of an engine, whose bytes are one stream. `receiver` must outlive it.
struct simulated_feed {
  feed_options options;
  byte_span stream;
  chunk_receiver* receiver;
};

/// Feeds all at the same time, as the feeds of one engine whose thread limit is its number of threads: threads of the
/// engine take turns, each feed has a feeding thread, and lanes of its own for each device. All share the devices and the
/// memory. Returns the runs of the feeds, in which `seconds` is when each is done. Else as `simulate_feed`.
[[nodiscard]] result<std::vector<simulated_run>> simulate_feeds(const simulated_machine& machine,
                                                                const std::vector<simulated_feed>& feeds);

/// Feeds one stream and delivers its chunks to `receiver`, on the lanes of the processor and of the devices that
/// `options` names, whose rates the machine must have. Batches of a device pass its link, its kernels and its link back
/// in turn, and then wait for the latency. Lane 0 reads and works like the engine's feeding thread. All copies and reads
/// pass the memory, one after the other. Equal seeds give equal runs. Errors: as `engine::open` and `feed`.
[[nodiscard]] result<simulated_run> simulate_feed(const simulated_machine& machine, const feed_options& options,
                                                  byte_span stream, chunk_receiver& receiver);

}  // namespace cutpoint::tests
