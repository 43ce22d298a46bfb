// Computes the hash of a window from its formula, without rolling.
#include "tests/host/naive/hashes.h"

#include <bit>

namespace cutpoint::naive {

std::uint64_t gear(const std::array<std::uint64_t, 256>& table, byte_span window) {
  std::uint64_t sum = 0;
  for (std::size_t k = 0; k < window.size(); ++k) {
    const std::size_t age = window.size() - 1 - k;
    if (age < 64) sum += table[window[k]] << age;
  }
  return sum;
}

std::uint64_t rabin(std::uint64_t polynomial, byte_span window) {
  std::uint64_t remainder = 0;
  for (const std::uint8_t byte : window) {
    for (int bit = 7; bit >= 0; --bit) {
      remainder = remainder << 1 | (byte >> bit & 1u);
      if (remainder >> 53 != 0) remainder ^= polynomial;
    }
  }
  return remainder;
}

std::uint64_t rabin_inck(byte_span window) {
  constexpr std::uint64_t prime = 2147483647;
  std::uint64_t sum = 0;
  for (std::size_t k = 0; k < window.size(); ++k) {
    std::uint64_t term = window[k];
    for (std::size_t power = 0; power < window.size() - 1 - k; ++power) term = term * 256 % prime;
    sum = (sum + term) % prime;
  }
  return sum;
}

std::uint64_t adler(byte_span window) {
  std::uint64_t sum = 0;
  for (std::size_t k = 0; k < window.size(); ++k) {
    sum += (window.size() - k) * (derived_gear_table()[window[k]] % 65536);
  }
  return sum % (std::uint64_t{1} << 32);
}

std::uint64_t crc32c(byte_span window) {
  std::uint64_t remainder = 0;  // bit 31 is the coefficient of x^31; a byte's lowest bit comes first
  for (const std::uint8_t byte : window) {
    for (int bit = 0; bit < 8; ++bit) {
      const bool carries = ((remainder >> 31) ^ (byte >> bit & 1u)) != 0;
      remainder = (remainder << 1 & 0xffffffff) ^ (carries ? 0x1edc6f41u : 0u);
    }
  }
  std::uint64_t reflected = 0;
  for (int bit = 0; bit < 32; ++bit) reflected |= (remainder >> bit & 1) << (31 - bit);
  return reflected;
}

std::uint32_t buzhash(const std::array<std::uint32_t, 256>& table, byte_span window) {
  std::uint32_t hash = 0;
  for (std::size_t k = 0; k < window.size(); ++k) {
    hash ^= std::rotl(table[window[k]], static_cast<int>((window.size() - 1 - k) % 32));
  }
  return hash;
}

}  // namespace cutpoint::naive
