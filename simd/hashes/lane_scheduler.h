// Distributes messages of unequal length to the vector lanes of a hash.
//
// A vector lane hashes the whole blocks of its message in place, and then one or two blocks of padding from a buffer of
// its own. The kernel runs for as many blocks as every vector lane has left. Then each vector lane that has come to an
// end continues with its padding or with another message.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include <cutpoint/batch_fingerprinter.h>

#include "simd/dispatch/instruction_set.h"

namespace cutpoint::simd {

/// A hash of 64-byte blocks with the padding of SHA-1 and SHA-256, which a kernel computes in all vector lanes at once.
struct lane_hash {
  fingerprint_kind kind = fingerprint_kind::none;
  std::size_t state_words = 0;
  std::size_t lanes = 0;
  /// The time to hash a message alone, relative to the time in which all vector lanes hash the same number of blocks. It
  /// is 0.3 to 0.5 for the vector kernels, and less if the processor has instructions for SHA.
  double time_alone = 0.4;

  /// Hashes `count` blocks of each vector lane's message. `state` is aligned to 64 bytes and has word i of vector lane
  /// r at index i * lanes + r. If bit r of `beginning` is set, vector lane r begins with the hash's initial state.
  void (*hash_blocks)(std::uint32_t* state, const std::uint8_t* const* messages, std::size_t count,
                      std::uint32_t beginning) = nullptr;
};

inline constexpr std::size_t most_lanes = 16;

/// The distance in bytes at which a kernel prefetches each message. Vector lanes enter new pages at different times,
/// and all of them wait when one waits for memory. Without these prefetches, and those of a message's first bytes,
/// messages of unequal length in uncached memory take 7 % longer (Zen 3, SHA-1 with AVX2).
inline constexpr std::size_t prefetch_distance = 512;

[[nodiscard]] std::unique_ptr<batch_fingerprinter> make_lane_fingerprinter(const lane_hash& hash);

/// Calls the maker for `set`. Returns null if it was not compiled.
using lane_fingerprinter_maker = std::unique_ptr<batch_fingerprinter> (*)();
inline std::unique_ptr<batch_fingerprinter> make_by(const kernel_table<lane_fingerprinter_maker>& makers,
                                                    instruction_set set) {
  const lane_fingerprinter_maker make = makers[static_cast<std::size_t>(set)];
  return make != nullptr ? make() : nullptr;
}

}  // namespace cutpoint::simd
