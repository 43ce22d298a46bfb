// Descriptions of parameters: name, meaning, bounds and default.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace cutpoint {

/// The text form of a parameter's value.
enum class value_kind {
  size,    ///< a number of bytes: decimal, optionally with K, M, G (powers of 1024) or KiB and so on
  count,   ///< a number: decimal, or hexadecimal with 0x
  word,    ///< a pattern of bits: read like a `count`, printed in hexadecimal
  choice,  ///< one of a few names
  key,     ///< bytes as hexadecimal digits, two for each byte
  secret,  ///< a `secret_key`, which is given apart: its text is the fingerprint that names it, 16 hexadecimal digits
};

/// Describes one parameter of an algorithm. The bounds are inclusive and apply to the kinds size, count and word.
struct parameter_info {
  std::string_view name = {};
  value_kind kind = value_kind::count;
  std::uint64_t lowest = 0;
  std::uint64_t highest = 0;
  std::string_view meaning = {};
  /// How the value is derived when it is left out; empty if the default is a constant.
  std::string_view when_left_out = {};
};

/// A condition that a parameter's value must meet besides its bounds, alone or in relation to another parameter.
struct parameter_rule {
  enum class condition {
    at_least,        ///< at least the value of `other`, or `value`
    at_most,         ///< at most that
    more_than,       ///< more than that
    less_than,       ///< less than that
    power_of_two,    ///< 1, 2, 4, ...
    even,            ///< a multiple of 2
    odd,             ///< not a multiple of 2
    irreducible,     ///< an irreducible polynomial over GF(2), in which bit k stands for x^k
    holds_window,    ///< applies to max_exp: 2^max_exp is at least 2^min_exp + window + 1
    has_mask,        ///< applies to normalization: it and log2(avg_bytes), rounded, are together at most `value`
    mean_of_bounds,  ///< applies to avg_bytes: the mean of min_bytes and max_bytes, rounded up
  };

  std::string_view parameter = {};
  condition must = condition::at_least;
  /// The parameter that bounds this one; empty if `value` is the bound or the condition has no bound.
  std::string_view other = {};
  std::uint64_t value = 0;  ///< the bound if `other` is empty
  /// A value that is accepted although it breaks the rule.
  std::optional<std::uint64_t> exception = {};
  /// Whether every value is accepted if `other` is 0, as a maximum of 0 means no maximum.
  bool allows_no_other = false;
};

/// Returns the condition's name, as in the enumeration.
[[nodiscard]] std::string_view to_string(parameter_rule::condition condition) noexcept;
/// Describes in words what the value must be: "at most avg_bytes", "a power of two", "at least 2, or 0".
[[nodiscard]] std::string describe(const parameter_rule& rule);

}  // namespace cutpoint
