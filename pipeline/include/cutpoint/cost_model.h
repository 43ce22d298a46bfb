// What a byte costs on this machine: measured once, kept by whoever asks, and from it what a job's lanes run at.
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

// All rates are in bytes a second of random bytes, the fastest of a few short turns, since whatever disturbs a turn
// makes it longer. 0 where something could not be measured.

/// One set of cuts, on one lane.
struct cut_rate {
  std::string name;       ///< of the catalog
  std::string cuts;       ///< the canonical string
  double mean_bytes = 0;  ///< of the chunks
  double bytes_per_second = 0;
  backend where = backend::scalar;
};

/// Fingerprints of so many chunks of one length at a time, on one lane.
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
  double read_by_one = 0;  ///< plain reads of what is in no cache, by one thread
  double read_by_all = 0;  ///< by a thread for each processor, together
  double copy = 0;         ///< by one thread, of the bytes that are copied
  double page_cache = 0;   ///< what one thread reads of a file that is in memory
};

/// A device as a whole: its lanes share what it has.
struct device_costs {
  int index = 0;  ///< as `gpus()` counts
  std::string name;
  std::uint64_t batch_bytes = 0;  ///< that were measured with
  double link_in = 0;             ///< from pinned memory
  double link_out = 0;
  double latency_seconds = 0;  ///< of a batch of next to nothing
  lane_rates rates;            ///< of kernels, `in_flight` being what a batch holds; what it does not do is not there
  std::string problem;         ///< empty, or what failed: there are no rates then
};

struct cost_model {
  std::string machine;                ///< `machine_key` of where it was measured
  std::uint64_t processor_count = 1;  ///< threads of `read_by_all` and `together`
  double seconds = 0;                 ///< that measuring took
  memory_rates memory;
  double together = 1;            ///< of what a lane does alone, the share that it does while all processors work
  double seconds_of_a_chunk = 0;  ///< to look a new chunk up in the index and add it
  lane_rates processor;
  std::vector<device_costs> devices;
};

/// Names the machine for costs: processors and their caches and instruction sets, the GPUs with their places and
/// driver. Costs that were measured under another key are another machine's.
[[nodiscard]] std::string machine_key(const topology& machine, const std::vector<gpu_info>& gpus);

/// Measures this machine: every name of the catalog, each fingerprint, memory, and the GPUs given. Some two seconds,
/// and more for each GPU; up to 300 MB of memory. Nothing else should run meanwhile: what takes processors away is
/// measured as slowness. Errors: unavailable, when the system gives no threads; backend_failure. A GPU that fails is no
/// error: its costs say what the problem was. Throws std::bad_alloc.
[[nodiscard]] result<cost_model> calibrate(const topology& machine, const std::vector<gpu_info>& gpus = {});

/// What is told where nothing better is known: the mean length of the chunks that random bytes are cut into, by cutting
/// some. Of chunks so long that the sample has none, the sample's length, 4 MiB. Takes milliseconds. Thread-safe.
[[nodiscard]] double sampled_chunk_bytes(const chunker& cuts);

/// A job, as far as costs depend on it.
struct job_costs {
  chunker cuts;
  fingerprint_recipe fingerprint = fingerprint_kind::none;
  double mean_chunk_bytes = 8192;               ///< as expected
  std::uint64_t thread_count = 1;               ///< lanes of the processor
  std::uint64_t device_memory_bytes = 1 * GiB;  ///< of each device, that batches may take
  std::vector<int> devices = {0};  ///< numbers of those that may be used; what is not in the model is passed over
};

/// What the job's lanes run at. Cuts are looked up by their canonical string, else taken from the same algorithm's at
/// the nearest mean length; where the algorithm has none the rate is 0, not known. Rates of fingerprints are
/// interpolated between the lengths and numbers in flight that were measured. Batches are the shortest whose latency is
/// a twentieth of their time. A device that does not make the job's cuts or fingerprints is left out. Thread-safe.
[[nodiscard]] job_rates rates_for(const cost_model& model, const job_costs& job);

}  // namespace cutpoint
