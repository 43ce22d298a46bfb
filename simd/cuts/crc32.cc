// The kernel of `crc32`, which uses the processor's CRC-32C instruction if it has one.
#include "host/algorithms/crc32.h"

#include "simd/cuts/kernels.h"
#include "simd/dispatch/dispatch.h"
#include "simd/scans/scanners.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "simd/cuts/crc32.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#if CUTPOINT_HAS_VECTORS
#include "simd/cuts/rolling-inl.h"

HWY_BEFORE_NAMESPACE();
namespace cutpoint::simd::HWY_NAMESPACE {

#if HWY_ARCH_X86
class processor_crc32_hash : public crc32_hash {
 public:
  using crc32_hash::crc32_hash;
  std::uint32_t absorb(std::uint32_t hash, std::uint8_t incoming) const { return _mm_crc32_u8(hash, incoming); }
};
#else
using processor_crc32_hash = crc32_hash;
#endif

kernel_pointer make_crc32(const crc32_parameters& p, instruction_set set) {
  using hash = zeroed_hash<processor_crc32_hash>;
  const masked_test test = test_of(p);
  return std::make_shared<windowed_kernel<hash, zeros_test, 3>>(
      set, hash(processor_crc32_hash(p.window_bytes), static_cast<std::uint32_t>(test.pattern)), zeros_test{test.mask},
      p.avg_bytes, *p.min_bytes, *p.max_bytes,
      make_linear_scanner(linear_crc32(p.window_bytes), std::array{test}, set));
}

}  // namespace cutpoint::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#if HWY_ONCE
CUTPOINT_DEFINE_KERNEL(crc32, CUTPOINT_KERNELS_WITH_DL)
#endif
