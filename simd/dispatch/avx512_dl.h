// Compiles functions for `instruction_set::avx512_dl`, and names its instructions that Highway 1.0 lacks.
//
//   #if CUTPOINT_HAS_AVX512_DL
//   CUTPOINT_BEFORE_AVX512_DL;
//   namespace cutpoint::simd {
//   ... functions ...
//   }
//   CUTPOINT_AFTER_AVX512_DL;
//   #endif
//
// Headers that are not specific to the set are included before CUTPOINT_BEFORE_AVX512_DL. Highway's own target AVX3_DL is
// not used: it lets the compiler use AVX-VNNI, which Ice Lake and Zen 4 lack, and not GFNI.
#pragma once

#include <hwy/base.h>

#if defined(__x86_64__)
HWY_DIAGNOSTICS(push)
#if !HWY_COMPILER_CLANG  // GCC 12 warns of its own intrinsics (GCC bug 105593)
HWY_DIAGNOSTICS_OFF(disable : 4703, ignored "-Wuninitialized")
HWY_DIAGNOSTICS_OFF(disable : 4703, ignored "-Wmaybe-uninitialized")
#endif
#include <immintrin.h>
HWY_DIAGNOSTICS(pop)
#define CUTPOINT_HAS_AVX512_DL 1
#define CUTPOINT_BEFORE_AVX512_DL                                                                                    \
  HWY_PUSH_ATTRIBUTES(                                                                                               \
      "sse4.2,aes,pclmul,avx2,bmi,bmi2,fma,f16c,avx512f,avx512cd,avx512vl,avx512dq,avx512bw,avx512vbmi,gfni,popcnt," \
      "lzcnt")                                                                                                       \
  static_assert(true)
#define CUTPOINT_AFTER_AVX512_DL HWY_POP_ATTRIBUTES static_assert(true)
#else
#define CUTPOINT_HAS_AVX512_DL 0
#endif
