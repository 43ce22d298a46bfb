// Tests that the plain read adds every byte and gives the same sum on every instruction set.
#include "simd/dispatch/plain_read.h"

#include <numeric>

#include <gtest/gtest.h>

#include "tests/host/algorithms/chunkers.h"
#include "tests/host/support/streams.h"

namespace cutpoint::tests {
namespace {

constexpr std::size_t longest = 1000;

/// Computes the sum from its definition, byte by byte.
std::uint64_t sum_of_words(byte_span bytes) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) sum += std::uint64_t{bytes[i]} << (8 * (i % 8));
  return sum;
}

class plain_reads : public testing::TestWithParam<simd::instruction_set> {
 protected:
  void SetUp() override {
    if (!simd::runs_here(GetParam())) GTEST_SKIP() << "this machine does not run " << to_string(GetParam());
  }
};

TEST_P(plain_reads, give_the_sum_of_the_words_at_every_length) {
  seeded_choices random(1);
  const std::vector<std::uint8_t> stream = make_stream(content::random, longest + 1, random);
  for (std::size_t length = 0; length <= longest; ++length) {
    for (const std::size_t begin : {std::size_t{0}, std::size_t{1}}) {
      const byte_span bytes = byte_span(stream).subspan(begin, length);
      const std::uint64_t sum = sum_of_words(bytes);
      ASSERT_EQ(simd::plain_read(bytes), sum) << length << " bytes in plain C++";
      ASSERT_EQ(simd::plain_read(bytes, GetParam()), sum) << length << " bytes";
    }
  }
}

TEST_P(plain_reads, leave_no_byte_out) {
  std::vector<std::uint8_t> bytes(64 * 1024 + 77);
  std::iota(bytes.begin(), bytes.end(), std::uint8_t{0});
  const std::uint64_t sum = simd::plain_read(bytes, GetParam());
  for (std::uint8_t& byte : bytes) {
    byte ^= 1;
    ASSERT_NE(simd::plain_read(bytes, GetParam()), sum) << "byte " << &byte - bytes.data() << " does not count";
    byte ^= 1;
  }
}

INSTANTIATE_TEST_SUITE_P(of, plain_reads, testing::ValuesIn(simd::instruction_sets),
                         [](const auto& set) { return test_name(to_string(set.param)); });

}  // namespace
}  // namespace cutpoint::tests
