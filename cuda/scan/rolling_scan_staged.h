// The scan of a rolling hash with a window of 32, 48 or 64 bytes.
//
// Each thread scans a run of the buffer in steps of 64 bytes. The step before its run is its warm-up, so threads need no
// values of other threads. Shared memory holds the steps of all threads:
//
//     buffer   |.......................... tile = threads × run_bytes ..........................|
//              |..... run of thread 0 .....|..... run of thread 1 .....|     (the next tile of the block)
//     steps 0,1,…,n:  [w][1][2]..[n]              [w][1][2]..[n]            w: the last 64 bytes of the run before
//     staged   slot s: [64 of thread 0|16 of padding][64 of thread 1|16]…    rows of 80 bytes: no bank conflicts
//
// Bytes that leave the window are in the step, or in the step before, which a thread keeps in registers.
#pragma once

#include "cuda/kernel/tuning.h"
#include "cuda/scan/rolling_hash.h"

namespace cutpoint::cuda {

namespace rolling_detail {

inline constexpr std::uint32_t row_vectors = vectors + 1;  // with padding, odd: 8 rows touch all banks

/// The position of a block in its work, the same in every thread.
struct cursor {
  std::uint64_t tile;
  std::uint32_t step = 0;
  std::uint32_t slot = 0;

  template <rolling_tuning Tuning, class Block>
  CUTPOINT_DEVICE void advance(const Block& block) {
    slot = (slot + 1) % Tuning.stages;
    if (++step <= Tuning.run_bytes / step_bytes) return;
    step = 0;
    tile += block.count();
  }
};

/// A hash between two steps, and the last bytes of the step before, which have not left its window yet.
template <class Hash, std::uint32_t Window>
struct passing {
  typename Hash::state hash;
  bytes16 leaving[Window / vector_bytes];
};

/// Returns the address of the bytes [first, first + size) if they lie one after the other in memory, else null. A position
/// before the buffer wraps to a huge one.
[[nodiscard]] CUTPOINT_DEVICE const std::uint8_t* contiguous(const packed_bytes& in, std::uint64_t first,
                                                             std::uint64_t size) {
  if (first >= in.byte_count) return nullptr;
  const neighbouring_bytes near = bytes_around(in, first);
  return first < near.last && near.last - first >= size ? near.bytes + first : nullptr;
}

/// Bytes of shared memory of `scan_staged` without the tables.
[[nodiscard]] constexpr std::size_t staged_bytes(const rolling_tuning& tuning, std::uint32_t threads) {
  return shared_size<bytes16>(std::size_t{tuning.stages} * threads * row_vectors);
}

}  // namespace rolling_detail

/// Writes every word of every level. A block takes every count()-th tile. `entries` are the hash's tables.
template <std::uint32_t Window, rolling_tuning Tuning, class Block, class Rule, class Entries>
CUTPOINT_KERNEL_BODY void scan_staged(Block& block, const packed_bytes& in, const Rule& rule, const Entries& entries) {
  using namespace rolling_detail;
  using Hash = typename Rule::hash_type;
  static_assert(Tuning.run_bytes > 0 && Tuning.run_bytes % step_bytes == 0 && Tuning.stages >= 2);
  constexpr std::uint32_t window_vectors = Window / vector_bytes;
  const passing<Hash, Window> beginning{.hash = rule.hash.zeros, .leaving = {}};
  const std::uint32_t threads = block.thread_count();
  const std::uint64_t tile_bytes = std::uint64_t{threads} * Tuning.run_bytes;
  const std::uint64_t tile_count = (in.byte_count + tile_bytes - 1) / tile_bytes;
  const auto staged = block.template shared<bytes16>(Tuning.stages * threads * row_vectors);
  auto lane = block.template per_thread<passing<Hash, Window>>(beginning);
  auto pipeline = block.template pipeline<bytes16>();

  // The begin of a thread's step. A position before the buffer wraps to a huge one.
  const auto step_begin = [&](const cursor& place, std::uint32_t thread_index) {
    return place.tile * tile_bytes + std::uint64_t{thread_index} * Tuning.run_bytes +
           std::uint64_t{place.step} * step_bytes - step_bytes;
  };
  // Four neighbouring threads fetch the 64 bytes of one thread's step.
  const auto fetch = [&](auto thread, const cursor& place) {
    const std::uint32_t rows = threads / vectors;  // at a time
    const std::uint32_t row = thread.index() / vectors;
    const std::uint32_t vector = thread.index() % vectors;
    const std::uint32_t index = (place.slot * threads + row) * row_vectors + vector;
    const std::uint64_t position = step_begin(place, row) + vector * vector_bytes;
    const std::uint64_t lowest = step_begin(place, 0);
    if (const std::uint8_t* const tile = contiguous(in, lowest, tile_bytes)) {
      CUTPOINT_UNROLL
      for (std::uint32_t pass = 0; pass < vectors; ++pass) {
        pipeline.copy(thread, staged, index + pass * rows * row_vectors,
                      tile + (position - lowest) + std::size_t{pass * rows} * Tuning.run_bytes);
      }
    } else {
      CUTPOINT_UNROLL
      for (std::uint32_t pass = 0; pass < vectors; ++pass) {
        const std::uint64_t here = position + std::uint64_t{pass * rows} * Tuning.run_bytes;
        if (const std::uint8_t* const there = vector_at(in, here)) {
          pipeline.copy(thread, staged, index + pass * rows * row_vectors, there);
        } else {
          staged[index + pass * rows * row_vectors] = bytes16{};
        }
      }
    }
    pipeline.commit(thread);
  };
  const auto scan = [&](auto thread, const cursor& place) {
    const auto look_up = look_up_of<Hash>(entries, thread);
    passing<Hash, Window> passed = place.step == 0 ? beginning : lane[thread];
    found_bits<Rule::levels> bits;
    bytes16 step[vectors];
    CUTPOINT_UNROLL
    for (std::uint32_t vector = 0; vector < vectors; ++vector) {
      step[vector] = staged[(place.slot * threads + thread.index()) * row_vectors + vector];
      const bytes16 leaving =
          vector < window_vectors ? passed.leaving[vector % window_vectors] : step[vector - window_vectors];
      decltype(Hash::word(passed.hash)) words[vector_bytes];
      CUTPOINT_UNROLL
      for (std::uint32_t i = 0; i < vector_bytes; ++i) {
        passed.hash =
            rule.hash.template roll<Window>(look_up, passed.hash, byte_at(leaving, i), byte_at(step[vector], i));
        words[i] = Hash::word(passed.hash);
      }
      bits.test(rule.tests, words, vector * vector_bytes);
    }
    CUTPOINT_UNROLL
    for (std::uint32_t vector = 0; vector < window_vectors; ++vector) {
      passed.leaving[vector] = step[vectors - window_vectors + vector];
    }
    lane[thread] = passed;
    if (place.step != 0) bits.store(in, step_begin(place, thread.index()));
  };

  cursor next{block.index()};
  for (std::uint32_t ahead = 1; ahead < Tuning.stages; ++ahead, next.template advance<Tuning>(block)) {
    block.for_each_thread([&](auto thread) { fetch(thread, next); });
  }
  block.for_each_thread([&](auto thread) { pipeline.template wait<Tuning.stages - 2>(thread); });
  for (cursor place{block.index()}; place.tile < tile_count; place.template advance<Tuning>(block)) {
    block.for_each_thread([&](auto thread) {
      fetch(thread, next);
      scan(thread, place);
      pipeline.template wait<Tuning.stages - 2>(thread);
    });
    next.template advance<Tuning>(block);
  }
}

}  // namespace cutpoint::cuda
