// Tests that Rabin polynomials are accepted if and only if they are irreducible, which another test than the library's
// decides.
#include <gtest/gtest.h>

#include "tests/host/algorithms/chunkers.h"

namespace cutpoint::tests {
namespace {

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
    const auto any_of_degree = [&](int d) {
      return std::uint64_t{1} << d | random.between(0, (std::uint64_t{1} << d) - 1);
    };
    const polynomial p = product(any_of_degree(degree), any_of_degree(53 - degree));
    ASSERT_EQ(degree_of(p), 53);
    const auto refused = chunker::make(rabin_parameters{.polynomial = p});
    ASSERT_FALSE(refused.ok()) << std::hex << p;
    EXPECT_NE(refused.error().message().find("irreducible"), std::string::npos);
  }
}

}  // namespace
}  // namespace cutpoint::tests
