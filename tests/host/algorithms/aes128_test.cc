// Tests AES against the examples of FIPS 197, and polynomials of degree 64 against their properties.
#include "host/algorithms/aes128.h"

#include <gtest/gtest.h>

#include "host/algorithms/gf2_degree64.h"

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

TEST(polynomials_of_degree_64, have_the_factors_that_they_have) {
  EXPECT_TRUE(gf2_degree64::is_irreducible(0x1b));
  EXPECT_FALSE(gf2_degree64::is_irreducible(0x1a));  // x divides it
  EXPECT_FALSE(gf2_degree64::is_irreducible(0x1));   // (x + 1)^64
  EXPECT_FALSE(gf2_degree64::is_irreducible(0x11));  // (x^16 + x + 1)^4
}

TEST(polynomials_of_degree_64, that_are_products_of_equal_degrees_are_refused) {
  // x^32 + x^7 + x^3 + x^2 + 1 and x^32 + x^22 + x^2 + x + 1 are irreducible, and x^(2^64) = x modulo their product.
  const auto carry_less = [](std::uint64_t a, std::uint64_t b) {
    std::uint64_t low = 0;
    for (int bit = 0; bit < 64; ++bit) low ^= (b >> bit & 1) != 0 ? a << bit : 0;
    return low;
  };
  const std::uint64_t product = carry_less(0x10000008d, 0x100400007);
  std::uint64_t power = 2;
  for (int i = 0; i < 64; ++i) power = gf2_degree64::multiply(power, power, product);
  EXPECT_EQ(power, 2u);
  EXPECT_FALSE(gf2_degree64::is_irreducible(product));
}

}  // namespace
}  // namespace cutpoint::tests
