// The kernels of `rabin`, with the profile `restic`, and of `tttd`.
#include "host/algorithms/rabin.h"

#include "simd/cuts/kernels.h"
#include "simd/dispatch/dispatch.h"
#include "simd/scans/scanners.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "simd/cuts/rabin.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#if CUTPOINT_HAS_VECTORS
#include "simd/cuts/rolling-inl.h"

HWY_BEFORE_NAMESPACE();
namespace cutpoint::simd::HWY_NAMESPACE {

inline constexpr std::size_t rabin_streams = 4;
using zeroed_rabin_hash = zeroed_hash<rabin_hash>;

kernel_pointer make_rabin(const rabin_parameters& p, instruction_set set) {
  const masked_test test = test_of(p);
  return std::make_shared<windowed_kernel<zeroed_rabin_hash, zeros_test, rabin_streams>>(
      set, zeroed_rabin_hash(rabin_hash(p.polynomial, p.window_bytes), test.pattern), zeros_test{test.mask},
      p.avg_bytes, *p.min_bytes, *p.max_bytes,
      make_linear_scanner(linear_rabin(p.polynomial, p.window_bytes), std::array{test}, set));
}

/// A hash that matches the divisor also matches half of it. So the search looks for backup cuts, and tests each of them
/// for the full divisor.
class tttd_kernel final : public instruction_set_kernel {
 public:
  tttd_kernel(const tttd_parameters& p, instruction_set set)
      : instruction_set_kernel(set, make_linear_scanner(linear_rabin(p.polynomial, p.window_bytes),
                                                        std::array{main_test(p), backup_test(p)}, set)),
        is_main_{low_mask(p.avg_bytes)},
        search_(zeroed_rabin_hash(rabin_hash(p.polynomial, p.window_bytes), lbfs_pattern & is_main_.mask),
                zeros_test{low_mask(p.avg_bytes / 2)}, p.avg_bytes / 2),
        min_(*p.min_bytes),
        max_(limit_of(*p.max_bytes)) {}

  std::uint64_t cut(byte_span bytes, std::uint64_t start) const noexcept override {
    const std::uint8_t* b = bytes.data() + start;
    const std::uint64_t end = std::min<std::uint64_t>(max_, bytes.size() - start);
    if (end < min_) return end;
    const zeroed_rabin_hash& hash = search_.hash();
    const std::uint64_t window = hash.window();
    std::uint64_t backup = end;
    std::uint64_t value = hash.over(b + min_ - window);
    for (std::uint64_t length = min_;; ++length) {
      length = search_.find(b, length, end, value);
      if (length == end) break;
      if (is_main_(value)) return length;
      backup = length;
      value = hash.roll(value, b[length - window], b[length]);
    }
    return end == max_ && !search_.accepts(value) ? backup : end;
  }

 private:
  zeros_test is_main_;
  rolling_search<zeroed_rabin_hash, zeros_test, rabin_streams> search_;
  std::uint64_t min_;
  std::uint64_t max_;
};

kernel_pointer make_tttd(const tttd_parameters& p, instruction_set set) {
  return std::make_shared<tttd_kernel>(p, set);
}

}  // namespace cutpoint::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#if HWY_ONCE
CUTPOINT_DEFINE_KERNEL(rabin, CUTPOINT_KERNELS_WITH_DL)
CUTPOINT_DEFINE_KERNEL(tttd, CUTPOINT_KERNELS_WITH_DL)
#endif
