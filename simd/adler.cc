// Rolling Adler-32 sum, `adler`: several positions in flight.
#include "host/algorithms/adler.h"
#include "simd/dispatch.h"
#include "simd/kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "simd/adler.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#if CUTPOINT_HAS_VECTORS
#include "simd/rolling-inl.h"

HWY_BEFORE_NAMESPACE();
namespace cutpoint::simd::HWY_NAMESPACE {

struct adler_test {
  masked_test of_word;
  bool operator()(const adler_hash::sums& hash) const { return of_word(adler_hash::word(hash)); }
};

made_kernel make_adler(const adler_parameters& p, instruction_set set) {
  return std::make_shared<windowed_kernel<adler_hash, adler_test, 1>>(
      set, adler_hash(p.window_bytes), adler_test{masked_test::low(p.avg_bytes, ~std::uint64_t{0})}, p.avg_bytes,
      *p.min_bytes, *p.max_bytes);
}

}  // namespace cutpoint::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#if HWY_ONCE
namespace cutpoint::simd {

made_kernel make_kernel(const adler_parameters& filled, instruction_set set) {
  return make_by<adler_parameters>(CUTPOINT_KERNELS(make_adler), filled, set);
}

}  // namespace cutpoint::simd
#endif
