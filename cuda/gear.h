// Kernel body of `gear` (and of every profile with a 64-bit gear hash): which positions of a stream are candidates.
//
// Position i is one when `h & hash_mask == 0`, with h = 2h + G[b] over the 64 bytes that end with b[i]; 64 shifts push
// older bytes out. Each thread scans a run of the stream in slices of 64 bytes; the slice before its run is its
// warm-up, so that no scan over threads is needed. All threads' slices lie in shared memory together:
//
//     stream   |.......................... tile = threads × run_bytes ..........................|
//              |..... run of thread 0 .....|..... run of thread 1 .....|     (the next tile of the block)
//     slices 0,1,…,n:  [w][1][2]..[n]              [w][1][2]..[n]            w: the last 64 bytes of the run before
//     staged   slot s: [64 of thread 0|16 of padding][64 of thread 1|16]…    rows of 80 bytes: no bank conflicts
//
// Positions are counted from the first byte of the stream; the arithmetic on them is modulo 2^64, so that the bytes
// "before" the stream, up to the 16-byte boundary below it and in the first warm-up, have huge ones.
#pragma once

#include "cuda/block.h"
#include "cuda/tuning.h"

namespace cutpoint::cuda {

/// Bytes that decide a gear hash.
inline constexpr std::uint32_t gear_window = 64;

/// What to scan and where the answer goes. Pointers are to the memory of whoever runs the kernel: device or host.
/// One stream: no window begins before its first byte. Many files in one buffer will be a further field here, the table
/// of their ends, and change only which bits of a word survive.
struct gear_args {
  /// The stream, of any length and alignment.
  const std::uint8_t* bytes = nullptr;
  std::uint64_t byte_count = 0;
  /// The 256 entries of G.
  const std::uint64_t* table = nullptr;
  /// For `gear` the top log2(D) bits of a word.
  std::uint64_t hash_mask = 0;
  /// Output, `gear_word_count` words: bit j of word w is position 64·w + j - gear_lead(bytes).
  std::uint64_t* candidates = nullptr;
};

/// How far the stream begins after a 16-byte boundary, in bytes: wide loads and candidate words start at that boundary.
[[nodiscard]] CUTPOINT_HOST_DEVICE std::uint64_t gear_lead(const std::uint8_t* bytes) {
  return reinterpret_cast<std::uintptr_t>(bytes) % sizeof(bytes16);
}

/// Words of candidates for a stream of `byte_count` bytes that begins `lead` bytes after a boundary.
[[nodiscard]] CUTPOINT_HOST_DEVICE constexpr std::uint64_t gear_word_count(std::uint64_t lead,
                                                                           std::uint64_t byte_count) {
  return (lead + byte_count + gear_window - 1) / gear_window;
}

/// Bytes of the stream that a block of `thread_count` threads scans at a time.
[[nodiscard]] CUTPOINT_HOST_DEVICE constexpr std::uint64_t gear_tile_bytes(const gear_tuning& tuning,
                                                                           std::uint32_t thread_count) {
  return std::uint64_t{thread_count} * tuning.run_bytes;
}

namespace gear_detail {

inline constexpr std::uint32_t units = gear_window / sizeof(bytes16);  // 16-byte loads of a slice
inline constexpr std::uint32_t row_units = units + 1;                  // with padding, odd: 8 rows touch all banks

/// Where a block is in its work; the same in every thread.
struct cursor {
  std::uint64_t tile;
  std::uint32_t slice = 0;
  std::uint32_t slot = 0;

  template <gear_tuning Tuning, class Block>
  CUTPOINT_DEVICE void advance(const Block& block) {
    slot = (slot + 1) % Tuning.stages;
    if (++slice <= Tuning.run_bytes / gear_window) return;
    slice = 0;
    tile += block.count();
  }
};

/// Sixteen bytes that are not all in the stream, those outside it as zeros.
CUTPOINT_DEVICE_RARE bytes16 edge_unit(const gear_args& args, std::uint64_t position) {
  bytes16 unit{};
  for (std::uint32_t i = 0; i < sizeof(bytes16); ++i) {
    if (position + i < args.byte_count) unit.set_byte(i, args.bytes[position + i]);
  }
  return unit;
}

/// The bits of `word`, whose bit 0 is `position`, that have a full window in the stream.
CUTPOINT_DEVICE_RARE std::uint64_t with_full_window(const gear_args& args, std::uint64_t position, std::uint64_t word) {
  const std::uint64_t window_count = args.byte_count < gear_window ? 0 : args.byte_count - (gear_window - 1);
  for (std::uint32_t bit = 0; bit < gear_window; ++bit) {
    if (position + bit - (gear_window - 1) >= window_count) word &= ~(std::uint64_t{1} << bit);
  }
  return word;
}

}  // namespace gear_detail

/// Shared memory of a block in bytes.
[[nodiscard]] constexpr std::size_t gear_shared_bytes(const gear_tuning& tuning, std::uint32_t thread_count) {
  return shared_size<std::uint64_t>(std::size_t{256} * tuning.table_copies) +
         shared_size<bytes16>(std::size_t{tuning.stages} * thread_count * gear_detail::row_units);
}

/// Writes every candidate word of the stream once. Any number of blocks; a block takes every count()-th tile.
template <gear_tuning Tuning, class Block>
CUTPOINT_KERNEL_BODY void gear_candidates(Block& block, const gear_args& args) {
  using namespace gear_detail;
  static_assert(Tuning.run_bytes > 0 && Tuning.run_bytes % gear_window == 0 && Tuning.stages >= 2);
  static_assert(warp_size % Tuning.table_copies == 0);

  const std::uint32_t threads = block.thread_count();
  const std::uint64_t tile_bytes = gear_tile_bytes(Tuning, threads);
  const std::uint64_t lead = gear_lead(args.bytes);
  const std::uint64_t word_count = gear_word_count(lead, args.byte_count);
  const std::uint64_t tile_count = (lead + args.byte_count + tile_bytes - 1) / tile_bytes;

  const auto table = block.template shared<std::uint64_t>(std::size_t{256} * Tuning.table_copies);
  const auto staged = block.template shared<bytes16>(std::size_t{Tuning.stages} * threads * row_units);
  auto hash = block.template per_thread<std::uint64_t>(0);
  auto pipeline = block.template pipeline<bytes16>();

  // Distance of a thread's slice from the boundary below the stream.
  const auto slice_begin = [&](const cursor& at, std::uint32_t thread_index) {
    return at.tile * tile_bytes + std::uint64_t{thread_index} * Tuning.run_bytes +
           std::uint64_t{at.slice} * gear_window - gear_window;
  };
  // Four neighbouring threads fetch one thread's slice, 64 bytes in a row.
  const auto fetch = [&](auto thread, const cursor& at) {
    CUTPOINT_UNROLL
    for (std::uint32_t pass = 0; pass < units; ++pass) {
      const std::uint32_t load = pass * threads + thread.index();
      const std::uint32_t row = load / units;
      const std::uint32_t unit = load % units;
      const std::uint64_t position = slice_begin(at, row) + unit * sizeof(bytes16) - lead;
      const std::uint32_t index = (at.slot * threads + row) * row_units + unit;
      if (position < args.byte_count && args.byte_count - position >= sizeof(bytes16)) {
        pipeline.copy(thread, staged, index, args.bytes + position);
      } else {
        staged[index] = edge_unit(args, position);
      }
    }
    pipeline.commit(thread);
  };
  // The hot loop. CUDA 13.0 for sm_90 gives 9.4 instructions a byte, one of them a look-up without bank conflicts.
  const auto scan = [&](auto thread, const cursor& at) {
    std::uint64_t h = hash[thread];
    std::uint64_t word = 0;
    CUTPOINT_UNROLL
    for (std::uint32_t unit = 0; unit < units; ++unit) {
      const bytes16 sixteen = staged[(at.slot * threads + thread.index()) * row_units + unit];
      CUTPOINT_UNROLL
      for (std::uint32_t i = 0; i < sizeof(bytes16); ++i) {
        h = 2 * h + table[sixteen.byte(i) * Tuning.table_copies + thread.lane() % Tuning.table_copies];
        if ((h & args.hash_mask) == 0) word |= std::uint64_t{1} << (unit * sizeof(bytes16) + i);
      }
    }
    hash[thread] = h;
    const std::uint64_t begin = slice_begin(at, thread.index());
    if (at.slice == 0 || begin / gear_window >= word_count) return;
    if (begin < lead + gear_window - 1 || begin + gear_window > lead + args.byte_count) {
      word = with_full_window(args, begin - lead, word);
    }
    args.candidates[begin / gear_window] = word;
  };

  cursor next{block.index()};
  block.for_each_thread([&](auto thread) {
    for (std::uint32_t i = thread.index(); i < table.size(); i += threads) {
      table[i] = args.table[i / Tuning.table_copies];
    }
  });
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

}  // namespace cutpoint::cuda
