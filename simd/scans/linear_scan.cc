// Makes the scanners of the hashes that are linear over GF(2).
#include <bit>
#include <cmath>
#include <cstring>
#include <type_traits>
#include <vector>

#include "simd/dispatch/dispatch.h"
#include "simd/scans/lane_scanner.h"
#include "simd/scans/scanners.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "simd/scans/linear_scan.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

// With 16 lanes a scan is as fast as the loop.
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
HWY_BEFORE_NAMESPACE();
namespace cutpoint::simd::HWY_NAMESPACE {
#define CUTPOINT_HAS_GFNI 0
#include "simd/scans/linear_scan-inl.h"
#undef CUTPOINT_HAS_GFNI
}  // namespace cutpoint::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#if HWY_TARGET == HWY_AVX3
CUTPOINT_BEFORE_AVX512_DL;
namespace cutpoint::simd::avx512_dl {
#define CUTPOINT_HAS_GFNI 1
#include "simd/scans/linear_scan-inl.h"
#undef CUTPOINT_HAS_GFNI
}  // namespace cutpoint::simd::avx512_dl
CUTPOINT_AFTER_AVX512_DL;
#endif

#if HWY_ONCE
namespace cutpoint::simd {
namespace {

using scan_maker = std::unique_ptr<const candidate_scanner> (*)(const linear_hash&, std::span<const masked_test>,
                                                                masked_test common);

/// Returns a test that accepts what any of the tests accepts. It compares bits of the lowest byte, and tests bits of
/// the next byte for zeros.
masked_test common_test(std::span<const masked_test> tests) {
  masked_test common{.mask = 0xffff, .pattern = tests.front().pattern & 0xff};
  for (const masked_test& test : tests) common.mask &= test.mask & ~(test.pattern ^ common.pattern);
  common.pattern &= common.mask;
  return common;
}

}  // namespace

scanner_pointer make_linear_scanner(const linear_hash& hash, std::span<const masked_test> tests, instruction_set set) {
#if (HWY_TARGETS & HWY_AVX3) != 0
  constexpr scan_maker of_avx512_dl = avx512_dl::make_linear_scan;
#else
  constexpr scan_maker of_avx512_dl = nullptr;
#endif
  constexpr kernel_table<scan_maker> makers = CUTPOINT_KERNELS_FROM_AVX2(make_linear_scan, of_avx512_dl);
  const scan_maker make = makers[static_cast<std::size_t>(set)];
  return make == nullptr || hash.window > longest_window ? nullptr : make(hash, tests, common_test(tests));
}

}  // namespace cutpoint::simd
#endif
