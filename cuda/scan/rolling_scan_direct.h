// The scan of a rolling hash with any window: each thread reads the buffer itself, and its run is long compared with the
// window of warm-up before it.
#pragma once

#include "cuda/scan/rolling_hash.h"

namespace cutpoint::cuda {

namespace rolling_detail {

/// Bytes [skipped, skipped + 16) of two vectors, `skipped` < 16.
[[nodiscard]] CUTPOINT_DEVICE bytes16 joined(const bytes16& low, const bytes16& high, std::uint32_t skipped) {
  std::uint32_t words[8] = {low.words[0],  low.words[1],  low.words[2],  low.words[3],
                            high.words[0], high.words[1], high.words[2], high.words[3]};
  if ((skipped & 8) != 0) {
    CUTPOINT_UNROLL
    for (std::uint32_t i = 0; i < 6; ++i) words[i] = words[i + 2];
  }
  if ((skipped & 4) != 0) {
    CUTPOINT_UNROLL
    for (std::uint32_t i = 0; i < 5; ++i) words[i] = words[i + 1];
  }
  bytes16 all;
  CUTPOINT_UNROLL
  for (std::uint32_t i = 0; i < 4; ++i) {
    const std::uint64_t pair = (std::uint64_t{words[i + 1]} << 32) | words[i];
    all.words[i] = static_cast<std::uint32_t>(pair >> (8 * (skipped & 3)));
  }
  return all;
}

}  // namespace rolling_detail

/// Bytes that a thread of `scan_direct` scans after a window of warm-up, a multiple of 64. The warm-up is at most a fifth of
/// all work.
[[nodiscard]] CUTPOINT_HOST_DEVICE constexpr std::uint64_t long_run_bytes(std::uint32_t window) {
  return greatest<std::uint64_t>(512, (4 * std::uint64_t{window} + 63) / 64 * 64);
}

/// Writes every word of every level. Each thread takes one run at a time. `entries` are the hash's tables.
template <class Block, class Rule, class Entries>
CUTPOINT_KERNEL_BODY void scan_direct(Block& block, const packed_bytes& in, const Rule& rule, const Entries& entries) {
  using namespace rolling_detail;
  using Hash = typename Rule::hash_type;
  const std::uint64_t run_bytes = long_run_bytes(rule.hash.window);
  const std::uint64_t stride = run_bytes * block.count() * block.thread_count();
  const std::uint32_t warm_up_vectors = (rule.hash.window + vector_bytes - 1) / vector_bytes;
  const std::uint32_t skipped =
      warm_up_vectors * vector_bytes - rule.hash.window;  // leading bytes of these vectors outside the window
  block.for_each_thread([&](auto thread) {
    const auto look_up = look_up_of<Hash>(entries, thread);
    const std::uint64_t first = run_bytes * (std::uint64_t{block.index()} * block.thread_count() + thread.index());
    for (std::uint64_t begin = first; begin < in.byte_count; begin += stride) {
      auto h = rule.hash.zeros;
      const std::uint64_t before = begin - std::uint64_t{warm_up_vectors} * vector_bytes;
      for (std::uint32_t vector = 0; vector < warm_up_vectors; ++vector) {
        const bytes16 sixteen = load_anywhere(in, before + std::uint64_t{vector} * vector_bytes);
        CUTPOINT_UNROLL
        for (std::uint32_t i = 0; i < vector_bytes; ++i) {
          h = rule.hash.template roll<0>(look_up, h, byte_of{},
                                         vector == 0 && i < skipped ? byte_of{} : byte_at(sixteen, i));
        }
      }
      bytes16 low = load_anywhere(in, before);
      const std::uint64_t end = least(begin + run_bytes, in.byte_count);
      for (std::uint64_t step_position = begin; step_position < end; step_position += step_bytes) {
        found_bits<Rule::levels> bits;
        CUTPOINT_UNROLL
        for (std::uint32_t vector = 0; vector < vectors; ++vector) {
          const std::uint64_t position = step_position + vector * vector_bytes;
          const bytes16 entering = load_anywhere(in, position);
          const bytes16 high = load_anywhere(in, position - std::uint64_t{warm_up_vectors - 1} * vector_bytes);
          const bytes16 leaving = joined(low, high, skipped);
          low = high;
          decltype(Hash::word(h)) words[vector_bytes];
          CUTPOINT_UNROLL
          for (std::uint32_t i = 0; i < vector_bytes; ++i) {
            h = rule.hash.template roll<0>(look_up, h, byte_at(leaving, i), byte_at(entering, i));
            words[i] = Hash::word(h);
          }
          bits.test(rule.tests, words, vector * vector_bytes);
        }
        bits.store(in, step_position);
      }
    }
  });
}

}  // namespace cutpoint::cuda
