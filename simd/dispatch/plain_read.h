// The yardstick of speeds: reads memory and does next to nothing with it.
#pragma once

#include <cstdint>

#include <cutpoint/bytes.h>

#include "simd/dispatch/instruction_set.h"

namespace cutpoint::simd {

/// The sum, modulo 2^64, of the 8-byte words of `bytes` as they lie in memory, the last filled up with zeros. Plain C++.
[[nodiscard]] std::uint64_t plain_read(byte_span bytes) noexcept;

/// The same by the set's vectors; in plain C++ where this was not compiled for the set. Whether the set `runs_here` is
/// the caller's to know.
[[nodiscard]] std::uint64_t plain_read(byte_span bytes, instruction_set set) noexcept;

}  // namespace cutpoint::simd
