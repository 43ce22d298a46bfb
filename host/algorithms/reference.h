// The members of a scalar reference, which describes the parameters of an algorithm and finds its cuts.
//
// A reference is a class in the file of its algorithm. It has these members:
//
//   using parameters = ...;                     the public aggregate
//   static constexpr std::string_view name;     in canonical strings
//   static constexpr candidate_kind candidates;
//   static constexpr size_ratios ratios;        the defaults of min and max
//   static constexpr auto ignored_parameters;   names of parameters that are accepted without effect
//   static visit_fields(self, visit)            calls visit(field, parameter_info) for each field, in canonical order
//   static void fill(parameters&)               fills in fields whose default depends on other fields
//   static parameter_rules rules_of(const parameters&)
//                                               conditions besides the bounds of fields (host/algorithms/reference.h)
//   static status check(const parameters&)      checks what rules cannot express, such as a missing library
//   static presets()                            the names in the catalog for this algorithm
//   static sized_sets()                         optional: average sizes that have defaults of their own
//   explicit reference(const parameters&)       takes parameters that are filled in and checked
//   std::uint64_t reach() const, behind() const
//   std::uint64_t lookahead() const             number of bytes past a cut that it depends on
//   static constexpr bool is_prefix_decided;    more bytes do not change a cut that is `lookahead` bytes before the end
//   bool is_decided_by_lookahead() const        false if a cut may depend on all bytes up to the reach
//   std::optional<std::uint64_t> fixed_chunk_bytes() const
//                                               the length of all chunks, if the content does not decide it
//   std::optional<double> expected_chunk_bytes() const
//                                               the mean length of chunks of random bytes, if PRUNE's formula gives it
//   std::uint64_t cut(byte_span bytes, std::uint64_t start) const
//   std::optional<candidate_map_needs> candidate_map() const
//                                               nullopt if no candidates are independent of chunks
//   void find_candidates(const map_range&, candidate_bits& map) const
//   std::uint64_t mapped_cut(byte_span bytes, std::uint64_t start, const candidate_bits&, std::uint64_t position) const
//                                               as `cut`, from candidates; `position` is that of `start` in the map
//
// `cut` returns the length of the chunk that begins at `start`, for a stream that ends with `bytes`. It is also called
// with the beginning of a longer stream; `reach`, `lookahead` and `is_prefix_decided` tell whether its result then
// holds. `mapped_cut` returns the same as `cut`. It ignores candidates that depend on bytes past `bytes`, which a map
// may contain. `reference_defaults` has the defaults of these members.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <cutpoint/bytes.h>
#include <cutpoint/catalog.h>
#include <cutpoint/chunker.h>
#include <cutpoint/parameter_info.h>
#include <cutpoint/status.h>
#include <fmt/format.h>

namespace cutpoint {

// Conditions on parameters besides their bounds, as data that the checks and the catalog share.

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

[[nodiscard]] inline parameter_rules mask_rules() { return {rules::power_of_two("avg_bytes")}; }

/// Returns the rules of a rolling hash with a mask.
[[nodiscard]] inline parameter_rules rolling_rules() {
  return joined(divisor_rules(), joined(window_rules(), mask_rules()));
}

/// The defaults of sizes: min = avg / min_divisor, max = avg * max_factor. If a field is 0, the algorithm fills in that
/// size itself.
struct size_ratios {
  std::uint64_t min_divisor = 0;
  std::uint64_t max_factor = 0;
};

/// A name in the catalog, with its parameters.
template <class Parameters>
struct preset {
  std::string_view name = {};
  entry_kind kind = entry_kind::algorithm;
  std::string_view source = {};
  Parameters parameters = {};
  /// The ratios, if they differ from those of the algorithm.
  std::optional<size_ratios> ratios = {};
  /// The parameters that the name fixes, so that a caller cannot set them.
  std::array<std::string_view, 6> fixed = {};
};

/// The reference for an algorithm's parameters. The algorithm's file declares `reference_for`, which returns it and is never
/// called, and host/algorithms/all.h includes that file.
template <class Parameters>
using reference_of = decltype(reference_for(std::declval<const Parameters&>()));

/// A non-empty range of positions among which candidates are marked: indices [first, last) of `bytes`. Index `first` is
/// number `position` of the map. If `bytes` has fewer bytes than needed before or after the range, the stream begins or
/// ends with `bytes`.
struct map_range {
  byte_span bytes;
  std::uint64_t first;
  std::uint64_t last;
  std::uint64_t position;

  [[nodiscard]] std::uint64_t position_of(std::uint64_t index) const { return position + (index - first); }
};

/// The defaults of most references. A reference hides those that do not apply to it.
struct reference_defaults {
  static constexpr size_ratios ratios = {.min_divisor = 4, .max_factor = 8};
  static constexpr std::array<std::string_view, 0> ignored_parameters = {};
  static void fill(const auto&) {}
  static parameter_rules rules_of(const auto&) { return {}; }
  static status check(const auto&) { return {}; }
  static constexpr bool is_prefix_decided = true;
  static bool is_decided_by_lookahead() { return true; }
  static std::optional<std::uint64_t> fixed_chunk_bytes() { return std::nullopt; }
  static std::optional<double> expected_chunk_bytes() { return std::nullopt; }
  static std::uint64_t lookahead() { return 0; }
  static std::optional<candidate_map_needs> candidate_map() { return std::nullopt; }
  static void find_candidates(const map_range&, candidate_bits&) { assert(false); }
  static std::uint64_t mapped_cut(byte_span bytes, std::uint64_t start, const candidate_bits&, std::uint64_t) {
    assert(false);
    return bytes.size() - start;
  }
};

inline constexpr std::uint64_t largest_average = 1 * GiB;
inline constexpr std::uint64_t largest_chunk = 8 * largest_average;

template <class Self, class Visit>
void visit_average(Self& parameters, Visit&& visit, std::string_view meaning = "expected chunk size") {
  visit(parameters.avg_bytes, parameter_info{"avg_bytes", value_kind::size, 1, largest_average, meaning});
}

template <class Self, class Visit>
void visit_maximum(Self& parameters, Visit&& visit) {
  visit(parameters.max_bytes,
        parameter_info{"max_bytes", value_kind::size, 0, largest_chunk, "largest chunk; 0 is no maximum"});
}

/// Visits min, avg and max of an algorithm with a divisor. `rule` describes the default of the minimum if it is not a
/// ratio.
template <class Self, class Visit>
void visit_sizes(Self& parameters, Visit&& visit, std::uint64_t lowest_min = 1, std::string_view rule = {}) {
  visit(parameters.min_bytes, parameter_info{"min_bytes", value_kind::size, lowest_min, largest_average,
                                             "smallest chunk but the last", rule});
  visit_average(parameters, visit, "expected distance between cut-points without limits");
  visit_maximum(parameters, visit);
}

/// Visits the window of a rolling hash.
template <class Self, class Visit>
void visit_window(Self& parameters, Visit&& visit) {
  visit(parameters.window_bytes,
        parameter_info{"window", value_kind::size, 1, 64 * KiB, "bytes that decide a cut-point"});
}

/// Returns the status "NAME = VALUE must be BOUND".
inline status out_of_bounds(std::string_view name, std::uint64_t value, std::string_view bound) {
  return {status_code::invalid_argument, fmt::format("{} = {} must be {}", name, value, bound)};
}

/// Returns the maximum, or `unlimited` for 0.
inline std::uint64_t limit_of(std::uint64_t max_bytes) { return max_bytes == 0 ? unlimited : max_bytes; }

/// Returns the reach of an algorithm that looks at `extra` bytes past its maximum.
inline std::uint64_t reach_past(std::uint64_t limit, std::uint64_t extra) {
  return limit == unlimited ? unlimited : limit + extra;
}

/// Returns a mask of the low log2(divisor) bits.
inline std::uint64_t low_mask(std::uint64_t divisor) { return divisor - 1; }

/// Returns a mask of the `count` highest bits of a 64-bit word, 0 to 64.
inline std::uint64_t top_mask(int count) { return count == 0 ? 0 : ~std::uint64_t{0} << (64 - count); }

/// Returns log2 of a power of two.
inline int log2_of(std::uint64_t power) { return std::countr_zero(power); }

/// The residue that LBFS calls the magic value. A hash whose low bits equal its low bits is a candidate.
inline constexpr std::uint64_t lbfs_pattern = 0x78;

// Sizes as powers of two, as in Borg's chunkers.

inline constexpr std::uint64_t largest_exponent = 30;

template <class Self, class Visit>
void visit_exponents(Self& p, Visit&& visit, std::uint64_t lowest_min = 0) {
  visit(p.min_exp, parameter_info{"min_exp", value_kind::count, lowest_min, largest_exponent,
                                  "the smallest chunk but the last is 2^min_exp bytes"});
  visit(p.max_exp,
        parameter_info{"max_exp", value_kind::count, 0, largest_exponent, "the largest chunk is 2^max_exp bytes"});
  visit(p.mask_bits, parameter_info{"mask_bits", value_kind::count, 2, largest_exponent,
                                    "the expected distance between cut-points is 2^mask_bits bytes"});
}

/// Returns the rules min_exp <= mask_bits <= max_exp, which Borg requires.
[[nodiscard]] inline parameter_rules exponent_rules() {
  return {rules::at_most("min_exp", "mask_bits"), rules::at_most("mask_bits", "max_exp")};
}

}  // namespace cutpoint
