// The cost model: rates of one machine that are measured once, and the rates of a job's lanes that follow from them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <cutpoint/backends.h>
#include <cutpoint/chunker.h>
#include <cutpoint/fingerprint.h>
#include <cutpoint/status.h>
#include <cutpoint/topology.h>
#include <cutpoint/work_plan.h>

namespace cutpoint {

// All rates are in bytes of random data per second. Each is the best of a few short measurements, because other work on
// the machine only makes them slower. A rate is 0 if it could not be measured.

/// The rate of one chunker, on one lane.
struct cut_rate {
  std::string name;       ///< in the catalog
  std::string cuts;       ///< the canonical string
  double mean_bytes = 0;  ///< of the chunks
  double bytes_per_second = 0;
  backend where = backend::scalar;
};

/// The rate of one fingerprint, for chunks of one length of which a lane has some number in flight.
struct fingerprint_rate {
  fingerprint_kind kind = fingerprint_kind::none;
  std::uint64_t chunk_bytes = 0;
  std::uint64_t in_flight = 1;
  double bytes_per_second = 0;
  backend where = backend::scalar;
};

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
  double latency_seconds = 0;  ///< of a very small batch
  lane_rates rates;            ///< of the kernels that the device has; `in_flight` is the number of chunks in a batch
  std::string problem;         ///< the failure that left the device without rates, or empty
};

struct cost_model {
  std::string machine;                ///< `machine_key` of the measured machine
  std::uint64_t processor_count = 1;  ///< threads of `read_by_all` and `together`
  double seconds = 0;                 ///< that the calibration took
  memory_rates memory;
  double together = 1;            ///< speed of a lane while all processors work, relative to its speed alone
  double seconds_of_a_chunk = 0;  ///< to look a new chunk up in the index and add it
  lane_rates processor;
  std::vector<device_costs> devices;
};

/// A key of the machine: its processors with caches and instruction sets, its GPUs with their places and driver. A cost
/// model with another key is of another machine.
[[nodiscard]] std::string machine_key(const topology& machine, const std::vector<gpu_info>& gpus);

/// Measures this machine: every name of the catalog, each fingerprint, memory, and those of `gpus` that have no
/// problem. It takes about two seconds, more for each GPU, and up to 300 MB of memory. No other program should run
/// meanwhile, because it would make the rates lower. Errors: unavailable, if the system cannot start threads;
/// backend_failure. A GPU that fails is no error; its costs have the problem. Throws std::bad_alloc.
[[nodiscard]] result<cost_model> calibrate(const topology& machine, const std::vector<gpu_info>& gpus = {});

/// The mean length of chunks of random data, measured on a sample of 4 MiB, in milliseconds. If chunks are longer than
/// the sample, the sample's length. Thread-safe.
[[nodiscard]] double sampled_chunk_bytes(const chunker& cuts);

/// The properties of a job on which its rates depend.
struct job_costs {
  chunker cuts;
  fingerprint_recipe fingerprint = fingerprint_kind::none;
  double mean_chunk_bytes = 8192;               ///< as expected
  std::uint64_t thread_count = 1;               ///< number of the processor's lanes
  std::uint64_t device_memory_bytes = 1 * GiB;  ///< of each device, for batches
  std::vector<int> devices = {0};               ///< GPUs that may be used; those without costs are ignored
};

/// The rates of the job's lanes. The rate of cuts is that of the same canonical string, or that of the same algorithm
/// at the nearest mean length, or 0 (unknown). Rates of fingerprints are interpolated between the measured lengths and
/// numbers in flight. Batches are the shortest whose latency is at most a twentieth of their time. The result has no
/// entry for a device without kernels for the job. Thread-safe.
[[nodiscard]] job_rates rates_for(const cost_model& model, const job_costs& job);

}  // namespace cutpoint
