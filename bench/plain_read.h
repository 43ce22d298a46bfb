// The yardstick: how fast this machine just reads the bytes, and the clock that everything is measured by.
#pragma once

#include <cstdint>

#include <cutpoint/bytes.h>

namespace cutpoint::bench {

/// Reads every byte once and does next to nothing with it: the sum, modulo 2^64, of the 8-byte words as they lie in
/// memory, plus the bytes of the last block if it is no whole 128 bytes.
[[nodiscard]] std::uint64_t plain_read(byte_span bytes);

/// Bytes per second of `plain_read`: the median of five samples, each of 64 MiB at least.
[[nodiscard]] double plain_read_rate(byte_span bytes);

/// Processor time of the calling thread so far. What other processes do to a shared machine is mostly left out.
[[nodiscard]] double cpu_seconds();

}  // namespace cutpoint::bench
