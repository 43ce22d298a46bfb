// `fastcdc` with the profile `fastcdc2020`, and `borg2-fastcdc`: a gear hash that restarts in every chunk.
#pragma once

#include "cuda/algorithms/gear.h"

namespace cutpoint::cuda {

/// Cuts at the first byte that a strict test (level 0) accepts before offset `strict_end`, or that a loose test (level
/// 1) accepts after it. The hash starts with the byte at offset `first`. So the candidates of the scan are valid from
/// the 64th byte on, and the warp hashes the bytes before.
struct restarted_cut_finder {
  std::uint64_t first = 0;  ///< also the longest chunk whose bytes are not read
  std::uint64_t strict_end = 0;
  std::uint64_t reach = 0;       ///< the largest chunk; all ones for no maximum
  std::uint64_t ends = 0;        ///< mask for the offsets at which a range may end
  std::uint64_t past_match = 0;  ///< 1 if the accepted byte ends its chunk, 0 if it begins the next
  level_tests<zeros_test<std::uint64_t>, 2> tests = {};
  const std::uint64_t* table = nullptr;

  template <class Warp>
  [[nodiscard]] CUTPOINT_DEVICE std::uint64_t next_cut(const Warp& warp, const packed_bytes& in,
                                                       const stream_range& range, std::uint64_t start) const {
    const std::uint64_t length = least(reach, range.end - start);
    if (length <= first) return start + length;
    const ranges test{.strict = start + (least(strict_end, length) & ends), .loose = start + (length & ends)};
    const std::uint64_t match = find(warp, in, range, start + first, test);
    return match < test.loose ? match + past_match : start + length;
  }

 private:
  /// The positions at which the ranges of the two tests end.
  struct ranges {
    std::uint64_t strict;
    std::uint64_t loose;
  };

  /// Returns the first accepted position from `begin` on, where the hash starts, or at least `test.loose` if there is
  /// none.
  template <class Warp>
  [[nodiscard]] CUTPOINT_DEVICE std::uint64_t find(const Warp& warp, const packed_bytes& in, const stream_range& range,
                                                   std::uint64_t begin, const ranges& test) const {
    const std::uint64_t full = begin + gear_window;
    const std::uint64_t early = find_early(warp, in, range, begin, test);
    if (early < full) return early;
    const std::uint64_t strict = next_candidate(warp, in, 0, full, test.strict);
    if (strict < test.strict) return strict;
    return next_candidate(warp, in, 1, greatest(full, test.strict), test.loose);
  }

  /// Does the same for the first 64 positions. Each lane has two of them, and the lanes combine their hashes.
  template <class Warp>
  [[nodiscard]] CUTPOINT_DEVICE std::uint64_t find_early(const Warp& warp, const packed_bytes& in,
                                                         const stream_range& range, std::uint64_t begin,
                                                         const ranges& test) const {
    const auto worth = [&](std::uint64_t position) { return position < range.end ? table[in.bytes[position]] : 0; };
    const auto is_accepted = [&](std::uint64_t position, std::uint64_t hash) {
      return position < test.loose && (position < test.strict ? tests.level[0](hash) : tests.level[1](hash));
    };
    auto even = warp.template per_lane<std::uint64_t>(0);  // the hash at position 2 * lane; `odd`: at 2 * lane + 1
    auto odd = warp.template per_lane<std::uint64_t>(0);
    warp.for_each_lane([&](std::uint32_t lane) {
      even[lane] = worth(begin + 2 * lane);
      odd[lane] = 2 * even[lane] + worth(begin + 2 * lane + 1);
    });
    CUTPOINT_UNROLL
    for (std::uint32_t apart = 1; apart < warp_size; apart *= 2) {
      warp.shuffle([&](std::uint32_t lane) { return odd[lane]; }, [&](std::uint32_t lane) { return lane - apart; },
                   [&](std::uint32_t lane, std::uint64_t before) {
                     if (lane >= apart) odd[lane] += before << (2 * apart);
                   });
    }
    warp.shuffle([&](std::uint32_t lane) { return odd[lane]; }, [](std::uint32_t lane) { return lane - 1; },
                 [&](std::uint32_t lane, std::uint64_t before) {
                   if (lane != 0) even[lane] += 2 * before;
                 });
    const std::uint32_t at_even =
        warp.ballot([&](std::uint32_t lane) { return is_accepted(begin + 2 * lane, even[lane]); });
    const std::uint32_t at_odd =
        warp.ballot([&](std::uint32_t lane) { return is_accepted(begin + 2 * lane + 1, odd[lane]); });
    if ((at_even | at_odd) == 0) return begin + gear_window;
    const std::uint32_t lane = lowest_bit(at_even | at_odd);
    return begin + 2 * lane + ((at_even >> lane & 1) != 0 ? 0 : 1);
  }
};

/// The specification of both algorithms.
struct fastcdc_specification {
  static constexpr std::uint32_t levels = 2;
  std::vector<std::uint64_t> table;
  chunk_estimates sizes = {};
  restarted_cut_finder chunks = {};  ///< its `table` is null

  [[nodiscard]] rolling_scan<rolling_gear<std::uint64_t>, zeros_test<std::uint64_t>, levels> scan(
      const packed_bytes& in, const std::uint64_t* table_there) const {
    return {in, table_there, {.hash = {}, .tests = chunks.tests}};
  }
  [[nodiscard]] restarted_cut_finder cut_finder(const std::uint64_t* table_there) const {
    restarted_cut_finder finder = chunks;
    finder.table = table_there;
    return finder;
  }
};

}  // namespace cutpoint::cuda
