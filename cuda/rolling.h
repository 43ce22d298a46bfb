// The scan of rolling hashes: which positions of a packed buffer are candidates.
//
// Position p is one, of a level, where that level's test accepts the hash of the window that ends with byte p. Each
// thread scans a run of the buffer in slices of 64 bytes; the slice before its run is its warm-up, so that no scan over
// threads is needed. All threads' slices lie in shared memory together:
//
//     buffer   |.......................... tile = threads × run_bytes ..........................|
//              |..... run of thread 0 .....|..... run of thread 1 .....|     (the next tile of the block)
//     slices 0,1,…,n:  [w][1][2]..[n]              [w][1][2]..[n]            w: the last 64 bytes of the run before
//     staged   slot s: [64 of thread 0|16 of padding][64 of thread 1|16]…    rows of 80 bytes: no bank conflicts
//
// So windows of 32, 48 and 64 bytes are scanned; others by threads that read the buffer themselves, in longer runs.
//
// A hash is a struct of plain values with
//
//   state, entry                  what it is between two bytes; an entry of its tables
//   tables                        of 256 entries each, one after the other in the scheme's table, a word for each entry
//   forgets                       true: the window is 64, and what leaves it makes no difference to `roll`
//   window, zeros                 bytes that decide it; the hash of a window of zeros
//   roll<Window>(look_up, h, outgoing, incoming)
//                                 look_up(k, byte) is an entry of table k. Window: `window`, or 0 if not known there
//   word(h)                       what tests see
#pragma once

#include <vector>

#include "cuda/packed.h"
#include "cuda/scheme.h"
#include "cuda/tuning.h"

namespace cutpoint::cuda {

/// Accepts where all bits of a mask are zero.
struct zeros_test {
  std::uint64_t mask = 0;
  [[nodiscard]] CUTPOINT_HOST_DEVICE bool operator()(std::uint64_t word) const { return (word & mask) == 0; }
};

/// Accepts where the bits of a mask are those of a pattern.
struct pattern_test {
  std::uint32_t mask = 0;
  std::uint32_t pattern = 0;
  [[nodiscard]] CUTPOINT_HOST_DEVICE bool operator()(std::uint32_t word) const { return (word & mask) == pattern; }
};

namespace rolling_detail {

inline constexpr std::uint32_t slice_bytes = 64;
inline constexpr std::uint32_t unit_bytes = sizeof(bytes16);      // of a load
inline constexpr std::uint32_t units = slice_bytes / unit_bytes;  // of a slice
inline constexpr std::uint32_t row_units = units + 1;             // with padding, odd: 8 rows touch all banks

/// Copies of a table, a power of two: as many entries as shared memory serves in a cycle, each from banks of its own
/// whatever the bytes are.
template <class Entry>
inline constexpr std::uint32_t table_copies = 128 / sizeof(Entry);

/// Where a block is in its work; the same in every thread.
struct cursor {
  std::uint64_t tile;
  std::uint32_t slice = 0;
  std::uint32_t slot = 0;

  template <rolling_tuning Tuning, class Block>
  CUTPOINT_DEVICE void advance(const Block& block) {
    slot = (slot + 1) % Tuning.stages;
    if (++slice <= Tuning.run_bytes / slice_bytes) return;
    slice = 0;
    tile += block.count();
  }
};

/// A hash on its way, and the last bytes of the slice before that are still to leave its window.
template <class Hash, std::uint32_t Window>
struct passing {
  typename Hash::state hash;
  bytes16 leaving[Window / unit_bytes];
};

/// What tests found in 64 positions.
template <std::uint32_t Levels>
struct found_bits {
  std::uint64_t level[Levels] = {};

  template <class Tests, class Word>
  CUTPOINT_DEVICE void test(const Tests& tests, Word word, std::uint32_t bit) {
    CUTPOINT_UNROLL
    for (std::uint32_t l = 0; l < Levels; ++l) {
      if (tests.of[l](word)) level[l] |= std::uint64_t{1} << bit;
    }
  }
  /// Writes the words whose first bit is `position`, without what is past the buffer's end.
  CUTPOINT_DEVICE void store(const packed_bytes& in, std::uint64_t position) const {
    if (position >= in.byte_count) return;
    const std::uint64_t there = in.byte_count - position;
    const std::uint64_t kept = there < 64 ? ~(~std::uint64_t{0} << there) : ~std::uint64_t{0};
    CUTPOINT_UNROLL
    for (std::uint32_t l = 0; l < Levels; ++l) in.candidates[l * in.words + position / 64] = level[l] & kept;
  }
};

/// The sixteen bytes at an aligned position; zeros before the buffer (where positions are huge) and after it.
[[nodiscard]] CUTPOINT_DEVICE bytes16 unit_at(const packed_bytes& in, std::uint64_t position) {
  if (position >= in.byte_count) return {};
  return *reinterpret_cast<const bytes16*>(in.bytes + position);
}

/// Bytes [skipped, skipped + 16) of two units, `skipped` < 16.
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

/// The tests of a scan, one for each level.
template <class Test, std::uint32_t Levels>
struct level_tests {
  Test of[Levels] = {};
};

/// Writes every word of every level. A block takes every count()-th tile, or its threads every so many runs.
template <class Hash, class Test, std::uint32_t Levels, rolling_tuning Tuning = rolling_tuning{}>
struct rolling_scan {
  static_assert(Tuning.run_bytes > 0 && Tuning.run_bytes % rolling_detail::slice_bytes == 0 && Tuning.stages >= 2);

  static constexpr std::uint32_t threads_per_block = Tuning.threads_per_block;
  packed_bytes in;
  const std::uint64_t* table = nullptr;  ///< Hash::tables × 256 entries
  Hash hash = {};
  level_tests<Test, Levels> tests = {};

  [[nodiscard]] std::size_t shared_bytes(std::uint32_t threads) const {
    using namespace rolling_detail;
    return shared_size<typename Hash::entry>(table_size) +
           (is_sliced() ? shared_size<bytes16>(std::size_t{Tuning.stages} * threads * row_units) : 0);
  }
  [[nodiscard]] std::uint64_t blocks(std::uint32_t threads) const {
    const std::uint64_t tile = threads * (is_sliced() ? Tuning.run_bytes : long_run_bytes());
    return (in.byte_count + tile - 1) / tile;
  }

  template <class Block>
  CUTPOINT_KERNEL_BODY void operator()(Block& block) const {
    const auto entries = block.template shared<typename Hash::entry>(table_size);
    block.for_each_thread([&](auto thread) {
      for (std::uint32_t i = thread.index(); i < table_size; i += block.thread_count()) {
        entries[i] = static_cast<typename Hash::entry>(table[i / copies]);
      }
    });
    if constexpr (Hash::forgets) {
      in_slices<64>(block, entries);
    } else if (hash.window == 32) {
      in_slices<32>(block, entries);
    } else if (hash.window == 48) {
      in_slices<48>(block, entries);
    } else if (hash.window == 64) {
      in_slices<64>(block, entries);
    } else {
      in_long_runs(block, entries);
    }
  }

 private:
  static constexpr std::uint32_t copies = rolling_detail::table_copies<typename Hash::entry>;
  static constexpr std::uint32_t table_size = Hash::tables * 256 * copies;

  [[nodiscard]] bool is_sliced() const {
    return Hash::forgets || hash.window == 32 || hash.window == 48 || hash.window == 64;
  }
  /// So long that the warm-up is a fifth of all work.
  [[nodiscard]] CUTPOINT_HOST_DEVICE std::uint64_t long_run_bytes() const {
    return greatest<std::uint64_t>(Tuning.run_bytes, (4 * std::uint64_t{hash.window} + 63) / 64 * 64);
  }
  template <class Entries, class Thread>
  [[nodiscard]] CUTPOINT_DEVICE static auto table_of(const Entries& entries, Thread thread) {
    return [entries, column = thread.lane() % copies](std::uint32_t k, std::uint32_t byte) {
      return entries[(k * 256 + byte) * copies + column];
    };
  }

  template <std::uint32_t Window, class Block, class Entries>
  CUTPOINT_DEVICE void in_slices(Block& block, const Entries& entries) const {
    using namespace rolling_detail;
    constexpr std::uint32_t window_units = Window / unit_bytes;
    const passing<Hash, Window> beginning{.hash = hash.zeros, .leaving = {}};
    const std::uint32_t threads = block.thread_count();
    const std::uint64_t tile_bytes = std::uint64_t{threads} * Tuning.run_bytes;
    const std::uint64_t tile_count = (in.byte_count + tile_bytes - 1) / tile_bytes;
    const auto staged = block.template shared<bytes16>(Tuning.stages * threads * row_units);
    auto lane = block.template per_thread<passing<Hash, Window>>(beginning);
    auto pipeline = block.template pipeline<bytes16>();

    // Where a thread's slice begins; huge before the buffer.
    const auto slice_begin = [&](const cursor& at, std::uint32_t thread_index) {
      return at.tile * tile_bytes + std::uint64_t{thread_index} * Tuning.run_bytes +
             std::uint64_t{at.slice} * slice_bytes - slice_bytes;
    };
    // Four neighbouring threads fetch one thread's slice, 64 bytes in a row.
    const auto fetch = [&](auto thread, const cursor& at) {
      CUTPOINT_UNROLL
      for (std::uint32_t pass = 0; pass < units; ++pass) {
        const std::uint32_t load = pass * threads + thread.index();
        const std::uint32_t row = load / units;
        const std::uint32_t unit = load % units;
        const std::uint64_t position = slice_begin(at, row) + unit * unit_bytes;
        const std::uint32_t index = (at.slot * threads + row) * row_units + unit;
        if (position < in.byte_count) {
          pipeline.copy(thread, staged, index, in.bytes + position);
        } else {
          staged[index] = bytes16{};
        }
      }
      pipeline.commit(thread);
    };
    const auto scan = [&](auto thread, const cursor& at) {
      const auto look_up = table_of(entries, thread);
      passing<Hash, Window> passed = at.slice == 0 ? beginning : lane[thread];
      found_bits<Levels> found;
      bytes16 slice[units];
      CUTPOINT_UNROLL
      for (std::uint32_t unit = 0; unit < units; ++unit) {
        slice[unit] = staged[(at.slot * threads + thread.index()) * row_units + unit];
        const bytes16 leaving = unit < window_units ? passed.leaving[unit % window_units] : slice[unit - window_units];
        CUTPOINT_UNROLL
        for (std::uint32_t i = 0; i < unit_bytes; ++i) {
          passed.hash = hash.template roll<Window>(look_up, passed.hash, leaving.byte(i), slice[unit].byte(i));
          found.test(tests, Hash::word(passed.hash), unit * unit_bytes + i);
        }
      }
      CUTPOINT_UNROLL
      for (std::uint32_t unit = 0; unit < window_units; ++unit) {
        passed.leaving[unit] = slice[units - window_units + unit];
      }
      lane[thread] = passed;
      if (at.slice != 0) found.store(in, slice_begin(at, thread.index()));
    };

    cursor next{block.index()};
    for (std::uint32_t ahead = 1; ahead < Tuning.stages; ++ahead, next.template advance<Tuning>(block)) {
      block.for_each_thread([&](auto thread) { fetch(thread, next); });
    }
    block.for_each_thread([&](auto thread) { pipeline.template wait<Tuning.stages - 2>(thread); });
    for (cursor at{block.index()}; at.tile < tile_count; at.template advance<Tuning>(block)) {
      block.for_each_thread([&](auto thread) {
        fetch(thread, next);
        scan(thread, at);
        pipeline.template wait<Tuning.stages - 2>(thread);
      });
      next.template advance<Tuning>(block);
    }
  }

  template <class Block, class Entries>
  CUTPOINT_DEVICE void in_long_runs(Block& block, const Entries& entries) const {
    using namespace rolling_detail;
    const std::uint64_t run_bytes = long_run_bytes();
    const std::uint64_t step = run_bytes * block.count() * block.thread_count();
    const std::uint32_t warm_up_units = (hash.window + unit_bytes - 1) / unit_bytes;
    const std::uint32_t skipped =
        warm_up_units * unit_bytes - hash.window;  // of the units that hold a window, at first
    block.for_each_thread([&](auto thread) {
      const auto look_up = table_of(entries, thread);
      const std::uint64_t first = run_bytes * (std::uint64_t{block.index()} * block.thread_count() + thread.index());
      for (std::uint64_t begin = first; begin < in.byte_count; begin += step) {
        auto h = hash.zeros;
        const std::uint64_t before = begin - std::uint64_t{warm_up_units} * unit_bytes;
        for (std::uint32_t unit = 0; unit < warm_up_units; ++unit) {
          const bytes16 sixteen = unit_at(in, before + std::uint64_t{unit} * unit_bytes);
          CUTPOINT_UNROLL
          for (std::uint32_t i = 0; i < unit_bytes; ++i) {
            h = hash.template roll<0>(look_up, h, 0, unit == 0 && i < skipped ? 0 : sixteen.byte(i));
          }
        }
        bytes16 low = unit_at(in, before);
        const std::uint64_t end = least(begin + run_bytes, in.byte_count);
        for (std::uint64_t at = begin; at < end; at += slice_bytes) {
          found_bits<Levels> found;
          CUTPOINT_UNROLL
          for (std::uint32_t unit = 0; unit < units; ++unit) {
            const std::uint64_t position = at + unit * unit_bytes;
            const bytes16 entering = unit_at(in, position);
            const bytes16 high = unit_at(in, position - std::uint64_t{warm_up_units - 1} * unit_bytes);
            const bytes16 leaving = joined(low, high, skipped);
            low = high;
            CUTPOINT_UNROLL
            for (std::uint32_t i = 0; i < unit_bytes; ++i) {
              h = hash.template roll<0>(look_up, h, leaving.byte(i), entering.byte(i));
              found.test(tests, Hash::word(h), unit * unit_bytes + i);
            }
          }
          found.store(in, at);
        }
      }
    });
  }
};

/// The scheme of a rolling hash whose chunks a `Cutter` of plain values finds.
template <class Hash, class Test, std::uint32_t Levels, class Cutter>
struct rolling_scheme {
  static constexpr std::uint32_t levels = Levels;
  std::vector<std::uint64_t> table;
  scheme_sizes sizes;
  Hash hash = {};
  level_tests<Test, Levels> tests = {};
  Cutter chunks = {};

  [[nodiscard]] rolling_scan<Hash, Test, Levels> scan(const packed_bytes& in, const std::uint64_t* table_there) const {
    return {in, table_there, hash, tests};
  }
  [[nodiscard]] Cutter cutter(const std::uint64_t*) const { return chunks; }
};

}  // namespace cutpoint::cuda
