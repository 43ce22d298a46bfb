// The candidate scanner of buzhash, for `avx512_dl`.
#pragma once

#include <memory>

#include <cutpoint/cut_kernel.h>

#include "host/algorithms/buzhash.h"

namespace cutpoint::simd {

/// Makes a scanner that marks the positions at which `rule` accepts the buzhash of the last `window` bytes. Returns
/// null if the rule accepts so many hashes that a scan is slower than a loop, or if the window is too long. The
/// processor must run `avx512_dl`.
[[nodiscard]] std::unique_ptr<const candidate_scanner> make_buzhash_scanner(const buzhash32_table& table,
                                                                            std::uint64_t window,
                                                                            const buzhash_rule& rule);

}  // namespace cutpoint::simd
