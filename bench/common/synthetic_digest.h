// Digests without content, which indexes are measured with.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include <cutpoint/fingerprint.h>

#include "host/core/splitmix.h"

namespace cutpoint::bench {

/// Returns a digest of 20 or 32 bytes, another one for each number.
[[nodiscard]] inline digest synthetic_digest(std::uint64_t number, std::uint8_t bytes) {
  digest content;
  content.size = bytes;
  for (std::uint64_t word = 0; 8 * word < bytes; ++word) {
    const std::uint64_t bits = splitmix64::mixed(4 * number + word);
    std::memcpy(content.bytes.data() + 8 * word, &bits, std::min<std::size_t>(sizeof bits, bytes - 8 * word));
  }
  return content;
}

}  // namespace cutpoint::bench
