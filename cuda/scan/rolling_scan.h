// The scan that marks the candidates of rolling hashes in a packed buffer, and the specification of a rolling hash.
//
// Position p is a candidate of a level if that level's test accepts the hash of the window that ends with byte p.
// Bytes before the buffer count as zeros, and bits past its end are zero.
#pragma once

#include <vector>

#include "cuda/cut/specification.h"
#include "cuda/kernel/block.h"
#include "cuda/scan/rolling_hash.h"

namespace cutpoint::cuda {

// The scan of a rolling hash with any window: each thread reads the buffer itself, and its run is long compared with the
// window of warm-up before it.

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

/// The kernel of the scan. It writes every word of every level.
template <class Hash, class Test, std::uint32_t Levels, rolling_tuning Tuning = rolling_tuning{}>
struct rolling_scan {
  static constexpr std::uint32_t threads_per_block = Tuning.threads_per_block;
  /// As many as shared memory has room for. Without the bound ptxas uses more registers (`gear`: 70, so that three fit too; its
  /// loop has a tenth more instructions with that bound).
  static constexpr std::uint32_t resident_blocks = Hash::tables > 1 || (Hash::forgets && Levels == 1) ? 2 : 3;
  packed_bytes in;
  const std::uint64_t* table = nullptr;  ///< Hash::tables × 256 entries
  rolling_rule<Hash, Test, Levels> rule = {};

  [[nodiscard]] std::size_t shared_bytes(std::uint32_t threads) const {
    using namespace rolling_detail;
    return shared_size<typename Hash::entry>(table_size<Hash>) + (is_staged() ? staged_bytes(Tuning, threads) : 0);
  }
  [[nodiscard]] std::uint64_t blocks(std::uint32_t threads) const {
    const std::uint64_t tile = threads * (is_staged() ? Tuning.run_bytes : long_run_bytes(rule.hash.window));
    return (in.byte_count + tile - 1) / tile;
  }

  /// The same scan for a device whose blocks have too little shared memory for this one.
  [[nodiscard]] auto for_small_blocks() const requires(Hash::tables > 1 && Tuning == rolling_tuning{}) {
    return rolling_scan<Hash, Test, Levels, small_block_tuning>{in, table, rule};
  }

  template <class Block>
  CUTPOINT_KERNEL_BODY void operator()(Block& block) const {
    const auto entries = rolling_detail::shared_tables<Hash>(block, table);
    const packed_bytes used = in.without_unused();
    if constexpr (Hash::forgets) {  // NOLINT(bugprone-branch-clone)
      scan_staged<64, Tuning>(block, used, rule, entries);
    } else if (rule.hash.window == 32) {
      scan_staged<32, Tuning>(block, used, rule, entries);
    } else if (rule.hash.window == 48) {
      scan_staged<48, Tuning>(block, used, rule, entries);
    } else if (rule.hash.window == 64) {
      scan_staged<64, Tuning>(block, used, rule, entries);
    } else {
      scan_direct(block, used, rule, entries);
    }
  }

 private:
  [[nodiscard]] bool is_staged() const {
    const std::uint32_t window = rule.hash.window;
    return Hash::forgets || window == 32 || window == 48 || window == 64;
  }
};

/// The specification of a rolling hash with a `CutFinder` of plain values.
template <class Hash, class Test, std::uint32_t Levels, class CutFinder>
struct rolling_specification {
  static constexpr std::uint32_t levels = Levels;
  std::vector<std::uint64_t> table;
  chunk_estimates sizes = {};
  rolling_rule<Hash, Test, Levels> rule = {};
  CutFinder chunks = {};

  [[nodiscard]] rolling_scan<Hash, Test, Levels> scan(const packed_bytes& in, const std::uint64_t* table_there) const {
    return {in, table_there, rule};
  }
  [[nodiscard]] CutFinder cut_finder(const std::uint64_t*) const { return chunks; }
};

}  // namespace cutpoint::cuda
