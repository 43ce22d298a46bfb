// Measures the engine, from memory to chunks and fingerprints: by the processor, by a GPU, and by both.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <cutpoint/engine.h>

#include "cli/bench/answer.h"
#include "cli/bench/cell.h"
#include "cli/inputs/trace_file.h"

namespace cutpoint::cli {

/// A row of the table before it is measured.
struct engine_job {
  std::string name;  ///< an entry of the catalog
  std::string size;  ///< as given; "own" for an entry's own sizes
  std::string hash;
  /// Cuts, fingerprint, and the expected rates of lanes, if known.
  feed_options feed;
};

/// A setup of the table: the back end that the engine uses.
struct engine_setup {
  std::string_view name;               ///< "processor", "cuda", "hybrid"
  backend where = backend::automatic;  ///< the option of the feed; `automatic` uses the processor only
  std::string problem = {};            ///< why it cannot be used here; empty if it can
};

/// Returns the processor, and the devices and both together if `has_devices`.
[[nodiscard]] std::vector<engine_setup> engine_setups(bool has_devices);

struct engine_row {
  const engine_job* job = nullptr;
  double mean_bytes = 0;             ///< of the chunks
  double read_bytes_per_second = 0;  ///< the median of the rounds' plain reads, by as many threads
  std::vector<bench_cell> cells;     ///< of all setups

  /// Returns the rate of both over that of the faster one alone; nullopt unless all three were measured.
  [[nodiscard]] std::optional<double> gain_of_both() const;
};

/// Measures jobs on the threads of one engine.
class engine_bench {
 public:
  /// If `trace` is not null, it gets the first run of each setup at each job, which is not timed.
  engine_bench(engine& threads, std::vector<engine_setup> setups, trace_file* trace)
      : threads_(threads), setups_(std::move(setups)), trace_(trace) {}

  /// Measures all setups at a job. Every run is checked against the sequential reference. Errors: those of fingerprints;
  /// cancelled.
  [[nodiscard]] result<engine_row> measure(const engine_job& job, byte_span data, std::uint64_t rounds,
                                           const cancellation& cancel) const;

 private:
  struct run_outcome;
  [[nodiscard]] result<run_outcome> run(const engine_job& job, const engine_setup& setup, byte_span data,
                                        const bench_answer& expected, const cancellation& cancel,
                                        trace_receiver* trace) const;
  [[nodiscard]] result<bench_cell> check(const engine_job& job, const engine_setup& setup, byte_span data,
                                         const bench_answer& expected, const cancellation& cancel) const;
  [[nodiscard]] double read_rate(byte_span data) const;

  engine& threads_;
  std::vector<engine_setup> setups_;
  trace_file* trace_;
};

}  // namespace cutpoint::cli
