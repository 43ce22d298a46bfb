// The cost model: what one job costs on this machine, by a short measurement, and the rates of its lanes that follow.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <cutpoint/backends.h>
#include <cutpoint/engine.h>
#include <cutpoint/fingerprint.h>
#include <cutpoint/status.h>
#include <cutpoint/topology.h>
#include <cutpoint/work_plan.h>

namespace cutpoint {

// All rates are in bytes of random data per second. Each is the best of a few short measurements, because other work on
// the machine only makes them slower. A rate is 0 if it could not be measured.

/// The rate of one chunker, on one lane.
struct cut_rate {
  std::string name;       ///< of the algorithm
  std::string cuts;       ///< the canonical string
  double mean_bytes = 0;  ///< of the chunks
  double bytes_per_second = 0;
  backend where = backend::scalar;
};

/// The rate of one fingerprint, for chunks of this mean length of which a lane has some number in flight.
struct fingerprint_rate {
  fingerprint_kind kind = fingerprint_kind::none;
  std::uint64_t chunk_bytes = 0;
  std::uint64_t in_flight = 1;
  double bytes_per_second = 0;
  backend where = backend::scalar;
};

/// The rates of a processor's lane or of a device. A list is empty if the job has no such work, or the device no kernel
/// for it.
struct lane_rates {
  std::vector<cut_rate> cuts;
  std::vector<fingerprint_rate> fingerprints;
};

struct memory_rates {
  double read_by_one = 0;  ///< reads of uncached memory, by one thread
  double read_by_all = 0;  ///< the same by one thread for each processor, together
  double copy = 0;         ///< by one thread, in copied bytes
  double page_cache = 0;   ///< reads of a file in the page cache, by one thread
};

/// The rates of one device, all its lanes together.
struct device_costs {
  int index = 0;  ///< as `gpus()` counts
  std::string name;
  std::uint64_t batch_bytes = 0;  ///< size of the measured batches
  double link_in = 0;             ///< from pinned memory
  double link_out = 0;
  double pinning = 0;          ///< locking memory of the host that is in use, and unlocking it
  double latency_seconds = 0;  ///< of a very small batch
  lane_rates rates;            ///< of the kernels; `in_flight` is the number of chunks in a batch
  std::string problem;         ///< the failure that left the device without rates, or empty
};

struct cost_model {
  std::string machine;                ///< `machine_key` of the measured machine
  std::uint64_t processor_count = 1;  ///< threads of `read_by_all` and `together`
  double seconds = 0;                 ///< that the measurement took
  memory_rates memory;
  double together = 1;            ///< speed of a lane while all processors work, relative to its speed alone
  double seconds_of_a_chunk = 0;  ///< to look a new chunk up in the index and add it
  lane_rates processor;
  std::vector<device_costs> devices;
};

/// A key of the machine: its processors with caches and instruction sets, its GPUs with their places and driver. A cost
/// model with another key is of another machine.
[[nodiscard]] std::string machine_key(const topology& machine, const std::vector<gpu_info>& gpus);

/// Measures what `job` costs: its cuts and its fingerprint on the processor and on those of `gpus` that have no problem,
/// links, and memory. Of the job only `cuts` and `fingerprint` matter. It takes some tenths of a second, about as much
/// for each GPU, and up to 300 MB of memory. No other program should run meanwhile, because it would make the rates
/// lower. Errors: unavailable, if the system cannot start threads; backend_failure; as `fingerprints_on`. A GPU that
/// fails is no error; its costs have the problem. Throws std::bad_alloc.
[[nodiscard]] result<cost_model> calibrate(const topology& machine, const std::vector<gpu_info>& gpus,
                                           const feed_options& job);

/// The rates of the job's lanes, for `feed_options::rates`, with `thread_count` lanes of the processor and the devices
/// that the job names. What `model` does not have is unknown. If it has several rates of the job's fingerprint, the one for
/// chunks of the nearest length counts. Batches are the shortest whose latency is at most a twentieth of their time, within
/// the job's device memory. The result has no entry for a device without kernels for the job. Thread-safe.
[[nodiscard]] job_rates rates_for(const cost_model& model, const feed_options& job, std::uint64_t thread_count);

/// Which lanes do the work of a feed.
struct work_choice {
  work_plan plan = work_plan::processor;
  work_kind on_devices = work_kind::cuts;         ///< unused without devices
  job_rates rates = {};                           ///< of the lanes there are; of none if they are not known
  std::vector<plan_prediction> predictions = {};  ///< the fastest first; empty without rates
};

/// Chooses as `engine::open` does when it opens a feed of `job`, by `where`, `rates` and `devices`, which need not exist
/// here. Thread-safe.
[[nodiscard]] work_choice choose_work(const feed_options& job, std::uint64_t thread_count);

/// Returns the GPUs that must be measured before a feed of the job can share its work with them: all that there are, if `where` is
/// automatic or hybrid and one of them can be used, and otherwise none. Thread-safe.
[[nodiscard]] std::vector<gpu_info> gpus_to_measure(const feed_options& job);

/// Measures the rates for `feed_options::rates` by `calibrate` and `rates_for`. Null, which takes no time, if there are no
/// `gpus_to_measure`. Errors: as `calibrate`.
[[nodiscard]] result<std::shared_ptr<const job_rates>> measure_rates(const feed_options& job,
                                                                     std::uint64_t thread_count);

}  // namespace cutpoint
