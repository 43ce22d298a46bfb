// The candidate scanner of the rolling Adler-32 sum.
#pragma once

#include <memory>

#include <cutpoint/cut_kernel.h>

#include "host/algorithms/adler.h"
#include "simd/dispatch/instruction_set.h"

namespace cutpoint::simd {

/// Makes a scanner that marks the positions at which `test` accepts the hash. The test must compare low bits with ones.
/// Returns null if the loop is better: the test has few bits, the window is very short or long, or the set is not
/// `avx512_dl`. The processor must support `set`.
[[nodiscard]] std::unique_ptr<const candidate_scanner> make_adler_scanner(const adler_hash& hash,
                                                                          const masked_test& test, instruction_set set);

}  // namespace cutpoint::simd
