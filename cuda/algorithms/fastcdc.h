// `fastcdc` with the profile `fastcdc2020`, and `borg2-fastcdc`: a gear hash that begins anew in every chunk.
#pragma once

#include "cuda/algorithms/gear.h"

namespace cutpoint::cuda {

/// Cuts at the first byte that a strict test (level 0) accepts before offset `strict_end`, or a loose one (level 1) from
/// there on. The hash begins with the byte at offset `first`, so candidates serve from the 64th byte on; the warp hashes
/// those before.
struct restarted_cut_finder {
  std::uint64_t first = 0;  ///< also the longest chunk that is not looked into
  std::uint64_t strict_end = 0;
  std::uint64_t reach = 0;       ///< the largest chunk; all ones for no maximum
  std::uint64_t ends = 0;        ///< bits of an offset at which a range may end
  std::uint64_t past_match = 0;  ///< 1: the byte that is accepted ends its chunk; 0: it begins the next
  level_tests<zeros_test<std::uint64_t>, 2> tests = {};
  const std::uint64_t* table = nullptr;

  template <class Warp>
  [[nodiscard]] CUTPOINT_DEVICE std::uint64_t next_cut(const Warp& warp, const packed_bytes& in,
                                                       const stream_range& range, std::uint64_t start) const {
    const std::uint64_t length = least(reach, range.end - start);
    if (length <= first) return start + length;
    const ranges test{.strict = start + (least(strict_end, length) & ends), .loose = start + (length & ends)};
    const std::uint64_t found = find(warp, in, range, start + first, test);
    return found < test.loose ? found + past_match : start + length;
  }

 private:
  /// Positions where the range of each test ends.
  struct ranges {
    std::uint64_t strict;
    std::uint64_t loose;
  };

  /// The first position from `begin` on, where the hash begins, that is accepted; `test.loose` or more for none.
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

  /// As `find`, among the first 64 positions: each lane has two, and hashes of parts are joined over the lanes.
  template <class Warp>
  [[nodiscard]] CUTPOINT_DEVICE std::uint64_t find_early(const Warp& warp, const packed_bytes& in,
                                                         const stream_range& range, std::uint64_t begin,
                                                         const ranges& test) const {
    const auto worth = [&](std::uint64_t position) { return position < range.end ? table[in.bytes[position]] : 0; };
    const auto is_accepted = [&](std::uint64_t position, std::uint64_t hash) {
      return position < test.loose && (position < test.strict ? tests.level[0](hash) : tests.level[1](hash));
    };
    auto even = warp.template per_lane<std::uint64_t>(0);  // the hash at position 2l, and at 2l + 1
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

/// The specification of both.
struct fastcdc_specification {
  static constexpr std::uint32_t levels = 2;
  std::vector<std::uint64_t> table;
  chunk_estimates sizes = {};
  restarted_cut_finder chunks = {};  ///< without its table

  [[nodiscard]] rolling_scan<rolling_gear<std::uint64_t>, zeros_test<std::uint64_t>, levels> scan(
      const packed_bytes& in, const std::uint64_t* table_there) const {
    return {in, table_there, {.hash = {}, .tests = chunks.tests}};
  }
  [[nodiscard]] restarted_cut_finder cut_finder(const std::uint64_t* table_there) const {
    restarted_cut_finder made = chunks;
    made.table = table_there;
    return made;
  }
};

}  // namespace cutpoint::cuda
