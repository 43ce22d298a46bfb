// The candidate scanner of the polynomial hash modulo 2^31 - 1.
#pragma once

#include <memory>

#include <cutpoint/cut_kernel.h>

#include "host/algorithms/rabin_inck.h"
#include "simd/dispatch/instruction_set.h"

namespace cutpoint::simd {

/// Makes a scanner that marks the positions at which `test` accepts the hash. Returns null if the loop is better (the
/// test has few bits, the window is long, or the set has no vectors of 32 bytes), or if a byte that leaves the window
/// has a weight of more than 2^15. The processor must support `set`.
[[nodiscard]] std::unique_ptr<const candidate_scanner> make_rabin_inck_scanner(std::uint64_t window,
                                                                               const masked_test& test,
                                                                               instruction_set set);

}  // namespace cutpoint::simd
