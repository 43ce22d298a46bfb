// Pseudo-random input for measurements.
#pragma once

#include <cstdint>
#include <vector>

namespace cutpoint::bench {

using byte_vector = std::vector<std::uint8_t>;

/// Returns `size` pseudo-random bytes, the same on every machine: the 64-bit Mersenne Twister with its default seed.
[[nodiscard]] byte_vector random_bytes(std::uint64_t size);

}  // namespace cutpoint::bench
