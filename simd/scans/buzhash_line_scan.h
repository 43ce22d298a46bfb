// The candidate scanner of buzhash for long windows.
#pragma once

#include <memory>

#include <cutpoint/cut_kernel.h>

#include "host/algorithms/buzhash.h"

namespace cutpoint::simd {

/// Makes a scanner for `avx512_dl` that marks the positions whose hash `rule` accepts. All hashes that it accepts have
/// zeros in the bits `fixed` after they have been xored with `inversion`, which is all zeros or all ones. Returns null
/// if the window is longer than 12 KiB. The processor must support the set.
[[nodiscard]] std::unique_ptr<const candidate_scanner> make_buzhash_line_scan(const buzhash32_table& table,
                                                                              std::uint64_t window,
                                                                              const buzhash_rule& rule,
                                                                              std::uint32_t fixed,
                                                                              std::uint32_t inversion);

}  // namespace cutpoint::simd
