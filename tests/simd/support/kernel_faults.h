// Compares kernels with their references. Functions that end in `_fault` return a description of the first difference,
// or an empty string.
#pragma once

#include <string>
#include <string_view>

#include <cutpoint/chunker.h>

#include "simd/dispatch/instruction_set.h"

namespace cutpoint::tests {

/// Returns whether the algorithm, profile or alternative called `name` has kernels.
[[nodiscard]] bool has_kernels(std::string_view name);

/// Returns why no kernel of this set can run here, or an empty string.
[[nodiscard]] std::string why_not_here(simd::instruction_set set);

/// Returns the chunker with the kernel for `set`, or with the reference if there is no such kernel; `backend()` tells
/// which.
[[nodiscard]] chunker on_set(const chunker& cuts, simd::instruction_set set);

/// Checks that the chunks of a whole stream equal those of the reference.
[[nodiscard]] std::string cuts_fault(const chunker& by_kernel, byte_span stream);

/// Checks the same for the chunks that begin at every `step`-th byte.
[[nodiscard]] std::string starts_fault(const chunker& by_kernel, byte_span stream, std::uint64_t step = 1);

}  // namespace cutpoint::tests
