// The vector kernel of BLAKE3: each vector lane compresses one node, from its first block to its last.
#include <algorithm>
#include <array>
#include <cstring>

#include "simd/dispatch/dispatch.h"
#include "simd/hashes/blake3_kernel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "simd/hashes/blake3.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#if CUTPOINT_HAS_VECTORS
#include "simd/hashes/transpose-inl.h"

HWY_BEFORE_NAMESPACE();
namespace cutpoint::simd::HWY_NAMESPACE {
namespace {

using blake3::block_bytes;
using word_array = std::array<std::uint32_t, word_lanes>;

/// Rotates the words of a vector. A rotation by whole bytes is one shuffle on targets without an instruction that
/// rotates.
template <int Bits>
HWY_INLINE word_vector rotated_right(word_vector v) {
#if HWY_TARGET > HWY_AVX3
  if constexpr (Bits % 8 == 0) {
    constexpr std::uint8_t shift = Bits / 8;
    alignas(16) static constexpr std::uint8_t order[16] = {
        shift % 4,      (shift + 1) % 4,      (shift + 2) % 4,      (shift + 3) % 4,      //
        4 + shift % 4,  4 + (shift + 1) % 4,  4 + (shift + 2) % 4,  4 + (shift + 3) % 4,  //
        8 + shift % 4,  8 + (shift + 1) % 4,  8 + (shift + 2) % 4,  8 + (shift + 3) % 4,  //
        12 + shift % 4, 12 + (shift + 1) % 4, 12 + (shift + 2) % 4, 12 + (shift + 3) % 4};
    const hn::Repartition<std::uint8_t, word_tag> bytes;
    return hn::BitCast(words_d, hn::TableLookupBytes(hn::BitCast(bytes, v), hn::LoadDup128(bytes, order)));
  }
#endif
  return hn::RotateRight<Bits>(v);
}

/// Mixes two message words into each of four columns or diagonals of the state, one after the other. 16 registers
/// cannot hold the state and a temporary of each column. On Zen 3, GCC spills a third less this way than if all four
/// columns take each step together, and AVX2 is 11 % faster; the processor overlaps the columns.
template <std::size_t Round, std::size_t FirstWord, std::size_t Shift>
HWY_INLINE void mix(word_vector (&v)[16], const word_vector (&message)[16]) {
  constexpr blake3::message_order order = blake3::message_orders[Round];
  for (std::size_t i = 0; i < 4; ++i) {
    word_vector& a = v[i];
    word_vector& b = v[4 + (i + Shift) % 4];
    word_vector& c = v[8 + (i + 2 * Shift) % 4];
    word_vector& d = v[12 + (i + 3 * Shift) % 4];
    a = hn::Add(hn::Add(a, message[order[FirstWord + 2 * i]]), b);
    d = rotated_right<16>(hn::Xor(d, a));
    c = hn::Add(c, d);
    b = rotated_right<12>(hn::Xor(b, c));
    a = hn::Add(hn::Add(a, message[order[FirstWord + 2 * i + 1]]), b);
    d = rotated_right<8>(hn::Xor(d, a));
    c = hn::Add(c, d);
    b = rotated_right<7>(hn::Xor(b, c));
  }
}

template <std::size_t Round = 0>
HWY_INLINE void mix_rounds(word_vector (&v)[16], const word_vector (&message)[16]) {
  mix<Round, 0, 0>(v, message);
  mix<Round, 8, 1>(v, message);
  if constexpr (Round + 1 < blake3::round_count) mix_rounds<Round + 1>(v, message);
}

/// One block of each vector lane, with the other inputs of the compression.
struct lane_blocks {
  std::array<const std::uint8_t*, word_lanes> bytes;
  alignas(4 * word_lanes) word_array lengths;
  alignas(4 * word_lanes) word_array flags;
  alignas(4 * word_lanes) word_array is_past;  ///< all ones in vector lanes that have no block left
  alignas(64) std::uint8_t padded[word_lanes][block_bytes];
};

/// Fills in block `i` when it is the last one of some vector lanes.
void set_last_blocks(const blake3_node* const* lanes, std::size_t i, std::uint32_t flags, lane_blocks& blocks) {
  for (std::size_t l = 0; l < word_lanes; ++l) {
    const blake3_node& node = *lanes[l];
    const std::size_t count = node.block_count();
    const bool is_past = i >= count;
    const bool is_last = i + 1 == count;
    const auto length = static_cast<std::uint32_t>(is_past ? 0 : std::min(node.length - i * block_bytes, block_bytes));
    blocks.lengths[l] = length;
    blocks.flags[l] = flags | (i == 0 ? node.first_flags : 0) | (is_last ? node.last_flags : 0);
    blocks.is_past[l] = is_past ? ~std::uint32_t{0} : 0;
    blocks.bytes[l] = blocks.padded[l];
    if (length == block_bytes) {
      blocks.bytes[l] = node.bytes + i * block_bytes;
    } else {
      std::memset(blocks.padded[l], 0, block_bytes);
      if (length != 0) std::memcpy(blocks.padded[l], node.bytes + i * block_bytes, length);
    }
  }
}

void compress_lanes(const blake3_node* const* lanes, const blake3::start& start_state) {
  lane_blocks blocks;
  alignas(4 * word_lanes) word_array numbers_low;
  alignas(4 * word_lanes) word_array numbers_high;
  std::array<std::uint8_t*, word_lanes> outputs;
  std::array<const std::uint8_t*, word_lanes> bytes;
  std::size_t fewest = lanes[0]->block_count();
  std::size_t most = fewest;
  for (std::size_t l = 0; l < word_lanes; ++l) {
    const blake3_node& node = *lanes[l];
    fewest = std::min(fewest, node.block_count());
    most = std::max(most, node.block_count());
    numbers_low[l] = static_cast<std::uint32_t>(node.number);
    numbers_high[l] = static_cast<std::uint32_t>(node.number >> 32);
    blocks.flags[l] = start_state.flags | node.first_flags;
    outputs[l] = node.output;
    bytes[l] = node.bytes;
  }

  word_vector chaining[8];
  for (std::size_t i = 0; i < 8; ++i) chaining[i] = hn::Set(words_d, start_state.key[i]);
  word_vector flags = hn::Load(words_d, blocks.flags.data());
  for (std::size_t i = 0; i < most; ++i) {
    const std::uint8_t* const* strings = bytes.data();
    std::size_t offset = i * block_bytes;
    word_vector lengths = hn::Set(words_d, std::uint32_t{block_bytes});
    const bool has_last = i + 1 >= fewest;
    if (has_last) {
      set_last_blocks(lanes, i, start_state.flags, blocks);
      strings = blocks.bytes.data();
      offset = 0;
      lengths = hn::Load(words_d, blocks.lengths.data());
      flags = hn::Load(words_d, blocks.flags.data());
    }
    word_vector message[16];
    load_words(strings, offset, message);
    word_vector v[16];
    for (std::size_t w = 0; w < 8; ++w) v[w] = chaining[w];
    for (std::size_t w = 0; w < 4; ++w) v[8 + w] = hn::Set(words_d, blake3::initial_words[w]);
    v[12] = hn::Load(words_d, numbers_low.data());
    v[13] = hn::Load(words_d, numbers_high.data());
    v[14] = lengths;
    v[15] = flags;
    mix_rounds(v, message);
    if (has_last) {
      const auto is_past = hn::MaskFromVec(hn::Load(words_d, blocks.is_past.data()));
      for (std::size_t w = 0; w < 8; ++w) {
        chaining[w] = hn::IfThenElse(is_past, chaining[w], hn::Xor(v[w], v[8 + w]));
      }
    } else {
      for (std::size_t w = 0; w < 8; ++w) chaining[w] = hn::Xor(v[w], v[8 + w]);
    }
    flags = hn::Set(words_d, start_state.flags);
  }
  store_words(chaining, outputs.data());
}

void compress(const blake3_node* nodes, std::size_t count, const blake3::start& start_state) {
  std::array<const blake3_node*, word_lanes> lanes;
  for (std::size_t first = 0; first < count; first += word_lanes) {
    // The remaining vector lanes repeat the last node.
    for (std::size_t l = 0; l < word_lanes; ++l) lanes[l] = nodes + std::min(first + l, count - 1);
    compress_lanes(lanes.data(), start_state);
  }
}

}  // namespace

const blake3_kernel& blake3_kernel_here() {
  static constexpr blake3_kernel made = {word_lanes, &compress};
  return made;
}

}  // namespace cutpoint::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#if HWY_ONCE
namespace cutpoint::simd {

const blake3_kernel* blake3_kernel_of(instruction_set set) {
  constexpr kernel_table<const blake3_kernel& (*)()> kernels = CUTPOINT_KERNELS(blake3_kernel_here);
  const auto kernel = kernels[static_cast<std::size_t>(set)];
  return kernel != nullptr ? &kernel() : nullptr;
}

}  // namespace cutpoint::simd
#endif
