// A machine that is not there, as a line of `key=value` words describes it, and the job that it is to do.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <cutpoint/cost_model.h>
#include <cutpoint/simulation.h>
#include <cutpoint/status.h>

namespace cutpoint::bench {

/// Rates are asked for and told in GB/s.
inline constexpr double giga = 1e9;

struct simulation_question {
  std::string line;
  simulated_machine machine;
  feed_options options;  ///< with the rates that the scheduler believes in
  std::uint64_t bytes = 4 * GiB;
};

/// Reads a line. What it says nothing of is by `costs`: what the processor does at the job and what passes its memory;
/// where those know nothing, nothing bounds it. Errors: invalid_argument, for a key that there is not or that comes
/// twice, a value out of its bounds, a rate that is needed and missing.
[[nodiscard]] result<simulation_question> read_question(const std::string& line, const cost_model& costs);

/// The keys, each with what it means and its bounds.
[[nodiscard]] std::vector<std::pair<std::string_view, std::string>> question_keys();

}  // namespace cutpoint::bench
