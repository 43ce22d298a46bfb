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

/// `Count` words of each of `Sets` sets of nodes, whose vector lanes are compressed side by side.
template <std::size_t Sets, std::size_t Count>
using word_sets = word_vector[Sets][Count];

/// The words of a column or a diagonal of the state, and the message words that are mixed in.
struct column {
  word_vector* a;
  word_vector* b;
  word_vector* c;
  word_vector* d;
  const word_vector* message[2];
};

/// The columns that take each step together, which hides latency. Without AVX-512, 16 registers cannot hold the state and
/// many temporaries: on Zen 3 with AVX2, one, two and four columns reach 3.5, 3.55 and 3.3 GiB/s.
constexpr std::size_t columns_together = HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_SSE4 ? 2 : 1;

/// Keeps the order of the instructions. GCC 12 would spill more in its own: 3.2 GiB/s.
HWY_INLINE word_vector in_order(word_vector x) {
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_SSE4
  asm volatile("" : "+x"(x.raw));
#endif
  return x;
}

/// Half of the mixing of columns that do not depend on each other.
template <std::size_t Half, int RotationOfD, int RotationOfB, std::size_t Count>
HWY_INLINE void mix_half(const column (&columns)[Count]) {
  for (const column& q : columns) *q.a = in_order(hn::Add(*q.a, *q.message[Half]));
  for (const column& q : columns) *q.a = in_order(hn::Add(*q.a, *q.b));
  for (const column& q : columns) *q.d = in_order(hn::Xor(*q.d, *q.a));
  for (const column& q : columns) *q.d = in_order(rotated_right<RotationOfD>(*q.d));
  for (const column& q : columns) *q.c = in_order(hn::Add(*q.c, *q.d));
  for (const column& q : columns) *q.b = in_order(hn::Xor(*q.b, *q.c));
  for (const column& q : columns) *q.b = in_order(rotated_right<RotationOfB>(*q.b));
}

/// Mixes two message words into each of four columns (`Shift` 0) or diagonals (1) of the state.
template <std::size_t Round, std::size_t FirstWord, std::size_t Shift, std::size_t Sets>
HWY_INLINE void mix(word_sets<Sets, 16>& v, const word_sets<Sets, 16>& message) {
  constexpr const auto& order = blake3::message_orders[Round];
  for (std::size_t first = 0; first < 4; first += columns_together) {
    for (std::size_t set = 0; set < Sets; ++set) {
      column columns[columns_together];
      for (std::size_t k = 0; k < columns_together; ++k) {
        const std::size_t i = first + k;
        const std::size_t word = FirstWord + 2 * i;
        columns[k] = {.a = &v[set][i],
                      .b = &v[set][4 + (i + Shift) % 4],
                      .c = &v[set][8 + (i + 2 * Shift) % 4],
                      .d = &v[set][12 + (i + 3 * Shift) % 4],
                      .message = {&message[set][order[word]], &message[set][order[word + 1]]}};
      }
      mix_half<0, 16, 12>(columns);
      mix_half<1, 8, 7>(columns);
    }
  }
}

template <std::size_t Round = 0, std::size_t Sets>
HWY_INLINE void mix_rounds(word_sets<Sets, 16>& v, const word_sets<Sets, 16>& message) {
  mix<Round, 0, 0>(v, message);
  mix<Round, 8, 1>(v, message);
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

/// Whether the block after the next is prefetched in each vector lane. Two sets of AVX-512 read 32 leaves at once, more than the hardware
/// follows: chunks from memory are hashed 1.2 times as fast by it on Zen 4, and those in L2 0.99 times. On Zen 3 with AVX2
/// it was slower.
constexpr bool prefetches_blocks = HWY_TARGET == HWY_AVX3;

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
    if constexpr (prefetches_blocks) {
      for (const std::uint8_t* each : bytes) __builtin_prefetch(each + offset_of_node + 2 * block_bytes);
    }
    word_sets<Sets, 16> message;
    for (std::size_t set = 0; set < Sets; ++set) load_words(strings + set * word_lanes, offset, message[set]);
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
