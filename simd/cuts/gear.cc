// The kernel of `gear`, with the profile `xet`.
#include "host/algorithms/gear.h"

#include "simd/cuts/kernels.h"
#include "simd/dispatch/dispatch.h"
#include "simd/scans/scanners.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "simd/cuts/gear.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#if CUTPOINT_HAS_VECTORS
#include "simd/cuts/rolling-inl.h"

HWY_BEFORE_NAMESPACE();
namespace cutpoint::simd::HWY_NAMESPACE {

kernel_pointer make_gear(const gear_parameters& p, instruction_set set) {
  const gear64_table& table = table_of(p.table);
  const std::uint64_t mask = top_mask(log2_of(p.avg_bytes));
  scanner_pointer scanner = set == instruction_set::avx512_dl ? make_gear_scanner(table, std::array{mask}) : nullptr;
  return std::make_shared<windowed_kernel<gear_hash, zeros_test, 1>>(
      set, gear_hash(table), zeros_test{mask}, p.avg_bytes, *p.min_bytes, *p.max_bytes, std::move(scanner));
}

}  // namespace cutpoint::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#if HWY_ONCE
CUTPOINT_DEFINE_KERNEL(gear, CUTPOINT_KERNELS_WITH_DL)
#endif
