// The words that everything else is written in: spans of bytes, and a chunk of a stream.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace cutpoint {

/// Bytes that somebody else owns, read only.
using byte_span = std::span<const std::uint8_t>;

inline constexpr std::uint64_t KiB = std::uint64_t{1} << 10;
inline constexpr std::uint64_t MiB = std::uint64_t{1} << 20;
inline constexpr std::uint64_t GiB = std::uint64_t{1} << 30;

/// Bytes `[offset, offset + length)` of one stream. Chunks of a stream are contiguous, cover it, and have `length >=
/// 1`.
struct chunk {
  std::uint64_t offset = 0;
  std::uint64_t length = 0;

  friend bool operator==(const chunk&, const chunk&) = default;
};

}  // namespace cutpoint
