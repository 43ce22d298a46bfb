// Keeps the lanes of a hash busy with messages of unequal length.
//
// A lane has a message: its whole blocks, read where they lie, then one or two blocks of padding from the lane's buffer.
// The kernel runs for as many blocks as every lane has; then the lanes that came to an end go on to their padding or to
// another message.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include <cutpoint/fingerprint_batch.h>

#include "simd/instruction_set.h"

namespace cutpoint::simd {

/// A hash of blocks of 64 bytes, padded as SHA-1 and SHA-256 are, that a kernel computes in all lanes at once.
struct lane_hash {
  fingerprint_kind kind = fingerprint_kind::none;
  std::size_t state_words = 0;
  std::array<std::uint32_t, 8> start = {};  ///< the state before the first block
  std::size_t lanes = 0;

  /// Takes `count` blocks of each lane's message into the state, which is aligned to 64 bytes and has word i of lane r
  /// at i * lanes + r.
  void (*hash_blocks)(std::uint32_t* state, const std::uint8_t* const* messages, std::size_t count) = nullptr;
};

inline constexpr std::size_t most_lanes = 16;

[[nodiscard]] std::unique_ptr<fingerprint_batch> make_lane_batch(const lane_hash& hash);

/// Calls the maker of `set`; null where that was not compiled.
using lane_batch_maker = std::unique_ptr<fingerprint_batch> (*)();
inline std::unique_ptr<fingerprint_batch> make_by(const kernel_table<lane_batch_maker>& makers, instruction_set set) {
  const lane_batch_maker make = makers[static_cast<std::size_t>(set)];
  return make != nullptr ? make() : nullptr;
}

}  // namespace cutpoint::simd
