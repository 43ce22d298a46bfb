// Basic types: a view of bytes, binary size units, and a chunk of a stream.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace cutpoint {

/// A read-only view of bytes that another object owns.
using byte_span = std::span<const std::uint8_t>;

inline constexpr std::uint64_t KiB = std::uint64_t{1} << 10;
inline constexpr std::uint64_t MiB = std::uint64_t{1} << 20;
inline constexpr std::uint64_t GiB = std::uint64_t{1} << 30;

/// A chunk is the bytes `[offset, offset + length)` of one stream. The chunks of a stream are contiguous, cover the
/// whole stream, and each has at least one byte.
struct chunk {
  std::uint64_t offset = 0;  ///< from the beginning of the stream, in bytes
  std::uint64_t length = 0;  ///< in bytes

  friend bool operator==(const chunk&, const chunk&) = default;
};

}  // namespace cutpoint
