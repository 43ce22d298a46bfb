// The kernel of `adler`.
#include "host/algorithms/adler.h"

#include "simd/cuts/kernels.h"
#include "simd/dispatch/dispatch.h"
#include "simd/scans/scanners.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "simd/cuts/adler.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#if CUTPOINT_HAS_VECTORS
#include "simd/cuts/rolling-inl.h"

HWY_BEFORE_NAMESPACE();
namespace cutpoint::simd::HWY_NAMESPACE {

/// A hash that is one more than the sum that is tested: all ones become all zeros.
class next_adler_hash : public adler_hash {
 public:
  using adler_hash::adler_hash;
  static sums begin() { return {0, 1}; }
  sums over(const std::uint8_t* bytes) const {
    sums hash = adler_hash::over(bytes);
    ++hash.s2;
    return hash;
  }
};

struct adler_test {
  std::uint32_t mask;
  bool operator()(const adler_hash::sums& hash) const { return (hash.s2 & mask) == 0; }
};

kernel_pointer make_adler(const adler_parameters& p, instruction_set set) {
  const masked_test test = test_of(p);
  return std::make_shared<windowed_kernel<next_adler_hash, adler_test, 1>>(
      set, next_adler_hash(p.window_bytes), adler_test{static_cast<std::uint32_t>(test.mask)}, p.avg_bytes,
      *p.min_bytes, *p.max_bytes, make_adler_scanner(adler_hash(p.window_bytes), test, set));
}

}  // namespace cutpoint::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#if HWY_ONCE
CUTPOINT_DEFINE_KERNEL(adler, CUTPOINT_KERNELS_WITH_DL)
#endif
