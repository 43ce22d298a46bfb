// Searches in bytes that the algorithms without a hash share.

#if defined(CUTPOINT_SIMD_BYTES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef CUTPOINT_SIMD_BYTES_INL_H_
#undef CUTPOINT_SIMD_BYTES_INL_H_
#else
#define CUTPOINT_SIMD_BYTES_INL_H_
#endif

#include <algorithm>
#include <bit>
#include <cstdint>
#include <type_traits>

#include <hwy/cache_control.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace cutpoint::simd::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using byte_tag = hn::ScalableTag<std::uint8_t>;
using byte_vector = hn::Vec<byte_tag>;
inline constexpr byte_tag bytes_d = {};
inline constexpr std::uint64_t lanes = hn::MaxLanes(byte_tag());  ///< bytes in a vector

/// An order in which larger bytes are better.
struct upward {
  static constexpr std::uint8_t best = 255;
  static constexpr std::uint8_t worst = 0;
  static std::uint8_t next_better(std::uint8_t value) { return static_cast<std::uint8_t>(value + 1); }
  static bool reaches(std::uint8_t byte, std::uint8_t value) { return byte >= value; }
  template <class Vector>
  static HWY_INLINE Vector better(Vector a, Vector b) {
    return hn::Max(a, b);
  }
};

/// An order in which smaller bytes are better.
struct downward {
  static constexpr std::uint8_t best = 0;
  static constexpr std::uint8_t worst = 255;
  static std::uint8_t next_better(std::uint8_t value) { return static_cast<std::uint8_t>(value - 1); }
  static bool reaches(std::uint8_t byte, std::uint8_t value) { return byte <= value; }
  template <class Vector>
  static HWY_INLINE Vector better(Vector a, Vector b) {
    return hn::Min(a, b);
  }
};

/// Returns one bit for each byte of the vector, with the first byte in the lowest bit. Highway's own function goes
/// through memory, which makes SeqCDC half as fast.
HWY_INLINE std::uint64_t bits_of(hn::Mask<byte_tag> mask) {
#if HWY_TARGET == HWY_AVX3
  return mask.raw;
#elif HWY_TARGET == HWY_AVX2
  return static_cast<std::uint32_t>(_mm256_movemask_epi8(hn::VecFromMask(bytes_d, mask).raw));
#elif HWY_TARGET == HWY_SSE4
  return static_cast<std::uint32_t>(_mm_movemask_epi8(hn::VecFromMask(bytes_d, mask).raw));
#else
  std::uint64_t bits = 0;
  hn::StoreMaskBits(bytes_d, mask, reinterpret_cast<std::uint8_t*>(&bits));
  return bits;
#endif
}

template <class Order>
HWY_INLINE hn::Mask<byte_tag> reaching(byte_vector v, byte_vector value) {
  return hn::Eq(Order::better(v, value), v);
}

template <class Order>
HWY_INLINE std::uint8_t best_lane(byte_vector v) {
  const hn::CappedTag<std::uint8_t, 16> block_d;
  const auto reduced = [block_d](auto wide, auto&& reduce) HWY_ATTR {
    const hn::DFromV<decltype(wide)> d;
    if constexpr (hn::MaxLanes(d) > hn::MaxLanes(block_d)) {
      const hn::Half<decltype(d)> half_d;
      return reduce(Order::better(hn::LowerHalf(half_d, wide), hn::UpperHalf(half_d, wide)), reduce);
    } else {
      auto v16 = Order::better(wide, hn::CombineShiftRightBytes<8>(d, wide, wide));
      v16 = Order::better(v16, hn::CombineShiftRightBytes<4>(d, v16, v16));
      v16 = Order::better(v16, hn::CombineShiftRightBytes<2>(d, v16, v16));
      return hn::GetLane(Order::better(v16, hn::CombineShiftRightBytes<1>(d, v16, v16)));
    }
  };
  return reduced(v, reduced);
}

inline constexpr std::uint64_t line_bytes = 64;

/// Prefetches the lines with the bytes [offset, offset + count) after `position`, which may lie past the end of the
/// bytes. Reads no byte.
HWY_INLINE void prefetch(const std::uint8_t* position, std::uint64_t offset, std::uint64_t count) {
  const auto begin = reinterpret_cast<std::uintptr_t>(position) + offset;
  for (std::uint64_t i = 0; i < count; i += line_bytes) {
    // NOLINTNEXTLINE(performance-no-int-to-ptr): no pointer may be moved past the bytes
    hwy::Prefetch(reinterpret_cast<const std::uint8_t*>(begin + i));
  }
}

/// Returns the number of bytes after `position` to the next multiple of a vector, at least 1.
HWY_INLINE std::uint64_t bytes_to_alignment(const std::uint8_t* position) {
  return lanes - reinterpret_cast<std::uintptr_t>(position) % lanes;
}

/// Returns the first index in [first, last) whose byte reaches `value`, or `last`. The range has at least one vector.
/// Passes all vectors that were compared before to `visit`; together they contain each byte before that index.
///
/// Vectors are aligned but for the first and the last, because one that crosses a line is loaded in two parts. A search
/// that is over soon must not wait for lines that it does not need: it compares 128 bytes at a time. A longer one
/// prefetches. In DRAM this raised AE's speed on text from 0.76 to 0.93 of a plain read (Emerald Rapids); other
/// distances gained less.
template <class Order, class Visit>
HWY_INLINE std::uint64_t find_reaching_in_vectors(const std::uint8_t* bytes, std::uint64_t first, std::uint64_t last,
                                                  std::uint8_t value, Visit&& visit) {
  constexpr std::uint64_t near_bytes = 1 * KiB;
  constexpr std::uint64_t ahead_bytes = 4 * KiB;
  const byte_vector wanted = hn::Set(bytes_d, value);
  const auto at = [bytes](std::uint64_t i) HWY_ATTR { return hn::LoadU(bytes_d, bytes + i); };
  const auto bits_at = [&](std::uint64_t i) HWY_ATTR { return bits_of(reaching<Order>(at(i), wanted)); };
  std::uint64_t i = first;
  // Compares `count` vectors from i on. Returns whether one reaches the value, and else passes them.
  const auto is_reached = [&](auto count) HWY_ATTR __attribute__((always_inline)) {
    byte_vector best = at(i);
    for (std::uint64_t k = 1; k < count; ++k) best = Order::better(best, at(i + k * lanes));
    if (!hn::AllFalse(bytes_d, reaching<Order>(best, wanted))) return true;
    visit(best);
    i += count * lanes;
    return false;
  };
  // Returns the first index that reaches the value in the `count` vectors from i on, one of which does.
  const auto index_in = [&](auto count) HWY_ATTR __attribute__((always_inline)) {
    std::uint64_t match = 0;
    for (std::uint64_t k = count; k-- > 0;) {
      const std::uint64_t bits = bits_at(i + k * lanes);
      if (bits != 0) match = k * lanes + static_cast<std::uint64_t>(std::countr_zero(bits));
    }
    return i + match;
  };
  constexpr std::integral_constant<std::uint64_t, 1> one;
  constexpr std::integral_constant<std::uint64_t, lanes == 64 ? 2 : 4> few;
  constexpr std::integral_constant<std::uint64_t, 4> many;
  if (is_reached(one)) return index_in(one);
  i = first + bytes_to_alignment(bytes + first);
  for (const std::uint64_t near = std::min(last, i + near_bytes); i + few * lanes <= near;) {
    if (is_reached(few)) return index_in(few);
  }
  while (i + many * lanes <= last) {
    prefetch(bytes + i, ahead_bytes, many * lanes);
    if (is_reached(many)) return index_in(many);
  }
  while (i + lanes <= last) {
    if (is_reached(one)) return index_in(one);
  }
  i = last - lanes;
  return is_reached(one) ? index_in(one) : last;
}

/// Returns the first index in [first, last) whose byte reaches `value`, or `last`.
template <class Order>
HWY_INLINE std::uint64_t find_reaching(const std::uint8_t* bytes, std::uint64_t first, std::uint64_t last,
                                       std::uint8_t value) {
  if (first + lanes <= last) return find_reaching_in_vectors<Order>(bytes, first, last, value, [](byte_vector) {});
  while (first < last && !Order::reaches(bytes[first], value)) ++first;
  return first;
}

struct best_byte {
  std::uint8_t value;
  std::uint64_t index;  ///< that of the first byte that nothing beats, or the end of the range
};

/// Returns the best byte of [first, last), which is not empty. Reads no further than to a byte that nothing beats.
template <class Order>
HWY_INLINE best_byte find_best(const std::uint8_t* bytes, std::uint64_t first, std::uint64_t last) {
  if (first + lanes <= last) {
    byte_vector best = hn::Set(bytes_d, Order::worst);
    const std::uint64_t index = find_reaching_in_vectors<Order>(
        bytes, first, last, Order::best, [&best](byte_vector v) HWY_ATTR { best = Order::better(best, v); });
    return {index != last ? Order::best : best_lane<Order>(best), index};
  }
  std::uint8_t best = Order::worst;
  for (; first < last && best != Order::best; ++first) {
    if (Order::reaches(bytes[first], best)) best = bytes[first];
  }
  return {best, best == Order::best ? first - 1 : last};
}

/// Returns the last index in [first, last) whose byte is `value`. The range has such a byte, and at least a vector.
HWY_INLINE std::uint64_t find_last(const std::uint8_t* bytes, std::uint64_t first, std::uint64_t last,
                                   std::uint8_t value) {
  const byte_vector wanted = hn::Set(bytes_d, value);
  std::uint64_t bits = 0;
  while (bits == 0) {
    last = std::max(first + lanes, last) - lanes;
    bits = bits_of(hn::Eq(hn::LoadU(bytes_d, bytes + last), wanted));
  }
  return last + 63 - static_cast<std::uint64_t>(std::countl_zero(bits));
}

}  // namespace cutpoint::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
