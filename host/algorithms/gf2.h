// Polynomials over GF(2): of degree below 64, and modulo one of degree 64. Bit k of a word stands for x^k.
#pragma once

#include <bit>
#include <cstdint>

namespace cutpoint::gf2 {

/// The degree of every Rabin polynomial here. It is prime, which `is_irreducible` requires.
inline constexpr int rabin_degree = 53;

/// Returns `value * x` modulo a polynomial of degree `rabin_degree`; `value` must be reduced.
constexpr std::uint64_t times_x(std::uint64_t value, std::uint64_t modulus) {
  value <<= 1;
  return (value >> rabin_degree) != 0 ? value ^ modulus : value;
}

/// Returns `a * b` modulo a polynomial of degree `rabin_degree`; both must be reduced.
constexpr std::uint64_t multiply(std::uint64_t a, std::uint64_t b, std::uint64_t modulus) {
  std::uint64_t product = 0;
  for (int bit = rabin_degree - 1; bit >= 0; --bit) {
    product = times_x(product, modulus);
    if (((b >> bit) & 1) != 0) product ^= a;
  }
  return product;
}

/// Returns whether a polynomial of degree `rabin_degree` has no proper factor. As the degree d is prime, this holds if
/// and only if x^(2^d) = x modulo the polynomial (all factors have degree 1 or d) and neither 0 nor 1 is a root (no
/// factor has degree 1).
constexpr bool is_irreducible(std::uint64_t polynomial) {
  const bool has_root = (polynomial & 1) == 0 || std::popcount(polynomial) % 2 == 0;
  std::uint64_t power = 2;
  for (int i = 0; i < rabin_degree; ++i) power = multiply(power, power, polynomial);
  return !has_root && power == 2;
}

}  // namespace cutpoint::gf2

namespace cutpoint::gf2_degree64 {

/// Returns `value * x`. Takes the same time for all values.
constexpr std::uint64_t times_x(std::uint64_t value, std::uint64_t modulus) {
  return value << 1 ^ ((0 - (value >> 63)) & modulus);
}

constexpr std::uint64_t multiply(std::uint64_t a, std::uint64_t b, std::uint64_t modulus) {
  std::uint64_t product = 0;
  for (int bit = 63; bit >= 0; --bit) product = times_x(product, modulus) ^ ((0 - (b >> bit & 1)) & a);
  return product;
}

constexpr std::uint64_t power_of_x(int exponent, std::uint64_t modulus) {
  std::uint64_t power = 1;
  for (; exponent != 0; --exponent) power = times_x(power, modulus);
  return power;
}

/// Returns whether a modulus has no proper factor. By Rabin's test it has none if and only if x^(2^64) = x and
/// x^(2^32) + x has no factor in common with it, that is, has an inverse: its power 2^64 - 1 is 1 then, as the first
/// condition makes the residues a product of fields whose degrees divide 64.
constexpr bool is_irreducible(std::uint64_t modulus) {
  std::uint64_t power = 2;
  std::uint64_t element = 2;
  for (int i = 0; i < 64; ++i) {
    power = multiply(power, power, modulus);
    if (i == 31) element ^= power;
  }
  if (power != 2) return false;
  std::uint64_t product = 1;
  for (int i = 0; i < 64; ++i) {
    product = multiply(product, element, modulus);
    element = multiply(element, element, modulus);
  }
  return product == 1;
}

}  // namespace cutpoint::gf2_degree64
