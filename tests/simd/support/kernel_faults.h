// Compares kernels with their references. Functions that end in `_fault` return a description of the first difference,
// or an empty string.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include <cutpoint/chunker.h>

#include "simd/dispatch/instruction_set.h"
#include "tests/host/support/tiny_parameters.h"

namespace cutpoint::tests {

/// Returns whether the algorithm, profile or alternative called `name` has kernels.
[[nodiscard]] bool has_kernels(std::string_view name);

/// Returns why no kernel of this set can run here, or an empty string.
[[nodiscard]] std::string why_not_here(simd::instruction_set set);

/// Returns the chunker with the kernel for `set`, or with the reference if there is no such kernel; `backend()` tells
/// which.
[[nodiscard]] chunker on_set(const chunker& cuts, simd::instruction_set set);

/// Returns the chunkers with the kernels for `set` by each number of positions in flight that they can have; none if the algorithm does not
/// have the gear hash.
[[nodiscard]] std::vector<chunker> on_set_by_positions(const chunker& cuts, simd::instruction_set set);

/// Checks that the chunks of a whole stream equal those of the reference.
[[nodiscard]] std::string cuts_fault(const chunker& by_kernel, byte_span stream);

/// Checks the same for the chunks that begin at every `step`-th byte, or for 0 at the end of another.
[[nodiscard]] std::string starts_fault(const chunker& by_kernel, byte_span stream, std::uint64_t step = 1);

/// Draws parameters of the alternative with index `which`. They are those of `tiny_parameters`, or larger ones if the
/// algorithm has kernels.
[[nodiscard]] algorithm_parameters kernel_parameters(std::size_t which, choices& random);

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
