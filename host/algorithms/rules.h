// Conditions on parameters besides their bounds, as data that the checks and the catalog share.
#pragma once

#include <initializer_list>
#include <vector>

#include <cutpoint/parameter_info.h>
#include <cutpoint/status.h>

namespace cutpoint {

using parameter_rules = std::vector<parameter_rule>;

/// One function for each condition.
namespace rules {

using condition = parameter_rule::condition;

[[nodiscard]] inline parameter_rule at_least(std::string_view parameter, std::string_view other) {
  return {.parameter = parameter, .must = condition::at_least, .other = other};
}
[[nodiscard]] inline parameter_rule at_least(std::string_view parameter, std::uint64_t value,
                                             std::optional<std::uint64_t> exception = {}) {
  return {.parameter = parameter, .must = condition::at_least, .value = value, .exception = exception};
}
[[nodiscard]] inline parameter_rule at_most(std::string_view parameter, std::string_view other) {
  return {.parameter = parameter, .must = condition::at_most, .other = other};
}
[[nodiscard]] inline parameter_rule at_most(std::string_view parameter, std::uint64_t value) {
  return {.parameter = parameter, .must = condition::at_most, .value = value};
}
[[nodiscard]] inline parameter_rule more_than(std::string_view parameter, std::string_view other) {
  return {.parameter = parameter, .must = condition::more_than, .other = other};
}
[[nodiscard]] inline parameter_rule less_than(std::string_view parameter, std::string_view other) {
  return {.parameter = parameter, .must = condition::less_than, .other = other};
}
[[nodiscard]] inline parameter_rule power_of_two(std::string_view parameter) {
  return {.parameter = parameter, .must = condition::power_of_two};
}
[[nodiscard]] inline parameter_rule even(std::string_view parameter) {
  return {.parameter = parameter, .must = condition::even};
}
[[nodiscard]] inline parameter_rule odd(std::string_view parameter) {
  return {.parameter = parameter, .must = condition::odd};
}
[[nodiscard]] inline parameter_rule irreducible(std::string_view parameter) {
  return {.parameter = parameter, .must = condition::irreducible};
}
[[nodiscard]] inline parameter_rule holds_window(std::string_view parameter) {
  return {.parameter = parameter, .must = condition::holds_window};
}
[[nodiscard]] inline parameter_rule has_mask(std::string_view parameter, std::uint64_t most_bits) {
  return {.parameter = parameter, .must = condition::has_mask, .value = most_bits};
}
[[nodiscard]] inline parameter_rule mean_of_bounds(std::string_view parameter) {
  return {.parameter = parameter, .must = condition::mean_of_bounds};
}

}  // namespace rules

/// Returns log2 of an average, rounded to the nearest whole number.
[[nodiscard]] std::uint64_t rounded_log2(std::uint64_t avg_bytes);

/// A parameter's value, if it is a number.
struct parameter_number {
  std::string_view name;
  std::uint64_t value = 0;
};

/// Checks the values. Errors: invalid_argument, for the first rule that they break.
[[nodiscard]] status check_rules(const parameter_rules& all, const std::vector<parameter_number>& values);

[[nodiscard]] inline parameter_rules joined(parameter_rules first, const parameter_rules& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

/// Returns the rule avg <= max, in which a maximum of 0 means no maximum.
[[nodiscard]] inline parameter_rules maximum_rules() {
  parameter_rule rule = rules::at_most("avg_bytes", "max_bytes");
  rule.allows_no_other = true;
  return {rule};
}

/// Returns the rules min <= avg <= max.
[[nodiscard]] inline parameter_rules order_rules() {
  return joined({rules::at_most("min_bytes", "avg_bytes")}, maximum_rules());
}

/// Returns the rules min <= max and avg <= max, of sizes whose average is the divisor of a hash. A divisor is the mean
/// distance from the minimum on, so the minimum may exceed it (PRUNE's table 2 has 1 KiB with a minimum of 2 KiB).
[[nodiscard]] inline parameter_rules divisor_rules() {
  parameter_rule rule = rules::at_most("min_bytes", "max_bytes");
  rule.allows_no_other = true;
  return joined({rule}, maximum_rules());
}

/// Returns the rule for a minimum that is not less than the window.
[[nodiscard]] inline parameter_rules window_rules() { return {rules::at_least("min_bytes", "window")}; }

/// Returns the rule for an average for which there is a mask.
[[nodiscard]] inline parameter_rules mask_rules() { return {rules::power_of_two("avg_bytes")}; }

/// Returns the rules of a rolling hash with a mask.
[[nodiscard]] inline parameter_rules rolling_rules() {
  return joined(divisor_rules(), joined(window_rules(), mask_rules()));
}

}  // namespace cutpoint
