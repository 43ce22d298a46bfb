// What a program may ask about a parameter: its name, meaning, bounds and default.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace cutpoint {

/// How a parameter's value is written.
enum class value_kind {
  size,    ///< bytes: decimal, with K, M, G (powers of 1024; KiB and so on too)
  count,   ///< a number: decimal, or hexadecimal with 0x
  word,    ///< a pattern of bits: as `count`; printed in hexadecimal
  choice,  ///< one of a few names
  key,     ///< bytes as hexadecimal digits, two a byte
};

/// One parameter of an algorithm. Bounds are inclusive and hold for size, count and word.
struct parameter_info {
  std::string_view name = {};
  value_kind kind = value_kind::count;
  std::uint64_t lowest = 0;
  std::uint64_t highest = 0;
  std::string_view meaning = {};
  /// How the value is found when it is left out; empty where the default is a constant.
  std::string_view when_left_out = {};
};

/// What a parameter's value must be beyond its bounds: by itself, or beside another parameter.
struct parameter_rule {
  enum class condition {
    at_least,      ///< the value of `other`, or `value`
    at_most,       ///< likewise
    more_than,     ///< likewise
    less_than,     ///< likewise
    power_of_two,  ///< 1, 2, 4, ...
    even,          ///< a multiple of 2
    irreducible,   ///< as a polynomial over GF(2), bit k for x^k
    holds_window,  ///< of max_exp: 2^max_exp is at least 2^min_exp + window + 1
  };

  std::string_view parameter = {};
  condition must = condition::at_least;
  /// The parameter that bounds it; empty where `value` does, or nothing.
  std::string_view other = {};
  std::uint64_t value = 0;
  /// A value that is accepted all the same.
  std::optional<std::uint64_t> exception = {};
  /// Whether the rule holds where `other` is 0, as a maximum of 0 is none.
  bool allows_no_other = false;
};

/// The condition's name, as in the enumeration.
[[nodiscard]] std::string_view to_string(parameter_rule::condition condition) noexcept;
/// What the value must be: "at most avg_bytes", "a power of two", "at least 2, or 0".
[[nodiscard]] std::string describe(const parameter_rule& rule);

}  // namespace cutpoint
