// Numbers and names as people write them: sizes with suffixes, and the name that was meant.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include <cutpoint/status.h>

namespace cutpoint {

/// Reads bytes: decimal digits, then nothing, B, or K, M, G, T (powers of 1024) with an optional B or iB, in either
/// case. Errors: invalid_argument, for another form and for more than 64 bits.
[[nodiscard]] result<std::uint64_t> parse_size(std::string_view text);

/// Reads a whole number, decimal or hexadecimal with 0x. Errors: invalid_argument, for another form and for more than
/// 64 bits.
[[nodiscard]] result<std::uint64_t> parse_number(std::string_view text);

/// Writes bytes with the largest suffix that divides them: 65536 is "64K", 1000 is "1000".
[[nodiscard]] std::string format_size(std::uint64_t bytes);

/// The status of a name that is not among those known: "no WHAT 'NAME'", with the nearest name or, when none is near
/// (more than a third of the letters differ), all of them.
[[nodiscard]] status unknown_name(std::string_view what, std::string_view name,
                                  std::span<const std::string_view> known);

}  // namespace cutpoint
