// Random bytes and text that are the same each time.
#include "pipeline/backends/repeated_timing.h"

#include <cstddef>
#include <string_view>

#include "host/core/splitmix.h"

namespace cutpoint {

std::vector<std::uint8_t> random_bytes(std::uint64_t size) {
  std::vector<std::uint8_t> bytes(size);
  splitmix64 words(0);
  for (std::size_t i = 0; i < bytes.size(); i += 8) {
    const std::uint64_t word = words.next();
    for (std::size_t k = 0; k < 8; ++k) bytes[i + k] = static_cast<std::uint8_t>(word >> (8 * k));
  }
  return bytes;
}

std::vector<std::uint8_t> text_bytes(std::uint64_t size) {
  // From the most to the least frequent.
  constexpr std::string_view symbols = " etaonirshdlcum,fpgyb.w(v)k_;\n-0x1=\"AT/SIE:jq{z}C2*B<>N&#MP[]|~";
  std::vector<std::uint8_t> bytes(size);
  splitmix64 words(1);
  for (std::size_t i = 0; i < bytes.size(); i += 4) {
    const std::uint64_t word = words.next();
    for (std::size_t k = 0; k < 4; ++k) {
      // The product of two uniform numbers is more often small than large.
      const std::uint64_t product = (word >> 16 * k & 0xff) * (word >> (16 * k + 8) & 0xff);
      bytes[i + k] = static_cast<std::uint8_t>(symbols[product * symbols.size() >> 16]);
    }
  }
  return bytes;
}

}  // namespace cutpoint
