// The AES-256-CTR key stream with IV 0, from which gear tables and other secrets of chunkers are drawn.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace cutpoint {

/// Fills `stream` with the beginning of the key stream. Returns false if OpenSSL has no AES-256-CTR; `stream` is
/// unspecified then.
[[nodiscard]] bool fill_aes256_ctr_keystream(std::span<const std::uint8_t, 32> key,
                                             std::span<std::uint8_t> stream) noexcept;

/// Returns the little-endian word that begins at byte `first` of a key stream.
[[nodiscard]] inline std::uint64_t keystream_word(std::span<const std::uint8_t> stream, std::size_t first) noexcept {
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < sizeof word; ++i) word |= std::uint64_t{stream[first + i]} << (8 * i);
  return word;
}

}  // namespace cutpoint
