// Lists of instruction sets, by what they have kernels for.
#pragma once

#include <array>

#include "simd/dispatch/instruction_set.h"

namespace cutpoint::tests {

/// Those with kernels for everything that has kernels: all but `avx512_dl`, which has scanners only, and `sha_ni`, which
/// has SHA-1 and SHA-256 only.
inline constexpr std::array complete_sets = {simd::instruction_set::sse4, simd::instruction_set::avx2,
                                             simd::instruction_set::avx512, simd::instruction_set::neon};

/// Those with kernels or scanners of cuts.
inline constexpr std::array cut_sets = {simd::instruction_set::sse4, simd::instruction_set::avx2,
                                        simd::instruction_set::avx512, simd::instruction_set::avx512_dl,
                                        simd::instruction_set::neon};

/// Those with kernels of SHA-1 and SHA-256.
inline constexpr std::array sha_sets = {simd::instruction_set::sha_ni, simd::instruction_set::sse4,
                                        simd::instruction_set::avx2, simd::instruction_set::avx512,
                                        simd::instruction_set::neon};

}  // namespace cutpoint::tests
