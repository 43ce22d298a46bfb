// Parses and formats sizes, numbers and bytes in hexadecimal, lowers letters, and suggests the nearest known name.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include <cutpoint/status.h>

namespace cutpoint {

/// Parses a size in bytes: decimal digits, optionally followed by B, or by K, M, G or T (powers of 1024) with an
/// optional B or iB, in either case. Errors: invalid_argument, if the text has another form or the value needs more
/// than 64 bits.
[[nodiscard]] result<std::uint64_t> parse_size(std::string_view text);

/// Parses a whole number: decimal digits, or hexadecimal digits after 0x. Errors: invalid_argument, if the text has
/// another form or the value needs more than 64 bits.
[[nodiscard]] result<std::uint64_t> parse_number(std::string_view text);

/// Fills `bytes` from twice as many hexadecimal digits. Returns false if the text has another length or other characters;
/// `bytes` are unspecified then.
[[nodiscard]] bool read_hex(std::string_view text, std::span<std::uint8_t> bytes) noexcept;

/// Formats a number of bytes with the largest suffix that divides it: 65536 is "64K", 1000 is "1000".
[[nodiscard]] std::string format_size(std::uint64_t bytes);

/// Formats a number of bytes for a sentence: 65536 is "64K", 1000 is "1000 bytes", 1 is "1 byte".
[[nodiscard]] std::string size_with_unit(std::uint64_t bytes);

/// Returns the text with the letters A to Z in lower case. Other bytes stay.
[[nodiscard]] std::string lower_case(std::string_view text);

/// Returns the status for a name that is not in `known`, with the message "no WHAT 'NAME'". The message suggests the
/// nearest known name, or lists all of them if every name differs in more than a third of the letters.
[[nodiscard]] status unknown_name(std::string_view what, std::string_view name,
                                  std::span<const std::string_view> known);

}  // namespace cutpoint
