// `bench`'s engine: the whole way from memory to chunks and fingerprints, by the processor, by a GPU, and by both.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <cutpoint/engine.h>

#include "cli/bench/answer.h"
#include "cli/dedup/trace_file.h"

namespace cutpoint::cli {

/// A row of the table before it is measured.
struct engine_job {
  std::string name;  ///< of the catalog
  std::string size;  ///< as asked for; "own" for a name's own sizes
  std::string hash;
  /// Cuts, fingerprint, and what lanes are expected to do, where that is known.
  feed_options feed;
};

/// What the engine is made to work with.
struct engine_setup {
  std::string_view name;               ///< "processor", "cuda", "hybrid"
  backend where = backend::automatic;  ///< as a feed is asked for it; `automatic` uses the processor only
  std::string problem = {};            ///< empty, or why it cannot be used here
};

/// All of them; without the devices' where only the processor is asked for.
[[nodiscard]] std::vector<engine_setup> engine_setups(bool has_devices);

enum class engine_outcome { measured, unavailable, wrong_answer };
[[nodiscard]] std::string_view to_string(engine_outcome outcome);

/// A side at a job, measured. Rates are medians of the rounds, in bytes a second, and nothing unless measured.
struct engine_cell {
  std::string_view side;
  engine_outcome outcome = engine_outcome::measured;
  std::optional<double> bytes_per_second = {};
  std::optional<double> of_read = {};    ///< the median of the ratios to each round's plain read
  std::optional<double> of_link = {};    ///< of the link to the device; nothing where that is not known or not used
  std::optional<double> of_device = {};  ///< of the device's kernels, likewise
  std::optional<work_plan> plan = {};    ///< that it went by
  std::optional<double> device_cut_share = {};
  std::optional<double> predicted = {};  ///< of that plan
  std::string problem = {};
};

struct engine_row {
  const engine_job* job = nullptr;
  double mean_bytes = 0;             ///< of the chunks
  double read_bytes_per_second = 0;  ///< the median of the rounds' plain reads, by as many threads
  std::vector<engine_cell> cells;    ///< of all sides

  /// Both together over the faster of the two alone, where all were measured.
  [[nodiscard]] std::optional<double> gain_of_both() const;
};

/// Measures jobs on the threads of one engine.
class engine_bench {
 public:
  /// `trace` may be null; else each side's first run of each job is told there, which is not among those that are timed.
  engine_bench(engine& threads, std::vector<engine_setup> sides, trace_file* trace)
      : threads_(threads), setups_(std::move(sides)), trace_(trace) {}

  /// Checks every side against the sequential reference, then measures. Every run is checked. Errors: of fingerprints;
  /// cancelled.
  [[nodiscard]] result<engine_row> measure(const engine_job& job, byte_span data, std::uint64_t rounds,
                                           const cancellation& cancel) const;

 private:
  struct run_outcome;
  [[nodiscard]] result<run_outcome> run(const engine_job& job, const engine_setup& side, byte_span data,
                                        const bench_answer& expected, const cancellation& cancel,
                                        trace_receiver* trace) const;
  [[nodiscard]] result<engine_cell> check(const engine_job& job, const engine_setup& side, byte_span data,
                                          const bench_answer& expected, const cancellation& cancel) const;
  [[nodiscard]] double read_rate(byte_span data) const;

  engine& threads_;
  std::vector<engine_setup> setups_;
  trace_file* trace_;
};

}  // namespace cutpoint::cli
