// Reads bytes that are written in hexadecimal.
#pragma once

#include <charconv>
#include <cstdint>
#include <span>
#include <string_view>

namespace cutpoint::store {

/// Fills `bytes` from twice as many hexadecimal digits. Returns false if the text has another length or other characters;
/// `bytes` are unspecified then.
[[nodiscard]] inline bool read_hex(std::string_view text, std::span<std::uint8_t> bytes) {
  if (text.size() != 2 * bytes.size()) return false;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const char* const digits = text.data() + 2 * i;
    if (std::from_chars(digits, digits + 2, bytes[i], 16).ptr != digits + 2) return false;
  }
  return true;
}

}  // namespace cutpoint::store
