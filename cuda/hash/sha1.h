// SHA-1 (FIPS 180-4) of many chunks.
#pragma once

#include <utility>

#include "cuda/hash/chunk_hash_kernel.h"
#include "host/hash/sha_constants.h"

namespace cutpoint::cuda {

struct sha1 {
  static constexpr std::uint32_t digest_bytes = 20;
  static constexpr std::size_t rounds = 80;
  struct words {
    std::uint32_t values[5];
  };

  [[nodiscard]] CUTPOINT_DEVICE static words start() { return start(std::make_index_sequence<5>()); }

  /// CUDA 13.0 compiles this to 676 instructions for sm_90, and 17 reads and 16 byte permutations for the words of the
  /// block.
  CUTPOINT_DEVICE static void absorb(words& state, message_words& w, std::uint32_t one) {
    words s = state;
    all_rounds(s.values, w, one, std::make_index_sequence<rounds>());
    CUTPOINT_UNROLL
    for (std::uint32_t i = 0; i < 5; ++i) state.values[i] += s.values[i];
  }

 private:
  template <std::size_t... I>
  [[nodiscard]] CUTPOINT_DEVICE static words start(std::index_sequence<I...>) {
    return {{entry<sha1_start, I>...}};
  }

  template <std::size_t... T>
  CUTPOINT_DEVICE static void all_rounds(std::uint32_t (&s)[5], message_words& w, std::uint32_t one,
                                         std::index_sequence<T...>) {
    (round<T>(s, w, one), ...);
  }

  /// Registers change their roles and not their contents: variable a of round T is s[-T mod 5].
  template <std::size_t T>
  CUTPOINT_DEVICE static void round(std::uint32_t (&s)[5], message_words& w, std::uint32_t one) {
    constexpr std::size_t a = (rounds - T) % 5;
    std::uint32_t& b = s[(a + 1) % 5];
    std::uint32_t& e = s[(a + 4) % 5];
    e = sum_by_multiplier(word<T>(w), e, one);
    e = sum_by_multiplier(entry<sha1_constants, T / 20>, e, one);
    e = sum_by_multiplier(rotate_left(s[a], 5) + mixed<T>(b, s[(a + 2) % 5], s[(a + 3) % 5]), e, one);
    b = rotate_left(b, 30);
  }

  /// Returns word T of the message schedule, which replaces word T - 16.
  template <std::size_t T>
  CUTPOINT_DEVICE static std::uint32_t word(message_words& w) {
    if constexpr (T >= 16) w[T % 16] = rotate_left(w[(T - 3) % 16] ^ w[(T - 8) % 16] ^ w[(T - 14) % 16] ^ w[T % 16], 1);
    return w[T % 16];
  }

  template <std::size_t T>
  CUTPOINT_DEVICE static std::uint32_t mixed(std::uint32_t b, std::uint32_t c, std::uint32_t d) {
    if constexpr (T < 20) {
      return (b & c) | (~b & d);
    } else if constexpr (T < 40 || T >= 60) {
      return b ^ c ^ d;
    } else {
      return (b & c) | (b & d) | (c & d);
    }
  }
};

using sha1_kernel = chunk_hash_kernel<sha1>;

}  // namespace cutpoint::cuda
