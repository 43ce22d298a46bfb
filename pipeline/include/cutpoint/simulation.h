// A machine that is not there: lanes of given rates, links and failures on a virtual clock. The schedule is the engine's
// own and the cuts are made here, whatever the clock says; so a run says what the engine would do on such a machine, and
// its chunks are the engine's.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include <cutpoint/bytes.h>
#include <cutpoint/engine.h>
#include <cutpoint/status.h>
#include <cutpoint/work_plan.h>

namespace cutpoint {

/// What the machine does; what the scheduler believes of it are `feed_options::rates`. Rates as in job_rates, except that
/// `lane_count` and `batch_bytes` of a device are the engine's.
struct simulated_machine {
  job_rates rates;
  /// Seconds after which each device fails whatever it is asked for; for devices beyond these, never.
  std::vector<double> device_fails_at = {};
  /// A task takes up to this share more or less than its rates say, drawn for each.
  double jitter = 0;
  std::uint64_t seed = 1;
};

/// A stream of `bytes`: the sample over and over. The sample must not be empty where there are bytes.
struct simulated_stream {
  byte_span sample;
  std::uint64_t bytes = 0;
};

/// What a lane did, in virtual seconds.
struct simulated_lane {
  int device = -1;               ///< -1 for the processor's
  std::uint64_t task_count = 0;  ///< of those that cut or fingerprinted
  double busy_seconds = 0;
  double last_begin = 0;  ///< of the last that it cut before the join
  double last_end = 0;
};

struct simulated_run {
  double seconds = 0;  ///< until everything has come out
  std::uint64_t bytes = 0;
  std::vector<simulated_lane> lanes;
  feed_statistics statistics;  ///< with virtual seconds

  [[nodiscard]] double bytes_per_second() const { return seconds > 0 ? static_cast<double>(bytes) / seconds : 0; }
};

/// Feeds streams to `receiver` on the lanes of the processor and the devices that `options` names, a rate for each.
/// Time is what the rates say: a device's batches pass its link, its kernels and its link back one after the other, each
/// batch in its turn, then wait for the latency; lane 0 reads and works as the engine's feeding thread does; what is
/// copied into the ring, copied to a device and read by a lane passes the memory, one after the other. Equal seeds give
/// equal runs. Errors: invalid_argument, for rates that are needed and missing; as `engine::open` and `feed`.
[[nodiscard]] result<simulated_run> simulate_feed(const simulated_machine& machine, const feed_options& options,
                                                  std::span<const simulated_stream> streams, chunk_receiver& receiver);

}  // namespace cutpoint
