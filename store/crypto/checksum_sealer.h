// The sealer of stores without encryption: XXH3-128 of the bytes, with part and position in the seed.
#pragma once

#include "store/crypto/sealer.h"

namespace cutpoint::store {

/// Returns the 128 bits of XXH3 in their canonical, big-endian form.
[[nodiscard]] seal_tag checksum(byte_span bytes, std::uint64_t seed);

class checksum_sealer final : public sealer {
 public:
  seal_tag seal(sealed_content content, std::uint64_t position, std::span<std::uint8_t> bytes) override;
  bool open(sealed_content content, std::uint64_t position, std::span<std::uint8_t> bytes,
            const seal_tag& tag) override;
};

}  // namespace cutpoint::store
