// The candidate scanner of the gear hash, for `avx512_dl`.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>

#include <cutpoint/cut_kernel.h>

namespace cutpoint::simd {

/// Makes a scanner that marks in level k the positions at which the gear hash with this table has zeros under
/// `masks[k]`. Returns null if the masks share so few bits that a scan is slower than a loop. The processor must run
/// `avx512_dl`.
[[nodiscard]] std::unique_ptr<const candidate_scanner> make_gear_scanner(const std::array<std::uint64_t, 256>& table,
                                                                         std::span<const std::uint64_t> masks);

}  // namespace cutpoint::simd
