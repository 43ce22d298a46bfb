// What is measured and what answers are checked on: random bytes, a file, or a golden input.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <cutpoint/status.h>

namespace cutpoint::bench {

using byte_vector = std::vector<std::uint8_t>;

/// Pseudo-random bytes, the same everywhere (64-bit Mersenne twister with its default seed).
[[nodiscard]] byte_vector random_bytes(std::uint64_t size);

/// The first `at_most` bytes of a file. Errors: io_error, also for an empty file.
[[nodiscard]] result<byte_vector> file_bytes(const std::string& path, std::uint64_t at_most);

/// The golden input D2, about 18 MiB: random bytes with a run of zeros, a short period, repeats and an odd end. It is
/// cut from D1, the SHA-256 digests of the 8-byte big-endian numbers from 0 on. Errors: those of SHA-256.
[[nodiscard]] result<byte_vector> golden_input();

}  // namespace cutpoint::bench
