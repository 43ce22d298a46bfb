// The definition of CRC-32C over a rolling window and of the algorithm `crc32`.
#pragma once

#include "host/algorithms/rolling.h"

namespace cutpoint {

/// CRC-32C (Castagnoli, reflected bits) of the window. The initial value is 0 and the final xor is omitted, which makes
/// it linear in the bytes.
class crc32_hash {
 public:
  explicit crc32_hash(std::uint64_t window) : window_(window) {
    constexpr std::uint32_t reflected_polynomial = 0x82f63b78;
    for (std::uint32_t byte = 0; byte < 256; ++byte) {
      std::uint32_t crc = byte;
      for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? reflected_polynomial : 0);
      absorb_[byte] = crc;
    }
    for (std::uint32_t byte = 0; byte < 256; ++byte) {
      std::uint32_t removed = absorb_[byte];  // the CRC of the byte and `window` zeros
      for (std::uint64_t i = 0; i < window; ++i) removed = absorb(removed, 0);
      remove_[byte] = removed;
    }
  }
  std::uint64_t window() const { return window_; }
  static std::uint64_t word(std::uint32_t hash) { return hash; }
  std::uint32_t absorb(std::uint32_t hash, std::uint8_t byte) const {
    return absorb_[(hash ^ byte) & 0xff] ^ (hash >> 8);
  }
  /// Returns the word that removes a byte when it leaves the window.
  std::uint32_t removal_of(std::uint8_t outgoing) const { return remove_[outgoing]; }
  std::uint32_t roll(std::uint32_t hash, std::uint8_t outgoing, std::uint8_t incoming) const {
    return absorb(hash, incoming) ^ removal_of(outgoing);
  }
  std::uint32_t over(const std::uint8_t* bytes) const {
    std::uint32_t hash = 0;
    for (std::uint64_t i = 0; i < window_; ++i) hash = absorb(hash, bytes[i]);
    return hash;
  }

 private:
  std::array<std::uint32_t, 256> absorb_;
  std::array<std::uint32_t, 256> remove_;
  std::uint64_t window_;
};

inline masked_test test_of(const crc32_parameters& p) { return masked_test::low(p.avg_bytes, lbfs_pattern); }

class crc32_reference : public rolling_reference<crc32_parameters, crc32_hash> {
 public:
  using rolling_reference::rolling_reference;
  static constexpr std::string_view name = "crc32";
  static auto presets() { return std::array{preset<parameters>{.name = name, .source = "SS-CDC"}}; }
};

crc32_reference reference_for(const crc32_parameters&);

}  // namespace cutpoint
