// The candidate scanners of the rolling hashes that are linear over GF(2).
#pragma once

#include <memory>
#include <span>

#include <cutpoint/cut_kernel.h>

#include "simd/dispatch/instruction_set.h"
#include "simd/scans/linear_hash.h"

namespace cutpoint::simd {

/// Makes a scanner that marks in level k the positions at which `tests[k]` accepts the hash. Returns null if the loop
/// is better: the tests share few bits, the window is long, or the set has no vectors of 32 bytes. The processor must
/// support `set`.
[[nodiscard]] std::unique_ptr<const candidate_scanner> make_linear_scanner(const linear_hash& hash,
                                                                           std::span<const masked_test> tests,
                                                                           instruction_set set);

}  // namespace cutpoint::simd
