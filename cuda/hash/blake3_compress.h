// The compression function of BLAKE3, with all rounds in registers. https://github.com/BLAKE3-team/BLAKE3-specs
#pragma once

#include <utility>

#include "cuda/kernel/words.h"
#include "host/hash/blake3.h"

namespace cutpoint::cuda {
namespace blake3_detail {

/// A chaining value.
struct words {
  std::uint32_t values[8];
};

/// The index of the message word that a round uses as its I-th word.
template <std::size_t Round, std::size_t I>
inline constexpr std::size_t word_order = blake3::message_orders[Round][I];

CUTPOINT_DEVICE void mix(std::uint32_t& a, std::uint32_t& b, std::uint32_t& c, std::uint32_t& d, std::uint32_t x,
                         std::uint32_t y, std::uint32_t one) {
  a = sum_by_multiplier(x, sum_by_multiplier(b, a, one), one);
  d = rotate_right(d ^ a, 16);
  c += d;
  b = rotate_right(b ^ c, 12);
  a = sum_by_multiplier(y, sum_by_multiplier(b, a, one), one);
  d = rotate_right(d ^ a, 8);
  c += d;
  b = rotate_right(b ^ c, 7);
}

/// Mixes the columns and then the diagonals.
template <std::size_t Round, std::size_t... I>
CUTPOINT_DEVICE void round(std::uint32_t (&v)[16], const message_words& w, std::uint32_t one,
                           std::index_sequence<I...>) {
  (mix(v[I], v[4 + I], v[8 + I], v[12 + I], w[word_order<Round, 2 * I>], w[word_order<Round, 2 * I + 1>], one), ...);
  (mix(v[I], v[4 + (I + 1) % 4], v[8 + (I + 2) % 4], v[12 + (I + 3) % 4], w[word_order<Round, 8 + 2 * I>],
       w[word_order<Round, 9 + 2 * I>], one),
   ...);
}

template <std::size_t... Round>
CUTPOINT_DEVICE void all_rounds(std::uint32_t (&v)[16], const message_words& w, std::uint32_t one,
                                std::index_sequence<Round...>) {
  (round<Round>(v, w, one, std::make_index_sequence<4>()), ...);
}

/// The compression of the definition. `leaf` is the number of the leaf in its chunk, or 0 for a parent. CUDA 13.0
/// compiles it to 802 instructions for sm_90.
CUTPOINT_DEVICE void compress(words& chaining, const message_words& w, std::uint32_t leaf, std::uint32_t length,
                              std::uint32_t flags, std::uint32_t one) {
  std::uint32_t v[16] = {chaining.values[0],
                         chaining.values[1],
                         chaining.values[2],
                         chaining.values[3],
                         chaining.values[4],
                         chaining.values[5],
                         chaining.values[6],
                         chaining.values[7],
                         entry<blake3::initial_words, 0>,
                         entry<blake3::initial_words, 1>,
                         entry<blake3::initial_words, 2>,
                         entry<blake3::initial_words, 3>,
                         leaf,
                         0,
                         length,
                         flags};
  all_rounds(v, w, one, std::make_index_sequence<blake3::round_count>());
  CUTPOINT_UNROLL
  for (std::uint32_t i = 0; i < 8; ++i) chaining.values[i] = v[i] ^ v[8 + i];
}

}  // namespace blake3_detail
}  // namespace cutpoint::cuda
