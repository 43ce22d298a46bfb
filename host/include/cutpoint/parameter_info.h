// What a program may ask about a parameter: its name, meaning, bounds and default.
#pragma once

#include <cstdint>
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

}  // namespace cutpoint
