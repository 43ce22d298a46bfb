// Compiles the source of a kernel into one function for each instruction set, and functions for `instruction_set::avx512_dl` alone.
//
// Highway includes a source once for each of its targets, in a namespace with the target's name:
//
//   #undef HWY_TARGET_INCLUDE
//   #define HWY_TARGET_INCLUDE "simd/cuts/ram.cc"
//   #include <hwy/foreach_target.h>  // must come before highway.h
//   #include <hwy/highway.h>
//
//   #if CUTPOINT_HAS_VECTORS
//   HWY_BEFORE_NAMESPACE();
//   namespace cutpoint::simd::HWY_NAMESPACE {
//   ... f ...
//   }
//   HWY_AFTER_NAMESPACE();
//   #endif
//
//   #if HWY_ONCE
//   ... CUTPOINT_KERNELS(f) ...
//   #endif
//
// Headers with templates that such sources share have names that end in `-inl.h`, and Highway's toggle guards them. All
// headers that are not specific to a target (the standard library, host/) are included before HWY_BEFORE_NAMESPACE.
#pragma once

#include <hwy/base.h>

#include "simd/dispatch/instruction_set.h"

/// False for Highway's fallback targets, for which no kernel is compiled: the reference is faster.
#define CUTPOINT_HAS_VECTORS (HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128)

/// The functions called `function`, in the order of `instruction_set`. None is for `sha_ni` or `avx512_dl` alone.
#define CUTPOINT_KERNELS(function)                                                                     \
  {                                                                                                    \
    nullptr, HWY_CHOOSE_SSE4(function), HWY_CHOOSE_AVX2(function), HWY_CHOOSE_AVX3(function), nullptr, \
        HWY_CHOOSE_NEON(function)                                                                      \
  }

/// The same for functions that make a different kernel for `avx512_dl`. They are told the set.
#define CUTPOINT_KERNELS_WITH_DL(function)                                                    \
  {                                                                                           \
    nullptr, HWY_CHOOSE_SSE4(function), HWY_CHOOSE_AVX2(function), HWY_CHOOSE_AVX3(function), \
        HWY_CHOOSE_AVX3(function), HWY_CHOOSE_NEON(function)                                  \
  }

/// The same for functions that SSE4 and NEON lack, with `dl_function` for `avx512_dl`.
#define CUTPOINT_KERNELS_FROM_AVX2(function, dl_function) \
  { nullptr, nullptr, HWY_CHOOSE_AVX2(function), HWY_CHOOSE_AVX3(function), dl_function, nullptr }

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
