// Tests of the arithmetic of definitions: AES-128, polynomials over GF(2), and whether they are irreducible.
#include <gtest/gtest.h>

#include "host/algorithms/aes128.h"
#include "host/algorithms/gf2.h"
#include "tests/host/algorithms/chunkers.h"

namespace cutpoint::tests {
namespace {

TEST(aes128, expands_the_key_of_fips_197) {
  constexpr std::array<std::uint8_t, 16> key = {0x2b, 0x7e, 0x15, 0x16, 0x28, 0xae, 0xd2, 0xa6,
                                                0xab, 0xf7, 0x15, 0x88, 0x09, 0xcf, 0x4f, 0x3c};
  const aes128 cipher(key);
  EXPECT_EQ(cipher.round_keys[1], (aes128::block{0x17fefaa0, 0xb12c5488, 0x3939a323, 0x05766c2a}));  // appendix A.1
  EXPECT_EQ(cipher.round_keys[10], (aes128::block{0xa8f914d0, 0x8925eec9, 0xc80c3fe1, 0xa60c63b6}));
}

TEST(aes128, encrypts_the_block_of_fips_197) {
  std::array<std::uint8_t, 16> key;
  for (std::size_t i = 0; i < key.size(); ++i) key[i] = static_cast<std::uint8_t>(i);
  // Appendix C.1: 00112233445566778899aabbccddeeff becomes 69c4e0d86a7b0430d8cdb78070b4c55a.
  EXPECT_EQ(aes128(key).encrypted_word(0x7766554433221100, 0xffeeddccbbaa9988), 0x30047b6ad8e0c469);
}

using polynomial = std::uint64_t;  // over GF(2), bit k for x^k

int degree_of(polynomial p) {
  int degree = -1;
  for (; p != 0; p >>= 1) ++degree;
  return degree;
}

polynomial remainder(polynomial a, polynomial b) {
  while (degree_of(a) >= degree_of(b)) a ^= b << (degree_of(a) - degree_of(b));
  return a;
}

polynomial product(polynomial a, polynomial b) {
  polynomial sum = 0;
  for (int bit = 0; bit <= degree_of(b); ++bit) sum ^= (b >> bit & 1) != 0 ? a << bit : 0;
  return sum;
}

TEST(polynomials_of_degree_64, have_the_factors_that_they_have) {
  EXPECT_TRUE(gf2_degree64::is_irreducible(0x1b));
  EXPECT_FALSE(gf2_degree64::is_irreducible(0x1a));  // x divides it
  EXPECT_FALSE(gf2_degree64::is_irreducible(0x1));   // (x + 1)^64
  EXPECT_FALSE(gf2_degree64::is_irreducible(0x11));  // (x^16 + x + 1)^4
}

TEST(polynomials_of_degree_64, that_are_products_of_equal_degrees_are_refused) {
  // x^32 + x^7 + x^3 + x^2 + 1 and x^32 + x^22 + x^2 + x + 1 are irreducible, and x^(2^64) = x modulo their product.
  const polynomial low = product(0x10000008d, 0x100400007);  // without x^64
  polynomial power = 2;
  for (int i = 0; i < 64; ++i) power = gf2_degree64::multiply(power, power, low);
  EXPECT_EQ(power, 2u);
  EXPECT_FALSE(gf2_degree64::is_irreducible(low));
}

// Rabin polynomials are accepted if and only if they are irreducible, which another test than the library's decides.

polynomial product_modulo(polynomial a, polynomial b, polynomial modulus) {
  polynomial sum = 0;
  for (; b != 0; b >>= 1) {
    if ((b & 1) != 0) sum ^= a;
    a = remainder(a << 1, modulus);
  }
  return sum;
}

polynomial common_divisor(polynomial a, polynomial b) {
  while (b != 0) {
    const polynomial rest = remainder(a, b);
    a = b;
    b = rest;
  }
  return a;
}

/// Ben-Or's test: a polynomial of degree d is irreducible if it shares no factor with x^(2^i) - x for any i up to d/2.
bool is_irreducible(polynomial p) {
  polynomial power = 2;
  for (int i = 1; i <= degree_of(p) / 2; ++i) {
    power = product_modulo(power, power, p);
    if (common_divisor(p, power ^ 2) != 1) return false;
  }
  return true;
}

constexpr polynomial degree_53 = std::uint64_t{1} << 53;

TEST(polynomial, is_taken_just_when_it_is_irreducible) {
  seeded_choices random(53);
  int accepted_count = 0;
  for (int round = 0; round < 600; ++round) {
    const polynomial p = degree_53 | random.between(0, degree_53 - 1) | 1;
    const bool is_taken = chunker::make(rabin_parameters{.polynomial = p}).ok();
    EXPECT_EQ(is_taken, is_irreducible(p)) << std::hex << p;
    EXPECT_EQ(chunker::make(tttd_parameters{.polynomial = p}).ok(), is_taken) << std::hex << p;
    accepted_count += is_taken ? 1 : 0;
  }
  EXPECT_GT(accepted_count, 5);  // about one in 26 is
}

TEST(polynomial, with_factors_is_refused) {
  seeded_choices random(54);
  for (int round = 0; round < 200; ++round) {
    const int degree = static_cast<int>(random.between(1, 26));
    const auto any_of_degree = [&](int d) { return polynomial{1} << d | random.between(0, (polynomial{1} << d) - 1); };
    const polynomial p = product(any_of_degree(degree), any_of_degree(53 - degree));
    EXPECT_FALSE(chunker::make(rabin_parameters{.polynomial = p}).ok()) << std::hex << p;
  }
}

}  // namespace
}  // namespace cutpoint::tests
