// The kernel of MinCDC (`mincdc4` and `mincdchash4`): it finds the smallest hash and the block that has it, and then
// the first position in that block.
#include "host/algorithms/mincdc.h"

#include "simd/cuts/kernels.h"
#include "simd/dispatch/dispatch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "simd/cuts/mincdc.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#if CUTPOINT_HAS_VECTORS
#include "simd/cuts/bytes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace cutpoint::simd::HWY_NAMESPACE {

/// Hashes of windows, which are 4 bytes each. `is_hashed` is false if each hash is the window itself.
template <bool is_hashed>
class window_hashes {
 public:
  static constexpr hn::Repartition<std::uint32_t, byte_tag> d = {};
  using words = hn::Vec<decltype(d)>;

  explicit window_hashes(const mincdc_hash& hash)
      : multiplier_(hn::Set(d, hash.multiplier)), addend_(hn::Set(d, hash.addend)) {}

  /// Returns in vector lane k the smallest hash of the windows 4k to 4k + 3 after `b`. Reads `lanes + 3` bytes.
  [[nodiscard]] HWY_INLINE words smallest(const std::uint8_t* b) const {
    return hn::Min(hn::Min(every_fourth(b), every_fourth(b + 1)), hn::Min(every_fourth(b + 2), every_fourth(b + 3)));
  }

 private:
  HWY_INLINE words every_fourth(const std::uint8_t* b) const {
    const words windows = hn::BitCast(d, hn::LoadU(bytes_d, b));
    return is_hashed ? hn::Add(hn::Mul(windows, multiplier_), addend_) : windows;
  }

  words multiplier_;
  words addend_;
};

template <bool is_hashed>
class mincdc_kernel final : public instruction_set_kernel {
 public:
  mincdc_kernel(const mincdc_parameters& p, instruction_set set)
      : instruction_set_kernel(set),
        hash_(p),
        min_(std::max(*p.min_bytes, mincdc_hash::window_bytes)),
        max_(*p.max_bytes) {}

  std::uint64_t cut(byte_span bytes, std::uint64_t start) const noexcept override {
    const std::uint64_t end = std::min<std::uint64_t>(max_, bytes.size() - start);
    if (end < min_) return end;
    const std::uint8_t* b = bytes.data() + start + (min_ - mincdc_hash::window_bytes);
    const std::uint64_t count = end - min_ + 1;
    return min_ + (count < lanes ? first_smallest_of_few(b, count) : first_smallest(b, count));
  }

 private:
  static constexpr std::uint64_t block_bytes = 512;
  static constexpr std::uint64_t ahead_bytes = 12 * KiB;

  [[nodiscard]] std::uint32_t hash_at(const std::uint8_t* b, std::uint64_t i) const {
    return hash_.before(b + i + mincdc_hash::window_bytes);
  }

  [[nodiscard]] std::uint64_t first_smallest_of_few(const std::uint8_t* b, std::uint64_t count) const {
    std::uint64_t smallest = 0;
    for (std::uint64_t i = 1; i < count; ++i) {
      if (hash_at(b, i) < hash_at(b, smallest)) smallest = i;
    }
    return smallest;
  }

  /// Returns the first of the windows 0 to `count` - 1 after `b` that have the smallest hash. `count` is at least
  /// `lanes`.
  ///
  /// One comparison for each block costs less than to keep the place of each smallest hash. On Emerald Rapids, random
  /// bytes in memory are cut 1.3 times as fast with the prefetches as without.
  [[nodiscard]] std::uint64_t first_smallest(const std::uint8_t* b, std::uint64_t count) const {
    const window_hashes<is_hashed> hashes(hash_);
    const auto d = hashes.d;
    const std::uint64_t last = count - lanes;
    auto smallest = hn::Set(d, ~std::uint32_t{0});
    auto block_of = hn::Zero(d);
    const auto take_block = [&](std::uint64_t begin, auto now) HWY_ATTR {
      const auto block = hn::Set(d, static_cast<std::uint32_t>(begin / block_bytes));
      block_of = hn::IfThenElse(hn::Eq(now, smallest), block_of, block);
      smallest = now;
    };
    std::uint64_t i = 0;
    for (; i + block_bytes <= count; i += block_bytes) {
      auto here = smallest;
      for (std::uint64_t k = 0; k < block_bytes; k += lanes) {
        prefetch(b, i + k + ahead_bytes, lanes);
        here = hn::Min(here, hashes.smallest(b + i + k));
      }
      take_block(i, here);
    }
    if (i < count) {
      auto here = hn::Min(smallest, hashes.smallest(b + last));
      for (std::uint64_t k = i; k < last; k += lanes) here = hn::Min(here, hashes.smallest(b + k));
      take_block(i, here);
    }
    const auto wanted = hn::MinOfLanes(d, smallest);
    const auto no_block = hn::Set(d, ~std::uint32_t{0});
    const auto first_block = hn::MinOfLanes(d, hn::IfThenElse(hn::Eq(smallest, wanted), block_of, no_block));
    i = std::min(hn::GetLane(first_block) * block_bytes, last);
    auto here = hn::Eq(hashes.smallest(b + i), wanted);
    while (hn::AllFalse(d, here)) {
      i = std::min(i + lanes, last);
      here = hn::Eq(hashes.smallest(b + i), wanted);
    }
    i += mincdc_hash::window_bytes * hn::FindKnownFirstTrue(d, here);
    while (hash_at(b, i) != hn::GetLane(wanted)) ++i;
    return i;
  }

  mincdc_hash hash_;
  std::uint64_t min_;  ///< of lengths that have a hash
  std::uint64_t max_;
};

kernel_pointer make_mincdc(const mincdc_parameters& p, instruction_set set) {
  if (p.multiplier == 1 && p.addend == 0) return std::make_shared<mincdc_kernel<false>>(p, set);
  return std::make_shared<mincdc_kernel<true>>(p, set);
}

}  // namespace cutpoint::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#if HWY_ONCE
CUTPOINT_DEFINE_KERNEL(mincdc, CUTPOINT_KERNELS)
#endif
