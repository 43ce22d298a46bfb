// One measurement of `bench`: a back end at one row of a table.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <cutpoint/engine.h>
#include <cutpoint/timing.h>

namespace cutpoint::cli {

enum class bench_outcome {
  measured,
  no_kernel,     ///< the back end leaves the job to the reference or the library
  does_not_run,  ///< the processor lacks the instruction set
  unavailable,   ///< the engine cannot use the device
  wrong_answer,  ///< the result differs from the reference's
};

[[nodiscard]] inline std::string_view to_string(bench_outcome outcome) {
  constexpr std::array<std::string_view, 5> names = {"measured", "no_kernel", "does_not_run", "unavailable",
                                                     "wrong_answer"};
  return names[static_cast<std::size_t>(outcome)];
}

/// Rates are medians of the rounds, in bytes per second. They are nullopt unless measured.
struct bench_cell {
  std::string_view name;  ///< of the back end: "scalar", "processor", "cuda"
  bench_outcome outcome = bench_outcome::measured;
  std::optional<double> bytes_per_second = {};
  std::optional<double> of_read = {};  ///< the median of the ratios to each round's plain read
  // Of the engine.
  std::optional<double> of_link = {};    ///< ratio to the link to the device; nullopt if unknown or not used
  std::optional<double> of_device = {};  ///< ratio to the device's kernels; nullopt if unknown or not used
  std::optional<work_plan> plan = {};    ///< the plan that ran
  std::optional<double> device_cut_share = {};
  std::optional<double> predicted = {};  ///< the predicted rate of that plan
  std::string problem = {};
};

/// The rates of one cell, round by round.
struct round_rates {
  std::vector<double> rates;
  std::vector<double> ratios;

  void add(double rate, double read_rate) {
    rates.push_back(rate);
    ratios.push_back(rate / read_rate);
  }
  /// Sets the medians of a cell that was measured.
  void finish(bench_cell& cell) const {
    if (cell.outcome != bench_outcome::measured || rates.empty()) return;
    cell.bytes_per_second = median(rates);
    cell.of_read = median(ratios);
  }
};

}  // namespace cutpoint::cli
