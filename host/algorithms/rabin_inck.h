// The definition of the polynomial hash modulo the Mersenne prime 2^31 - 1 and of the algorithm `rabin-inck`.
#pragma once

#include "host/algorithms/rolling.h"

namespace cutpoint {

/// The hash `sum of b_k * 256^(window-1-k) mod (2^31 - 1)`. Since 2^31 mod (2^31 - 1) is 1, a product with 256 is a
/// rotation of 31 bits.
class rabin_inck_hash {
 public:
  static constexpr std::uint64_t prime = (std::uint64_t{1} << 31) - 1;

  explicit rabin_inck_hash(std::uint64_t window) : window_(window) {
    for (std::uint64_t byte = 0; byte < 256; ++byte) {
      const std::uint64_t removed = reduce(byte << (8 * window % 31));
      remove_[byte] = removed == 0 ? 0 : prime - removed;
    }
  }
  std::uint64_t window() const { return window_; }
  static std::uint64_t word(std::uint64_t hash) { return hash; }
  std::uint64_t absorb(std::uint64_t hash, std::uint8_t incoming) const { return reduce((hash << 8) + incoming); }
  std::uint64_t roll(std::uint64_t hash, std::uint8_t outgoing, std::uint8_t incoming) const {
    return reduce((hash << 8) + incoming + removal_of(outgoing));
  }
  std::uint64_t over(const std::uint8_t* bytes) const {
    std::uint64_t hash = 0;
    for (std::uint64_t i = 0; i < window_; ++i) hash = absorb(hash, bytes[i]);
    return hash;
  }

  /// Returns the number that removes a byte when it leaves the window.
  std::uint64_t removal_of(std::uint8_t outgoing) const { return remove_[outgoing]; }

 private:
  /// Returns the residue of a value below 2^40, without a division.
  static std::uint64_t reduce(std::uint64_t value) {
    value = (value & prime) + (value >> 31);
    return value >= prime ? value - prime : value;
  }

  std::array<std::uint64_t, 256> remove_;
  std::uint64_t window_;
};

inline masked_test test_of(const rabin_inck_parameters& p) { return masked_test::low(p.avg_bytes, lbfs_pattern); }

class rabin_inck_reference : public rolling_reference<rabin_inck_parameters, rabin_inck_hash> {
 public:
  using rolling_reference::rolling_reference;
  static constexpr std::string_view name = "rabin-inck";
  static auto presets() { return std::array{preset<parameters>{.name = name, .source = "PRUNE section 4.2"}}; }
};

rabin_inck_reference reference_for(const rabin_inck_parameters&);

}  // namespace cutpoint
