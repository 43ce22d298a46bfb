// The instruction sets with kernels for everything that has kernels.
#pragma once

#include <array>

#include "simd/dispatch/instruction_set.h"

namespace cutpoint::tests {

/// All but `avx512_dl`, which has scanners only; its loops are those of `avx512`.
inline constexpr std::array complete_sets = {simd::instruction_set::sse4, simd::instruction_set::avx2,
                                             simd::instruction_set::avx512, simd::instruction_set::neon};

}  // namespace cutpoint::tests
