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
//                                               conditions besides the bounds of fields (host/algorithms/rules.h)
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
#include <type_traits>

#include <cutpoint/bytes.h>
#include <cutpoint/catalog.h>
#include <cutpoint/chunker.h>
#include <cutpoint/parameter_info.h>
#include <cutpoint/status.h>
#include <fmt/format.h>

#include "host/algorithms/rules.h"

namespace cutpoint {

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

/// Names the reference for an algorithm's parameters as `type`. Each algorithm's file specialises it.
template <class Parameters>
struct reference_of {
  static_assert(
      !std::is_same_v<Parameters, Parameters>,
      "no reference: specialise reference_of in the algorithm's file, and include that in host/algorithms/all.h");
};

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

}  // namespace cutpoint
