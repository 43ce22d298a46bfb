// The definition of the rolling Adler-32 sum and of the algorithm `adler`.
#pragma once

#include "host/algorithms/rolling.h"
#include "host/tables/fastcdc2020_gear64.h"

namespace cutpoint {

/// The sums S1 of A[b_k] and S2 of (window-k) A[b_k], both modulo 2^32, where A is the low 16 bits of the gear table.
/// S2 is tested.
class adler_hash {
 public:
  struct sums {
    std::uint32_t s1 = 0;
    std::uint32_t s2 = 0;
  };

  explicit adler_hash(std::uint64_t window) : window_(window) {}
  std::uint64_t window() const { return window_; }
  static std::uint64_t word(const sums& hash) { return hash.s2; }
  static sums absorb(sums hash, std::uint8_t incoming) {
    hash.s1 += value_of(incoming);
    hash.s2 += hash.s1;
    return hash;
  }
  sums roll(sums hash, std::uint8_t outgoing, std::uint8_t incoming) const {
    hash.s1 += value_of(incoming) - value_of(outgoing);
    hash.s2 += hash.s1 - static_cast<std::uint32_t>(window_) * value_of(outgoing);
    return hash;
  }
  sums over(const std::uint8_t* bytes) const {
    sums hash;
    for (std::uint64_t i = 0; i < window_; ++i) hash = absorb(hash, bytes[i]);
    return hash;
  }

 private:
  static std::uint32_t value_of(std::uint8_t byte) {
    return static_cast<std::uint32_t>(tables::fastcdc2020_gear64[byte] & 0xffff);
  }

  std::uint64_t window_;
};

inline masked_test test_of(const adler_parameters& p) { return masked_test::low(p.avg_bytes, ~std::uint64_t{0}); }

class adler_reference : public rolling_reference<adler_parameters, adler_hash> {
 public:
  using rolling_reference::rolling_reference;
  static constexpr std::string_view name = "adler";
  static auto presets() { return std::array{preset<parameters>{.name = name, .source = "P-Dedupe table 4"}}; }
};

adler_reference reference_for(const adler_parameters&);

}  // namespace cutpoint
