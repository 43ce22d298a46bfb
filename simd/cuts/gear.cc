// The kernel of `gear`, with the profile `xet`.
#include "host/algorithms/gear.h"

#include "simd/cuts/kernels.h"
#include "simd/dispatch/dispatch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "simd/cuts/gear.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#if CUTPOINT_HAS_VECTORS
#include "simd/cuts/rolling-inl.h"

HWY_BEFORE_NAMESPACE();
namespace cutpoint::simd::HWY_NAMESPACE {

kernel_pointer make_gear(const gear_parameters& p, instruction_set set) {
  return std::make_shared<windowed_kernel<gear_hash, zeros_test, 1>>(set, gear_hash(table_of(p.table)),
                                                                     zeros_test{top_mask(log2_of(p.avg_bytes))},
                                                                     p.avg_bytes, *p.min_bytes, *p.max_bytes);
}

}  // namespace cutpoint::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#if HWY_ONCE
namespace cutpoint::simd {

kernel_pointer make_kernel(const gear_parameters& filled, instruction_set set) {
  return make_by<gear_parameters>(CUTPOINT_KERNELS(make_gear), filled, set);
}

}  // namespace cutpoint::simd
#endif
