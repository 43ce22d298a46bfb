// Random bytes that are the same each time.
#include "pipeline/dispatch/repeated_timing.h"

#include <cstddef>

#include "host/core/splitmix.h"

namespace cutpoint {

std::vector<std::uint8_t> random_bytes(std::uint64_t size) {
  std::vector<std::uint8_t> made(size);
  splitmix64 words(0);
  for (std::size_t i = 0; i < made.size(); i += 8) {
    const std::uint64_t word = words.next();
    for (std::size_t k = 0; k < 8; ++k) made[i + k] = static_cast<std::uint8_t>(word >> (8 * k));
  }
  return made;
}

}  // namespace cutpoint
