// The kernel of `ronomon`, which adds up the table's words of eight bytes before it needs the hash before them.
//
// In H = (H >> 1) + T[b], a byte waits two cycles for the byte before. But the hash after k bytes is
//
//     H[k] = (G + T[b1] + 2 T[b2] + 4 T[b3] + ... + 2^(k-1) T[bk]) >> (k - 1),  where G = H[0] >> 1,
//
// because rounding down at the end gives the same as rounding down after each byte. So the sums do not wait for G. The
// masked bits are tested where they are before the shift, and G is shifted once for eight bytes.
#include "host/algorithms/ronomon.h"

#include "simd/cuts/kernels.h"
#include "simd/dispatch/dispatch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "simd/cuts/ronomon.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#if CUTPOINT_HAS_VECTORS
#include "simd/cuts/rolling-inl.h"

HWY_BEFORE_NAMESPACE();
namespace cutpoint::simd::HWY_NAMESPACE {

/// Finds the first byte of a range after which the masked bits of the hash are zeros.
class ronomon_search {
 public:
  ronomon_search() {
    for (std::size_t k = 0; k < step; ++k) {
      for (std::size_t byte = 0; byte < 256; ++byte) {
        words_[k][byte] = std::uint64_t{tables::ronomon_gear31[byte]} << k;
      }
    }
  }

  /// Returns the index of the byte in [first, last), or `last`. `half` is half the hash before `first`, rounded down; it
  /// is set to that before the result if this is `last`.
  std::uint64_t find(const std::uint8_t* bytes, std::uint64_t first, std::uint64_t last, std::uint64_t mask,
                     std::uint64_t& half) const {
    while (last - first >= step) {
      const std::uint64_t line_end = first + std::min(line_bytes, (last - first) / step * step);
      __builtin_prefetch(bytes + first + prefetch_distance);
      do {
        std::uint64_t sum = 0;
        for (std::size_t k = 0; k < step; ++k) {
          sum += words_[k][bytes[first + k]];
          if (((half + sum) & mask << k) == 0) [[unlikely]]
            return first + k;
        }
        half = (half + sum) >> step;
        first += step;
      } while (first != line_end);
    }
    for (; first < last; ++first) {
      const std::uint64_t hash = half + words_[0][bytes[first]];
      if ((hash & mask) == 0) return first;
      half = hash >> 1;
    }
    return last;
  }

 private:
  static constexpr std::size_t step = 8;

  std::array<std::array<std::uint64_t, 256>, step> words_;  ///< the table's words, shifted by the first index
};

class ronomon_kernel final : public instruction_set_kernel {
 public:
  ronomon_kernel(const ronomon_parameters& p, instruction_set set) : instruction_set_kernel(set), rule_(rule_of(p)) {}

  std::uint64_t cut(byte_span bytes, std::uint64_t start) const noexcept override {
    const std::uint8_t* b = bytes.data() + start;
    const std::uint64_t min = rule_.min_bytes;
    const std::uint64_t end = std::min<std::uint64_t>(rule_.max_bytes, bytes.size() - start);
    if (end <= min) return end;
    const std::uint64_t strict_end = std::clamp(rule_.strict_end, min, end);
    std::uint64_t half = 0;
    std::uint64_t i = search_.find(b, min, strict_end, rule_.strict_mask, half);
    if (i == strict_end) i = search_.find(b, strict_end, end, rule_.loose_mask, half);
    return i < end ? i + 1 : end;
  }

 private:
  ronomon_search search_;
  normalized_rule rule_;
};

kernel_pointer make_ronomon(const ronomon_parameters& p, instruction_set set) {
  return std::make_shared<ronomon_kernel>(p, set);
}

}  // namespace cutpoint::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#if HWY_ONCE
CUTPOINT_DEFINE_KERNEL(ronomon, CUTPOINT_KERNELS)
#endif
