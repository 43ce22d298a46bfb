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

#include <cutpoint/batch_fingerprinter.h>

#include "simd/dispatch/instruction_set.h"

namespace cutpoint::simd {

/// A hash of blocks of 64 bytes, padded as SHA-1 and SHA-256 are, that a kernel computes in all lanes at once.
struct lane_hash {
  fingerprint_kind kind = fingerprint_kind::none;
  std::size_t state_words = 0;
  std::size_t lanes = 0;

  /// Takes `count` blocks of each lane's message into the state, which is aligned to 64 bytes and has word i of lane r
  /// at i * lanes + r. A lane r whose bit of `beginning` is set begins with the hash's own state.
  void (*hash_blocks)(std::uint32_t* state, const std::uint8_t* const* messages, std::size_t count,
                      std::uint32_t beginning) = nullptr;
};

inline constexpr std::size_t most_lanes = 16;

/// How far ahead a kernel prefetches each message. Lanes go through pages at different times, so a wait for memory in
/// one is a wait of all; without this, and the same for a message's first bytes, messages of unequal length from memory
/// that is not cached take 7% longer (Zen 3, SHA-1 by AVX2).
inline constexpr std::size_t prefetch_distance = 512;

[[nodiscard]] std::unique_ptr<batch_fingerprinter> make_lane_fingerprinter(const lane_hash& hash);

/// Calls the maker of `set`; null where that was not compiled.
using lane_fingerprinter_maker = std::unique_ptr<batch_fingerprinter> (*)();
inline std::unique_ptr<batch_fingerprinter> make_by(const kernel_table<lane_fingerprinter_maker>& makers,
                                                    instruction_set set) {
  const lane_fingerprinter_maker make = makers[static_cast<std::size_t>(set)];
  return make != nullptr ? make() : nullptr;
}

}  // namespace cutpoint::simd
