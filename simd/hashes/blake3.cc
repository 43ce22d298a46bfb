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

/// Whether the state of a set of nodes fills the registers, so that the kernel says which word is in memory, and when.
#define CUTPOINT_FEW_REGISTERS (HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_SSE4)

/// Keeps the order of the instructions. GCC 12 would spill more in its own.
HWY_INLINE word_vector in_order(word_vector x) {
#if CUTPOINT_FEW_REGISTERS
  asm volatile("" : "+x"(x.raw));
#endif
  return x;
}

/// Moves `x` to memory, from which it is read at its next use.
HWY_INLINE word_vector spilled(word_vector x) {
#if CUTPOINT_FEW_REGISTERS
  asm volatile("" : "+m"(x.raw));
#endif
  return x;
}

/// `Count` words of each of `Sets` sets of nodes, whose vector lanes are compressed side by side.
template <std::size_t Sets, std::size_t Count>
using word_sets = word_vector[Sets][Count];

/// A row of the state, which is a matrix of 4 by 4 words, or what is added to one.
struct state_row {
  word_vector words[4];
};

/// Returns the row that begins with word `First`, rotated by `Shift` words.
template <std::size_t First, std::size_t Shift>
HWY_INLINE state_row row_of(const word_vector (&v)[16]) {
  return {{v[First + Shift % 4], v[First + (Shift + 1) % 4], v[First + (Shift + 2) % 4], v[First + (Shift + 3) % 4]}};
}

template <std::size_t First, std::size_t Shift>
HWY_INLINE void set_row(const state_row& x, word_vector (&v)[16]) {
  v[First + Shift % 4] = x.words[0];
  v[First + (Shift + 1) % 4] = x.words[1];
  v[First + (Shift + 2) % 4] = x.words[2];
  v[First + (Shift + 3) % 4] = x.words[3];
}

/// Returns every second message word from `First` on, in the order of a round.
template <std::size_t Round, std::size_t First>
HWY_INLINE state_row message_row(const word_vector (&message)[16]) {
  constexpr const auto& order = blake3::message_orders[Round];
  return {{message[order[First]], message[order[First + 2]], message[order[First + 4]], message[order[First + 6]]}};
}

HWY_INLINE state_row add(const state_row& x, const state_row& y) {
  return {{in_order(hn::Add(x.words[0], y.words[0])), in_order(hn::Add(x.words[1], y.words[1])),
           in_order(hn::Add(x.words[2], y.words[2])), in_order(hn::Add(x.words[3], y.words[3]))}};
}

HWY_INLINE state_row exclusive_or(const state_row& x, const state_row& y) {
  return {{in_order(hn::Xor(x.words[0], y.words[0])), in_order(hn::Xor(x.words[1], y.words[1])),
           in_order(hn::Xor(x.words[2], y.words[2])), in_order(hn::Xor(x.words[3], y.words[3]))}};
}

template <int Bits>
HWY_INLINE state_row rotate_right(const state_row& x) {
  return {{in_order(hn::RotateRight<Bits>(x.words[0])), in_order(hn::RotateRight<Bits>(x.words[1])),
           in_order(hn::RotateRight<Bits>(x.words[2])), in_order(hn::RotateRight<Bits>(x.words[3]))}};
}

/// Returns the bytes of each 128-bit block of `x` in an order.
HWY_INLINE word_vector shuffled(word_vector x, word_vector order) {
  const hn::Repartition<std::uint8_t, word_tag> bytes;
  return in_order(hn::BitCast(words_d, hn::TableLookupBytes(hn::BitCast(bytes, x), hn::BitCast(bytes, order))));
}

/// Rotates by whole bytes: with one shuffle on targets without an instruction that rotates.
template <int Bytes>
HWY_INLINE state_row rotate_right_bytes(const state_row& x) {
#if HWY_TARGET > HWY_AVX3
  alignas(16) static constexpr std::uint8_t order[16] = {
      Bytes % 4,      (Bytes + 1) % 4,      (Bytes + 2) % 4,      (Bytes + 3) % 4,      //
      4 + Bytes % 4,  4 + (Bytes + 1) % 4,  4 + (Bytes + 2) % 4,  4 + (Bytes + 3) % 4,  //
      8 + Bytes % 4,  8 + (Bytes + 1) % 4,  8 + (Bytes + 2) % 4,  8 + (Bytes + 3) % 4,  //
      12 + Bytes % 4, 12 + (Bytes + 1) % 4, 12 + (Bytes + 2) % 4, 12 + (Bytes + 3) % 4};
  const hn::Repartition<std::uint8_t, word_tag> bytes;
  // Loaded for each use, it holds no register in between.
  const word_vector o = in_order(hn::BitCast(words_d, hn::LoadDup128(bytes, order)));
  return {{shuffled(x.words[0], o), shuffled(x.words[1], o), shuffled(x.words[2], o), shuffled(x.words[3], o)}};
#else
  return rotate_right<8 * Bytes>(x);
#endif
}

/// Mixes two message words into each column (`Shift` 0) or diagonal (1) of the state.
///
/// The four columns take each step together, which hides latency. With 16 registers one word of the state makes room for the temporaries of
/// rotations: on Zen 4 with AVX2 that reaches 4.05 GiB/s, and two columns together, spilled as GCC 12 chooses, 3.8.
template <std::size_t Round, std::size_t Shift>
HWY_INLINE void mix(word_vector (&v)[16], const word_vector (&message)[16]) {
  state_row a = row_of<0, 0>(v);
  state_row b = row_of<4, Shift>(v);
  state_row c = row_of<8, 2 * Shift>(v);
  state_row d = row_of<12, 3 * Shift>(v);

  a = add(add(a, message_row<Round, 8 * Shift>(message)), b);
  d = rotate_right_bytes<2>(exclusive_or(d, a));
  c = add(c, d);
  b = exclusive_or(b, c);
  c.words[0] = spilled(c.words[0]);
  b = rotate_right<12>(b);

  a = add(add(a, message_row<Round, 8 * Shift + 1>(message)), b);
  d = rotate_right_bytes<1>(exclusive_or(d, a));
  c = add(c, d);
  b = exclusive_or(b, c);
  c.words[0] = spilled(c.words[0]);
  b = rotate_right<7>(b);

  set_row<0, 0>(a, v);
  set_row<4, Shift>(b, v);
  set_row<8, 2 * Shift>(c, v);
  set_row<12, 3 * Shift>(d, v);
}

template <std::size_t Round = 0, std::size_t Sets>
HWY_INLINE void mix_rounds(word_sets<Sets, 16>& v, const word_sets<Sets, 16>& message) {
  for (std::size_t set = 0; set < Sets; ++set) mix<Round, 0>(v[set], message[set]);
  for (std::size_t set = 0; set < Sets; ++set) mix<Round, 1>(v[set], message[set]);
  if constexpr (Round + 1 < blake3::round_count) mix_rounds<Round + 1>(v, message);
}

/// One block of each vector lane, with the other inputs of the compression.
template <std::size_t Lanes>
struct lane_blocks {
  using word_array = std::array<std::uint32_t, Lanes>;
  std::array<const std::uint8_t*, Lanes> bytes;
  alignas(64) word_array numbers_low;
  alignas(64) word_array numbers_high;
  alignas(64) word_array lengths;
  alignas(64) word_array flags;
  alignas(64) word_array is_past;  ///< all ones in vector lanes that have no block left
  alignas(64) std::uint8_t padded[Lanes][block_bytes];
};

/// Fills in block `i` when it is the last one of some vector lanes.
template <std::size_t Lanes>
void set_last_blocks(const blake3_node* const* lanes, std::size_t i, std::uint32_t flags, lane_blocks<Lanes>& blocks) {
  for (std::size_t l = 0; l < Lanes; ++l) {
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

/// Whether the block after the next is prefetched in each vector lane, as soon as this block is loaded. The leaves are more streams than the
/// hardware follows: on Zen 4 chunks from memory are hashed 1.2 times as fast by it with AVX-512, and 1.1 times with AVX2.
constexpr bool prefetches_blocks = HWY_TARGET == HWY_AVX3 || CUTPOINT_FEW_REGISTERS;

/// Compresses one node in each vector lane. More than one set has only nodes of the same number of whole blocks.
template <std::size_t Sets>
void compress_lanes(const blake3_node* const* lanes, const blake3::start& start_state) {
  constexpr bool are_whole = Sets > 1;
  constexpr std::size_t lane_count = Sets * word_lanes;
  lane_blocks<lane_count> blocks;
  std::array<std::uint8_t*, lane_count> outputs;
  std::array<const std::uint8_t*, lane_count> bytes;
  std::size_t fewest = lanes[0]->block_count();
  std::size_t most = fewest;
  for (std::size_t l = 0; l < lane_count; ++l) {
    const blake3_node& node = *lanes[l];
    fewest = std::min(fewest, node.block_count());
    most = std::max(most, node.block_count());
    blocks.numbers_low[l] = static_cast<std::uint32_t>(node.number);
    blocks.numbers_high[l] = static_cast<std::uint32_t>(node.number >> 32);
    blocks.flags[l] = start_state.flags | node.first_flags;
    outputs[l] = node.output;
    bytes[l] = node.bytes;
  }
  blocks.lengths.fill(block_bytes);

  word_sets<Sets, 8> chaining;
  for (auto& of_set : chaining) {
    for (std::size_t w = 0; w < 8; ++w) of_set[w] = hn::Set(words_d, start_state.key[w]);
  }
  for (std::size_t i = 0; i < most; ++i) {
    const std::uint8_t* const* strings = bytes.data();
    const std::size_t offset_of_node = i * block_bytes;
    std::size_t offset = offset_of_node;
    const bool has_last = i + 1 >= fewest;
    if (has_last && are_whole) {
      for (std::size_t l = 0; l < lane_count; ++l) blocks.flags[l] |= lanes[l]->last_flags;
    } else if (has_last) {
      set_last_blocks(lanes, i, start_state.flags, blocks);
      strings = blocks.bytes.data();
      offset = 0;
    }
    word_sets<Sets, 16> message;
    for (std::size_t set = 0; set < Sets; ++set) load_words(strings + set * word_lanes, offset, message[set]);
    if constexpr (prefetches_blocks) {
      for (const std::uint8_t* each : bytes) __builtin_prefetch(each + offset_of_node + 2 * block_bytes);
    }
    word_sets<Sets, 16> v;
    for (std::size_t set = 0; set < Sets; ++set) {
      const std::size_t first = set * word_lanes;
      for (std::size_t w = 0; w < 8; ++w) v[set][w] = chaining[set][w];
      for (std::size_t w = 0; w < 4; ++w) v[set][8 + w] = hn::Set(words_d, blake3::initial_words[w]);
      v[set][12] = hn::Load(words_d, &blocks.numbers_low[first]);
      v[set][13] = hn::Load(words_d, &blocks.numbers_high[first]);
      v[set][14] = hn::Load(words_d, &blocks.lengths[first]);
      v[set][15] = hn::Load(words_d, &blocks.flags[first]);
    }
    mix_rounds(v, message);
    for (std::size_t set = 0; set < Sets; ++set) {
      for (std::size_t w = 0; w < 8; ++w) {
        word_vector next = hn::Xor(v[set][w], v[set][8 + w]);
        if (has_last && !are_whole) {
          const auto is_past = hn::MaskFromVec(hn::Load(words_d, &blocks.is_past[set * word_lanes]));
          next = hn::IfThenElse(is_past, chaining[set][w], next);
        }
        chaining[set][w] = next;
      }
    }
    blocks.flags.fill(start_state.flags);
  }
  for (std::size_t set = 0; set < Sets; ++set) store_words(chaining[set], &outputs[set * word_lanes]);
}

/// The number of sets, which hide the latency of each other's instructions. AVX-512 has registers for the states of two.
constexpr std::size_t most_sets = HWY_TARGET == HWY_AVX3 ? 2 : 1;
constexpr std::size_t nodes_at_once = most_sets * word_lanes;

void compress(const blake3_node* nodes, std::size_t count, const blake3::start& start_state) {
  std::array<const blake3_node*, nodes_at_once> lanes;
  for (std::size_t first = 0; first < count;) {
    // The remaining vector lanes repeat the last node.
    for (std::size_t l = 0; l < nodes_at_once; ++l) lanes[l] = nodes + std::min(first + l, count - 1);
    const std::size_t length = lanes[0]->block_count() * block_bytes;
    const auto is_whole = [length](const blake3_node* node) { return node->length == length; };
    if (count - first > word_lanes && std::all_of(lanes.begin(), lanes.end(), is_whole)) {
      compress_lanes<most_sets>(lanes.data(), start_state);
      first += nodes_at_once;
    } else {
      compress_lanes<1>(lanes.data(), start_state);
      first += word_lanes;
    }
  }
}

}  // namespace

const blake3_kernel& blake3_kernel_here() {
  static constexpr blake3_kernel kernel = {nodes_at_once, &compress};
  return kernel;
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
