// The profile `ronomon`: H = (H >> 1) + T[b], starting with 0 at the minimum. Because of carries, H depends on all
// bytes since then.
//
// Two hashes of the same bytes soon become equal: their difference halves with every byte, and a difference of 1
// becomes 0 at about every second byte. So each lane hashes a run of 64 bytes, first from a guess, and then from the
// result of the lane before it, until no lane's start value changes. This nearly always takes two rounds. Every round
// makes at least one more lane's start value final, so the hashes are exact. This is by far the slowest cut finder: it
// makes two look-ups in a table in device memory for every byte.
#pragma once

#include "cuda/cut/specification.h"
#include "cuda/kernel/warp_search.h"

namespace cutpoint::cuda {

struct ronomon_cut_finder {
  const std::uint64_t* table = nullptr;  ///< 256 entries
  std::uint64_t min = 0;
  std::uint64_t strict_bytes = 0;  ///< the offset at which the loose mask replaces the strict one
  std::uint64_t reach = 0;
  std::uint32_t strict_mask = 0;
  std::uint32_t loose_mask = 0;

  template <class Warp>
  [[nodiscard]] CUTPOINT_DEVICE std::uint64_t next_cut(const Warp& warp, const packed_bytes& in,
                                                       const stream_range& range, std::uint64_t start) const {
    const std::uint64_t end = start + least(reach, range.end - start);
    std::uint32_t hash = 0;
    auto bytes = warp.template per_lane<run>({});
    auto before = warp.template per_lane<std::uint32_t>(0);
    auto after = warp.template per_lane<std::uint32_t>(0);
    auto candidates = warp.template per_lane<std::uint64_t>(0);
    for (std::uint64_t base = start + least(min, range.end - start); base < end; base += warp_size * run_bytes) {
      const std::uint64_t strict = start + strict_bytes > base ? start + strict_bytes - base : 0;
      warp.for_each_lane([&](std::uint32_t lane) {
        bytes[lane] = run::at(in, base + lane * run_bytes, end);
        before[lane] = hash;  // correct in lane 0, a guess in the others
      });
      for (bool changes = true; changes;) {
        warp.for_each_lane([&](std::uint32_t lane) {
          const std::uint64_t skipped = lane * run_bytes;
          const std::uint64_t strict_here = strict > skipped ? least<std::uint64_t>(strict - skipped, run_bytes) : 0;
          after[lane] = hashed(bytes[lane], before[lane], static_cast<std::uint32_t>(strict_here), candidates[lane]);
        });
        auto now = warp.template per_lane<std::uint32_t>(hash);
        warp.shuffle([&](std::uint32_t lane) { return after[lane]; }, [](std::uint32_t lane) { return lane - 1; },
                     [&](std::uint32_t lane, std::uint32_t come_to) {
                       if (lane != 0) now[lane] = come_to;
                     });
        changes = warp.any([&](std::uint32_t lane) { return now[lane] != before[lane]; });
        warp.for_each_lane([&](std::uint32_t lane) { before[lane] = now[lane]; });
      }
      const std::uint32_t lanes = warp.ballot([&](std::uint32_t lane) { return candidates[lane] != 0; });
      if (lanes != 0) {
        const std::uint32_t lane = lowest_bit(lanes);
        const std::uint64_t bits = warp.broadcast(lane, [&](std::uint32_t l) { return candidates[l]; });
        return least(end, base + lane * run_bytes + lowest_bit(bits) + 1);
      }
      hash = warp.broadcast(warp_size - 1, [&](std::uint32_t lane) { return after[lane]; });
    }
    return end;
  }

 private:
  static constexpr std::uint32_t run_bytes = 64;
  static constexpr std::uint32_t run_words = run_bytes / 4;

  /// The bytes of a lane's run.
  struct run {
    std::uint32_t words[run_words];

    /// Reads a run at any position. Its bytes from `end` on have any value.
    [[nodiscard]] CUTPOINT_DEVICE static run at(const packed_bytes& in, std::uint64_t position, std::uint64_t end) {
      const auto skipped = static_cast<std::uint32_t>(position % 4);
      const std::uint64_t aligned = position - skipped;
      std::uint32_t read[run_words + 1];
      CUTPOINT_UNROLL
      for (std::uint32_t w = 0; w <= run_words; ++w) {
        const std::uint64_t word_begin = aligned + 4 * w;
        read[w] = word_begin < end ? *reinterpret_cast<const std::uint32_t*>(in.bytes + word_begin) : 0;
      }
      run all;
      CUTPOINT_UNROLL
      for (std::uint32_t w = 0; w < run_words; ++w) {
        const std::uint64_t both = std::uint64_t{read[w + 1]} << 32 | read[w];
        all.words[w] = static_cast<std::uint32_t>(both >> (8 * skipped));
      }
      return all;
    }
  };

  /// Returns the hash after a run. Sets bit i of `found` if the chunk may end after byte i; the first `strict_count`
  /// bytes are tested with the strict mask.
  [[nodiscard]] CUTPOINT_DEVICE std::uint32_t hashed(const run& bytes, std::uint32_t hash, std::uint32_t strict_count,
                                                     std::uint64_t& candidates) const {
    candidates = 0;
    CUTPOINT_UNROLL
    for (std::uint32_t i = 0; i < run_bytes; ++i) {
      hash = (hash >> 1) + static_cast<std::uint32_t>(table[bytes.words[i / 4] >> (8 * (i % 4)) & 0xff]);
      if ((hash & (i < strict_count ? strict_mask : loose_mask)) == 0) candidates |= std::uint64_t{1} << i;
    }
    return hash;
  }
};

using ronomon_specification = walking_specification<ronomon_cut_finder>;

}  // namespace cutpoint::cuda
