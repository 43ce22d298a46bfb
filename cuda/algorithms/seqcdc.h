// SeqCDC, `seqcdc-inc` and `seqcdc-dec`: comparisons are bits, sixteen in each lane.
//
// For a warp load of 512 comparisons, every lane computes which of its comparisons end a sequence in order, even if it
// began long before, and how many opposing comparisons there are up to its last one. With these numbers a few votes
// find the next cut and the next skip, wherever counting began.
#pragma once

#include "cuda/cut/specification.h"
#include "cuda/kernel/warp_search.h"

namespace cutpoint::cuda {

namespace seqcdc_detail {

/// Sixteen bytes, and the byte before them as the highest byte of `previous`.
struct bytes_with_previous {
  bytes16 vector;
  std::uint32_t previous;
};

/// Sixteen comparisons of neighbours. Bit k compares byte k with byte k - 1.
struct comparisons {
  std::uint32_t in_order;
  std::uint32_t opposing;

  CUTPOINT_DEVICE static comparisons of(const bytes_with_previous& loaded, std::uint32_t flip) {
    comparisons compared = {};
    std::uint32_t before = loaded.previous ^ flip;
    CUTPOINT_UNROLL
    for (std::uint32_t w = 0; w < 4; ++w) {
      const std::uint32_t now = loaded.vector.words[w] ^ flip;
      const std::uint32_t shifted = now << 8 | before >> 24;
      compared.in_order |= side_by_side(at_least(shifted, now) ^ four_of(0x80)) << (4 * w);
      compared.opposing |= side_by_side(at_least(now, shifted) ^ four_of(0x80)) << (4 * w);
      before = now;
    }
    return compared;
  }
};

/// Returns the number of set bits from bit 15 down to the first clear one.
[[nodiscard]] CUTPOINT_DEVICE std::uint32_t last_run(std::uint32_t sixteen) {
  return sixteen == 0xffff ? 16 : 15 - highest_bit(~sixteen & 0xffff);
}

/// Sets bit k of the result if the `length` bits up to k are all set. The `run` bits before bit 0 count as set.
///
///     set     1 1 1 0 1 1 1 1     length 3, from bit 0 on, run = 1
///     ended   . x x . . . x x
[[nodiscard]] CUTPOINT_DEVICE std::uint32_t ends_of_runs(std::uint32_t set, std::uint32_t run, std::uint32_t length) {
  const std::uint32_t going_on = ~(~std::uint32_t{0} << lowest_bit(~std::uint64_t{set}));  // the set bits from bit 0 up
  const std::uint32_t missing = run < length ? length - run : 1;  // number of these up to the first end
  std::uint32_t ended = missing > 16 ? 0 : going_on >> (missing - 1) << (missing - 1);
  if (length > 16) return ended;
  // Bit k of `set` says whether the `have` bits up to k are set; `have` doubles.
  std::uint32_t have = 1;
  for (; 2 * have <= length; have *= 2) set &= set << have;
  return ended | (set & (set << (length - have)));
}

/// Returns the index of the n-th set bit, counted from 0. There must be more than n set bits.
[[nodiscard]] CUTPOINT_DEVICE std::uint32_t select_bit(std::uint32_t sixteen, std::uint32_t n) {
  std::uint32_t index = 0;
  CUTPOINT_UNROLL
  for (std::uint32_t half = 8; half != 0; half /= 2) {
    const std::uint32_t below = bit_count(sixteen >> index & ~(~std::uint32_t{0} << half));
    if (n < below) continue;
    n -= below;
    index += half;
  }
  return index;
}

/// Clears the bits of a lane that are before number `first` of the warp load.
[[nodiscard]] CUTPOINT_DEVICE std::uint32_t from_on(std::uint32_t sixteen, std::uint32_t lane, std::uint32_t first) {
  const std::uint32_t begin = 16 * lane;
  const std::uint32_t dropped = first <= begin ? 0 : least<std::uint32_t>(first - begin, 16);
  return sixteen >> dropped << dropped;
}

/// The comparisons of a warp load, which the whole warp searches. Comparisons are numbered from the first of the warp
/// load.
template <class Warp, class Bits, class Counts>
struct warp_load_comparisons {
  const Warp& warp;
  Bits& ended;      ///< by lane: the comparisons that end a sequence
  Bits& opposing;   ///< by lane: the comparisons against the order
  Counts& counted;  ///< by lane: number of opposing comparisons of the warp load up to the lane's last

  /// Returns the first end of a sequence from number `first` on, or warp_load_bytes if there is none.
  [[nodiscard]] CUTPOINT_DEVICE std::uint32_t next_end(std::uint32_t first) const {
    const std::uint32_t lanes = warp.ballot([&](std::uint32_t lane) { return from_on(ended[lane], lane, first) != 0; });
    if (lanes == 0) return warp_load_bytes;
    const std::uint32_t source_lane = lowest_bit(lanes);
    const auto its_bits = [&](std::uint32_t lane) { return from_on(ended[lane], lane, first); };
    return 16 * source_lane + lowest_bit(warp.broadcast(source_lane, its_bits));
  }
  /// Returns the number of opposing comparisons before number `last`, which is at most warp_load_bytes.
  [[nodiscard]] CUTPOINT_DEVICE std::uint32_t opposing_before(std::uint32_t last) const {
    return warp.broadcast((last - 1) / 16, [&](std::uint32_t lane) {  // lane 31 if `last` is 0
      return last == 0 ? 0 : counted[lane] - bit_count(from_on(opposing[lane], lane, last));
    });
  }
  /// Returns the number of the opposing comparison with this rank, counted from 1. There must be as many.
  [[nodiscard]] CUTPOINT_DEVICE std::uint32_t opposing_of(std::uint32_t rank) const {
    const std::uint32_t source_lane =
        lowest_bit(warp.ballot([&](std::uint32_t lane) { return counted[lane] >= rank; }));
    return 16 * source_lane + warp.broadcast(source_lane, [&](std::uint32_t lane) {
      return select_bit(opposing[lane], rank + bit_count(opposing[lane]) - counted[lane] - 1);
    });
  }
};

}  // namespace seqcdc_detail

struct seqcdc_cut_finder {
  std::uint64_t first = 0;  ///< offset of the first byte that is compared with the one before it, at least 1
  std::uint64_t reach = 0;
  std::uint64_t skip_size = 0;
  std::uint32_t skip_trigger = 0;  ///< 0 if nothing is skipped
  std::uint32_t seq_length = 0;
  std::uint32_t flip = 0;  ///< all ones for decreasing sequences

  template <class Warp>
  [[nodiscard]] CUTPOINT_DEVICE std::uint64_t next_cut(const Warp& warp, const packed_bytes& in,
                                                       const stream_range& range, std::uint64_t start) const {
    using namespace seqcdc_detail;
    constexpr std::uint32_t loads_per_step = 2;
    const std::uint64_t end = start + least(reach, range.end - start);
    std::uint64_t cut = end;
    if (end - start <= first) return end;
    std::uint64_t counted_from = start + first;  // the first comparison that counts
    // The number of opposing comparisons, from there or the warp load's beginning on, that make a skip.
    std::uint32_t missing = skip_trigger;
    std::uint32_t run = 0;  // length of the sequence right before the warp load, even before `counted_from`
    const auto load = [&](std::uint64_t position) {
      bytes_with_previous loaded = {load_vector(in, position, end), 0};
      if (position > start && position < end) {
        loaded.previous = *reinterpret_cast<const std::uint32_t*>(in.bytes + position - sizeof(std::uint32_t));
      }
      return loaded;
    };
    auto in_order = warp.template per_lane<std::uint32_t>(0);
    auto opposing = warp.template per_lane<std::uint32_t>(0);
    auto ended = warp.template per_lane<std::uint32_t>(0);
    auto counted = warp.template per_lane<std::uint32_t>(0);

    // Makes the comparisons of a warp load.
    const auto compare = [&](auto unit_of) {
      warp.for_each_lane([&](std::uint32_t lane) {
        const comparisons all = comparisons::of(unit_of(lane), flip);
        in_order[lane] = all.in_order;
        opposing[lane] = all.opposing;
        counted[lane] = bit_count(all.opposing);
      });
      // The nearest lane before this one with a comparison out of order has the beginning of the sequence that
      // continues here.
      const std::uint32_t breaking = warp.ballot([&](std::uint32_t lane) { return in_order[lane] != 0xffff; });
      const auto broken_before = [&](std::uint32_t lane) { return breaking & ~(~std::uint32_t{0} << lane); };
      warp.shuffle([&](std::uint32_t lane) { return last_run(in_order[lane]); },
                   [&](std::uint32_t lane) { return highest_bit(broken_before(lane) | 1); },
                   [&](std::uint32_t lane, std::uint32_t its_last) {
                     const std::uint32_t broken = broken_before(lane);
                     const std::uint32_t before =
                         broken == 0 ? run + 16 * lane : its_last + 16 * (lane - 1 - highest_bit(broken));
                     ended[lane] = ends_of_runs(in_order[lane], before, seq_length);
                   });
      run = breaking == 0 ? run + warp_load_bytes
                          : 16 * (warp_size - 1 - highest_bit(breaking)) +
                                warp.broadcast(highest_bit(breaking),
                                               [&](std::uint32_t lane) { return last_run(in_order[lane]); });
      CUTPOINT_UNROLL
      for (std::uint32_t distance = 1; distance < warp_size; distance *= 2) {
        warp.shuffle([&](std::uint32_t lane) { return counted[lane]; },
                     [&](std::uint32_t lane) { return lane - distance; },
                     [&](std::uint32_t lane, std::uint32_t before) {
                       if (lane >= distance) counted[lane] += before;
                     });
      }
    };
    // Finds the cuts and skips in the warp load that begins at `base`. Returns whether the chunk ends there.
    const auto ends_in = [&](std::uint64_t base) {
      const warp_load_comparisons all{warp, ended, opposing, counted};
      const std::uint32_t total = warp.broadcast(warp_size - 1, [&](std::uint32_t lane) { return counted[lane]; });
      while (counted_from < base + warp_load_bytes) {
        const auto begin = static_cast<std::uint32_t>(counted_from > base ? counted_from - base : 0);
        const std::uint64_t whole_run = counted_from + seq_length - 1;
        const std::uint32_t cut_at = all.next_end(
            static_cast<std::uint32_t>(whole_run > base ? least<std::uint64_t>(whole_run - base, warp_load_bytes) : 0));
        const std::uint32_t before = all.opposing_before(begin);
        const bool is_skipped = skip_trigger != 0 && missing <= total - before;
        const std::uint32_t skip_at = is_skipped ? all.opposing_of(before + missing) : warp_load_bytes;
        if (cut_at < skip_at) {
          cut = least(end, base + cut_at + 1);
          return true;
        }
        if (!is_skipped) {
          missing -= total - before;
          return false;
        }
        counted_from = base + skip_at + 1 + skip_size;
        missing = skip_trigger;
      }
      return false;
    };
    walk_steps<loads_per_step>(warp, counted_from, end, load, [&](std::uint64_t base, auto& loaded) {
      CUTPOINT_UNROLL
      for (std::uint32_t r = 0; r < loads_per_step; ++r) {
        const std::uint64_t load_begin = base + r * warp_load_bytes;
        if (counted_from >= load_begin + warp_load_bytes) continue;
        compare([&](std::uint32_t lane) { return loaded[lane].vector[r]; });
        if (ends_in(load_begin)) return end;
      }
      return greatest(base + loads_per_step * warp_load_bytes, counted_from);
    });
    return cut;
  }
};

using seqcdc_specification = walking_specification<seqcdc_cut_finder>;

}  // namespace cutpoint::cuda
