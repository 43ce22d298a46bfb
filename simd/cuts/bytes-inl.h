// Searches in bytes that the algorithms without a hash share.

#if defined(CUTPOINT_SIMD_BYTES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef CUTPOINT_SIMD_BYTES_INL_H_
#undef CUTPOINT_SIMD_BYTES_INL_H_
#else
#define CUTPOINT_SIMD_BYTES_INL_H_
#endif

#include <bit>
#include <cstdint>

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
  static byte_vector better(byte_vector a, byte_vector b) { return hn::Max(a, b); }
};

/// An order in which smaller bytes are better.
struct downward {
  static constexpr std::uint8_t best = 0;
  static constexpr std::uint8_t worst = 255;
  static std::uint8_t next_better(std::uint8_t value) { return static_cast<std::uint8_t>(value - 1); }
  static bool reaches(std::uint8_t byte, std::uint8_t value) { return byte <= value; }
  static byte_vector better(byte_vector a, byte_vector b) { return hn::Min(a, b); }
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

/// Returns the largest byte of the vector.
HWY_INLINE std::uint8_t largest_lane(byte_vector v) {
  const hn::CappedTag<std::uint8_t, 16> block_d;
  const auto reduced = [block_d](auto wide, auto&& reduce) HWY_ATTR {
    const hn::DFromV<decltype(wide)> d;
    if constexpr (hn::MaxLanes(d) > hn::MaxLanes(block_d)) {
      const hn::Half<decltype(d)> half_d;
      return reduce(hn::Max(hn::LowerHalf(half_d, wide), hn::UpperHalf(half_d, wide)), reduce);
    } else {
      auto v16 = hn::Max(wide, hn::ShiftRightBytes<8>(d, wide));
      v16 = hn::Max(v16, hn::ShiftRightBytes<4>(d, v16));
      v16 = hn::Max(v16, hn::ShiftRightBytes<2>(d, v16));
      return hn::GetLane(hn::Max(v16, hn::ShiftRightBytes<1>(d, v16)));
    }
  };
  return reduced(v, reduced);
}

/// Returns the first index in [first, last) whose byte reaches `value`, or `last`.
template <class Order>
HWY_INLINE std::uint64_t find_reaching(const std::uint8_t* bytes, std::uint64_t first, std::uint64_t last,
                                       std::uint8_t value) {
  const byte_vector wanted = hn::Set(bytes_d, value);
  const auto at = [bytes](std::uint64_t i) HWY_ATTR { return hn::LoadU(bytes_d, bytes + i); };
  std::uint64_t i = first;
  for (; i + 4 * lanes <= last; i += 4 * lanes) {
    const byte_vector best =
        Order::better(Order::better(at(i), at(i + lanes)), Order::better(at(i + 2 * lanes), at(i + 3 * lanes)));
    if (!hn::AllFalse(bytes_d, reaching<Order>(best, wanted))) break;
  }
  for (; i + lanes <= last; i += lanes) {
    const std::uint64_t bits = bits_of(reaching<Order>(at(i), wanted));
    if (bits != 0) return i + static_cast<std::uint64_t>(std::countr_zero(bits));
  }
  if (i < last && last - first >= lanes) {  // a vector of the remaining bytes and earlier bytes that do not reach it
    const std::uint64_t bits = bits_of(reaching<Order>(at(last - lanes), wanted));
    return bits != 0 ? last - lanes + static_cast<std::uint64_t>(std::countr_zero(bits)) : last;
  }
  while (i < last && !Order::reaches(bytes[i], value)) ++i;
  return i;
}

/// Returns the last index before `end` whose byte is `value`. The whole vectors before `end` must contain one.
HWY_INLINE std::uint64_t find_last(const std::uint8_t* bytes, std::uint64_t end, std::uint8_t value) {
  const byte_vector wanted = hn::Set(bytes_d, value);
  std::uint64_t bits = 0;
  while (bits == 0) {
    end -= lanes;
    bits = bits_of(hn::Eq(hn::LoadU(bytes_d, bytes + end), wanted));
  }
  return end + 63 - static_cast<std::uint64_t>(std::countl_zero(bits));
}

}  // namespace cutpoint::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
