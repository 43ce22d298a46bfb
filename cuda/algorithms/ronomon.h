// The profile `ronomon`: H = (H >> 1) + T[b], from 0 at the minimum on. Carries make its window endless.
//
// Yet two hashes draw together: their difference halves with every byte, and once it is 1, every second byte or so makes
// it 0. So each lane hashes a run of 64 bytes from a guess, then from what the lane before it has come to, until no
// lane's beginning changes: nearly always twice. Every round settles at least one more lane, so the hashes are exact.
// This is by far the slowest cut_finder: two look-ups in a table in device memory for every byte.
#pragma once

#include "cuda/cut/specification.h"
#include "cuda/kernel/warp_search.h"

namespace cutpoint::cuda {

struct ronomon_cut_finder {
  const std::uint64_t* table = nullptr;  ///< 256 entries
  std::uint64_t min = 0;
  std::uint64_t strict_bytes = 0;  ///< where the loose mask begins
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
    auto found = warp.template per_lane<std::uint64_t>(0);
    for (std::uint64_t base = start + least(min, range.end - start); base < end; base += warp_size * run_bytes) {
      const std::uint64_t strict = start + strict_bytes > base ? start + strict_bytes - base : 0;
      warp.for_each_lane([&](std::uint32_t lane) {
        bytes[lane] = run::at(in, base + lane * run_bytes, end);
        before[lane] = hash;  // right in lane 0, a guess in the others
      });
      for (bool changes = true; changes;) {
        warp.for_each_lane([&](std::uint32_t lane) {
          const std::uint64_t skipped = lane * run_bytes;
          const std::uint64_t strict_here = strict > skipped ? least<std::uint64_t>(strict - skipped, run_bytes) : 0;
          after[lane] = hashed(bytes[lane], before[lane], static_cast<std::uint32_t>(strict_here), found[lane]);
        });
        auto now = warp.template per_lane<std::uint32_t>(hash);
        warp.shuffle([&](std::uint32_t lane) { return after[lane]; }, [](std::uint32_t lane) { return lane - 1; },
                     [&](std::uint32_t lane, std::uint32_t come_to) {
                       if (lane != 0) now[lane] = come_to;
                     });
        changes = warp.any([&](std::uint32_t lane) { return now[lane] != before[lane]; });
        warp.for_each_lane([&](std::uint32_t lane) { before[lane] = now[lane]; });
      }
      const std::uint32_t lanes = warp.ballot([&](std::uint32_t lane) { return found[lane] != 0; });
      if (lanes != 0) {
        const std::uint32_t lane = lowest_bit(lanes);
        const std::uint64_t bits = warp.broadcast(lane, [&](std::uint32_t l) { return found[l]; });
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

    /// From any position on; zeros or other bytes from `end` on.
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

  /// The hash after a run. Bit i of `found`: after byte i it may be cut; the first `strict_count` by the strict mask.
  [[nodiscard]] CUTPOINT_DEVICE std::uint32_t hashed(const run& bytes, std::uint32_t hash, std::uint32_t strict_count,
                                                     std::uint64_t& found) const {
    found = 0;
    CUTPOINT_UNROLL
    for (std::uint32_t i = 0; i < run_bytes; ++i) {
      hash = (hash >> 1) + static_cast<std::uint32_t>(table[bytes.words[i / 4] >> (8 * (i % 4)) & 0xff]);
      if ((hash & (i < strict_count ? strict_mask : loose_mask)) == 0) found |= std::uint64_t{1} << i;
    }
    return hash;
  }
};

using ronomon_specification = walking_specification<ronomon_cut_finder>;

}  // namespace cutpoint::cuda
