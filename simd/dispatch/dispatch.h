// How a kernel's source becomes one function for each instruction set.
//
// A source is included by Highway once for each of its targets, in a namespace of the target's name:
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
// Headers of templates that such sources share end in `-inl.h` and are guarded by Highway's toggle. Anything that is not
// for one target (the standard library, host/) is included before HWY_BEFORE_NAMESPACE.
#pragma once

#include "simd/dispatch/instruction_set.h"

/// Not so for Highway's fallback, which no kernel is compiled for: the reference does better.
#define CUTPOINT_HAS_VECTORS (HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128)

/// The functions of this name in the order of `instruction_set`.
#define CUTPOINT_KERNELS(function) \
  { HWY_CHOOSE_SSE4(function), HWY_CHOOSE_AVX2(function), HWY_CHOOSE_AVX3(function), HWY_CHOOSE_NEON(function) }
