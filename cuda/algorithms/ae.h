// Asymmetric extremum, `ae-max` and `ae-min`. The cut finder searches one window at a time for the largest value that
// beats the extreme.
//
// No cut lies before the end of the extreme's window, even if the window contains new extremes. The last of these is
// the window's largest value (the first of several equal ones). So each value is read once. For `ae-min` all bits are
// inverted, which makes the smallest value the largest.
#pragma once

#include "cuda/cut/specification.h"
#include "cuda/kernel/warp_search.h"

namespace cutpoint::cuda {

namespace ae_detail {

struct byte_values {
  using value = std::uint32_t;
  using loaded = bytes16;
  static constexpr std::uint32_t bytes = 1;
  static constexpr std::uint32_t loads_per_step = 2;
  static constexpr value unbeatable = 255;

  [[nodiscard]] CUTPOINT_DEVICE static loaded load(const packed_bytes& in, std::uint32_t flip, std::uint64_t position,
                                                   std::uint64_t last) {
    return flipped(load_vector(in, position, last), flip);
  }
  /// Replaces `best` by the largest value whose bit in `bits` is set, if that is larger. The position that is stored is
  /// that of the first of the sixteen bytes.
  CUTPOINT_DEVICE static void take(ranked<value>& best, const loaded& vector, std::uint64_t position,
                                   std::uint32_t bits) {
    largest_byte largest;
    largest.add(only(vector, bits));
    if (largest.value() > best.value) best = {largest.value(), position};
  }
  /// Returns the position in [first, last) of the value that `take` has found.
  [[nodiscard]] CUTPOINT_DEVICE static std::uint64_t place(const packed_bytes& in, std::uint32_t flip,
                                                           const ranked<value>& best, std::uint64_t first,
                                                           std::uint64_t last) {
    const bytes16 vector = load(in, flip, best.position, last);
    return best.position + lowest_bit(reaching(vector, four_of(best.value)) &
                                      offsets::of(best.position, lane_load_bytes, first, last).among_sixteen(0));
  }
};

/// Values of eight bytes, big-endian.
struct word_values {
  using value = std::uint64_t;
  struct loaded {
    std::uint32_t words[6];
  };
  static constexpr std::uint32_t bytes = 8;
  static constexpr std::uint32_t loads_per_step = 2;
  static constexpr value unbeatable = ~value{0};

  [[nodiscard]] CUTPOINT_DEVICE static loaded load(const packed_bytes& in, std::uint32_t flip, std::uint64_t position,
                                                   std::uint64_t last) {
    const std::uint64_t end = last + bytes - 1;
    const bytes16 vector = load_vector(in, position, end);
    loaded all = {};
    CUTPOINT_UNROLL
    for (std::uint32_t w = 0; w < 4; ++w) all.words[w] = vector.words[w] ^ flip;
    const std::uint64_t next = position + sizeof(bytes16);
    if (next >= end) return all;
    CUTPOINT_UNROLL
    for (std::uint32_t w = 0; w < 2; ++w) {
      all.words[4 + w] = reinterpret_cast<const std::uint32_t*>(in.bytes + next)[w] ^ flip;
    }
    return all;
  }
  CUTPOINT_DEVICE static void take(ranked<value>& best, const loaded& all, std::uint64_t position, std::uint32_t bits) {
    constexpr std::uint32_t none = 16;
    std::uint32_t index = none;
    CUTPOINT_UNROLL
    for (std::uint32_t i = 0; i < 16; ++i) {
      const value candidate = value{big_endian(all, i)} << 32 | big_endian(all, i + 4);
      if ((bits >> i & 1) == 0 || candidate <= best.value) continue;
      best.value = candidate;
      index = i;
    }
    if (index != none) best.position = position + index;
  }
  [[nodiscard]] CUTPOINT_DEVICE static std::uint64_t place(const packed_bytes&, std::uint32_t,
                                                           const ranked<value>& best, std::uint64_t, std::uint64_t) {
    return best.position;
  }

 private:
  /// Returns the big-endian number of the four bytes from index `i` on.
  [[nodiscard]] CUTPOINT_DEVICE static std::uint32_t big_endian(const loaded& all, std::uint32_t i) {
    const std::uint32_t low = all.words[i / 4];
    const std::uint32_t high = i / 4 < 5 ? all.words[i / 4 + 1] : 0;
    return big_endian_of(low, high, i % 4);
  }
};

/// Returns the first of the largest values that begin in [first, last) if it is larger than `best`, otherwise `best`.
template <class Values, class Warp>
[[nodiscard]] CUTPOINT_DEVICE ranked<typename Values::value> beating(const Warp& warp, const packed_bytes& in,
                                                                     std::uint32_t flip, std::uint64_t first,
                                                                     std::uint64_t last,
                                                                     const ranked<typename Values::value>& best) {
  using value = typename Values::value;
  auto mine = warp.template per_lane<ranked<value>>({best.value, ~std::uint64_t{0}});
  const auto load = [&](std::uint64_t position) { return Values::load(in, flip, position, last); };
  walk_steps<Values::loads_per_step>(warp, first, last, load, [&](std::uint64_t base, auto& loaded) {
    const offsets sought = offsets::of(base, Values::loads_per_step * warp_load_bytes, first, last);
    const bool is_over = warp.any([&](std::uint32_t lane) {
      CUTPOINT_UNROLL
      for (std::uint32_t r = 0; r < Values::loads_per_step; ++r) {
        const std::uint32_t offset = r * warp_load_bytes + lane * lane_load_bytes;
        Values::take(mine[lane], loaded[lane].vector[r], base + offset, sought.among_sixteen(offset));
      }
      return mine[lane].value == Values::unbeatable;
    });
    return is_over ? last : base + Values::loads_per_step * warp_load_bytes;
  });
  const ranked<value> largest = warp_first_max<value>(warp, mine);
  if (largest.value == best.value) return best;
  return {largest.value, Values::place(in, flip, largest, first, last)};
}

}  // namespace ae_detail

struct ae_cut_finder {
  std::uint64_t window = 0;
  std::uint64_t max = 0;    ///< all ones for no maximum
  std::uint64_t reach = 0;  ///< the maximum, and the rest of the value that begins with its last byte
  std::uint64_t lest = 0;   ///< length of a run at the chunk's start that is a chunk; 0 for none
  std::uint32_t value_bytes = 1;
  std::uint32_t flip = 0;  ///< all ones for `ae-min`

  template <class Warp>
  [[nodiscard]] CUTPOINT_DEVICE std::uint64_t next_cut(const Warp& warp, const packed_bytes& in,
                                                       const stream_range& range, std::uint64_t start) const {
    const std::uint64_t end = start + least(max, range.end - start);
    if (lest != 0 && lest <= end - start) {
      const std::uint32_t turned = four_of(in.bytes[start]);  // bytes that equal the first become 0
      if (find_reaching(warp, in, turned, 1, start + 1, start + lest) == start + lest) return start + lest;
    }
    return value_bytes == 1 ? cut_by<ae_detail::byte_values>(warp, in, range, start, end)
                            : cut_by<ae_detail::word_values>(warp, in, range, start, end);
  }

 private:
  template <class Values, class Warp>
  [[nodiscard]] CUTPOINT_DEVICE std::uint64_t cut_by(const Warp& warp, const packed_bytes& in,
                                                     const stream_range& range, std::uint64_t start,
                                                     std::uint64_t end) const {
    if (range.end - start < Values::bytes) return end;  // too few bytes for a value
    const std::uint64_t past_values = range.end - (Values::bytes - 1);
    ranked<typename Values::value> extreme = {0, start};
    for (std::uint64_t seen = start;;) {
      const std::uint64_t window_end = end - extreme.position > window ? extreme.position + window + 1 : end;
      if (seen >= window_end || extreme.value == Values::unbeatable) return window_end;
      extreme = ae_detail::beating<Values>(warp, in, flip, seen, least(window_end, past_values), extreme);
      seen = window_end;
    }
  }
};

using ae_specification = walking_specification<ae_cut_finder>;

}  // namespace cutpoint::cuda
