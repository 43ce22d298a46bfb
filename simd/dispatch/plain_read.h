// A read of memory that does almost no work, as a reference for speeds.
#pragma once

#include <cstdint>

#include <cutpoint/bytes.h>

#include "simd/dispatch/instruction_set.h"

namespace cutpoint::simd {

/// Returns the sum, modulo 2^64, of the 8-byte words of `bytes` in native byte order. The last word is padded with
/// zeros. Uses plain C++.
[[nodiscard]] std::uint64_t plain_read(byte_span bytes) noexcept;

/// Returns the same sum, computed with the vectors of `set`, or in plain C++ if this was not compiled for `set`. The
/// caller must check `runs_here(set)`.
[[nodiscard]] std::uint64_t plain_read(byte_span bytes, instruction_set set) noexcept;

}  // namespace cutpoint::simd
