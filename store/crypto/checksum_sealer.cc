#include "store/crypto/checksum_sealer.h"

#include <algorithm>

#include <xxhash.h>

namespace cutpoint::store {

seal_tag checksum(byte_span bytes, std::uint64_t seed) {
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, XXH3_128bits_withSeed(bytes.data(), bytes.size(), seed));
  seal_tag tag;
  std::copy_n(canonical.digest, tag.size(), tag.begin());
  return tag;
}

seal_tag checksum_sealer::seal(sealed_content content, std::uint64_t position, std::span<std::uint8_t> bytes) {
  return checksum(bytes, position << 8 | static_cast<std::uint64_t>(content));
}

bool checksum_sealer::open(sealed_content content, std::uint64_t position, std::span<std::uint8_t> bytes,
                           const seal_tag& tag) {
  return seal(content, position, bytes) == tag;
}

}  // namespace cutpoint::store
