// Kernels beside their references: where one can run, and what it cuts otherwise.
#pragma once

#include <string>
#include <string_view>

#include <cutpoint/chunker.h>

#include "simd/dispatch/instruction_set.h"

namespace cutpoint::tests {

/// Whether an algorithm, profile or alternative of this name is cut by kernels; the others only by their references.
[[nodiscard]] bool has_kernels(std::string_view name);

/// Why no kernel of this set can be run here, or empty.
[[nodiscard]] std::string why_not_here(simd::instruction_set set);

/// The chunker with its cuts found by the kernel for `set`; by the reference, as `backend()` says, where there is none.
[[nodiscard]] chunker on_set(const chunker& cuts, simd::instruction_set set);

/// The chunks of a whole stream are others than those of the reference.
[[nodiscard]] std::string cuts_fault(const chunker& by_kernel, byte_span stream);

/// As above, of the chunks that begin at every `step`-th byte.
[[nodiscard]] std::string starts_fault(const chunker& by_kernel, byte_span stream, std::uint64_t step = 1);

}  // namespace cutpoint::tests
