// The kernels of rolling hashes in one source. Each compiles alone, too; most of the time goes to Highway's headers, once for each
// instruction set. The sources name themselves as what is compiled for each; the last lines name this one again.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "simd/cuts/rolling_kernels.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

// NOLINTBEGIN(bugprone-suspicious-include): they are meant
#include "simd/cuts/adler.cc"
#include "simd/cuts/borg1.cc"
#include "simd/cuts/buzhash.cc"
#include "simd/cuts/crc32.cc"
#include "simd/cuts/fastcdc.cc"
#include "simd/cuts/gear.cc"
#include "simd/cuts/rabin.cc"
#include "simd/cuts/rabin_inck.cc"
#include "simd/cuts/ronomon.cc"
// NOLINTEND(bugprone-suspicious-include)

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "simd/cuts/rolling_kernels.cc"
