// Tests that cuts that AES decides look like those of a random function: on any contents, for every key, and for keys that
// are almost equal. Seeds are fixed, and bounds are 8 standard deviations wide.
#include <cmath>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/host/algorithms/chunkers.h"
#include "tests/host/support/faults.h"
#include "tests/host/support/streams.h"

namespace cutpoint::tests {
namespace {

using byte_vector = std::vector<std::uint8_t>;
using key_bytes = std::array<std::uint8_t, secret_key::byte_count>;

/// The position in a chunk of the first byte that it may end with. Bytes 1 to 64 decide that.
constexpr std::size_t first_tested = 64;

class phte_statistics : public testing::TestWithParam<std::string> {
 protected:
  [[nodiscard]] chunker cuts(const key_bytes& key, int mask_bits) const {
    return make_chunker(GetParam(),
                        settings_of(fmt::format("min_exp=6,max_exp=14,mask_bits={},normalization=0", mask_bits)),
                        secret_key(key))
        ->chunker;
  }
  key_bytes drawn_key() {
    key_bytes key;
    for (std::uint8_t& byte : key) byte = static_cast<std::uint8_t>(random_.word());
    return key;
  }
  static void expect_near(double count, double expected) { EXPECT_NEAR(count, expected, 8 * std::sqrt(expected)); }

  seeded_choices random_ = seeded_choices(7);
};

/// Numbers of 32 bits in a row: windows are different, and in nothing else random.
byte_vector counted(std::size_t size) {
  byte_vector stream(size);
  for (std::size_t i = 0; i < size; ++i) stream[i] = static_cast<std::uint8_t>(i / 4 >> (i % 4 * 8));
  return stream;
}

TEST_P(phte_statistics, lengths_are_geometric_on_random_and_on_regular_contents) {
  constexpr int mask_bits = 7;
  constexpr std::size_t bin_count = 16;
  constexpr double match = 1.0 / (1 << mask_bits);
  for (const byte_vector& stream : {make_stream(content::random, 1 << 20, random_), counted(1 << 20)}) {
    std::array<double, bin_count> bins = {};
    std::vector<std::uint64_t> lengths = lengths_of(cuts(drawn_key(), mask_bits).find_cuts(stream));
    lengths.pop_back();  // the stream's end
    for (const std::uint64_t length : lengths) {
      ASSERT_GT(length, first_tested);
      // The part of all lengths that are smaller, which is uniform.
      const double smaller = 1 - std::pow(1 - match, static_cast<double>(length - first_tested) - 0.5);
      ++bins[static_cast<std::size_t>(smaller * bin_count)];
    }
    const double expected = static_cast<double>(lengths.size()) / bin_count;
    ASSERT_GT(expected, 200);
    double chi_square = 0;  // of 15 degrees of freedom: 15 on average, with a standard deviation of 5.5
    for (const double count : bins) chi_square += (count - expected) * (count - expected) / expected;
    EXPECT_LT(chi_square, 60);
  }
}

TEST_P(phte_statistics, windows_of_chosen_periodic_contents_cut_by_chance_for_each_key) {
  constexpr int mask_bits = 6;
  constexpr int key_count = 1000;
  const auto ramp = [](std::size_t period) {
    byte_vector pattern(period);
    for (std::size_t i = 0; i < period; ++i) pattern[i] = static_cast<std::uint8_t>(i);
    return pattern;
  };
  const std::array<byte_vector, 5> patterns = {byte_vector{0}, byte_vector{255}, byte_vector{0, 1}, ramp(8), ramp(32)};
  std::array<double, patterns.size()> matches = {};
  double windows = 0, all = 0, neighbours = 0;
  for (int i = 0; i < key_count; ++i) {
    const chunker keyed = cuts(drawn_key(), mask_bits);
    for (std::size_t which = 0; which < patterns.size(); ++which) {
      const byte_vector& pattern = patterns[which];
      bool last_is_match = false;
      for (std::size_t shift = 0; shift < pattern.size(); ++shift) {
        byte_vector file(first_tested + 2);
        for (std::size_t at = 0; at < file.size(); ++at) file[at] = pattern[(at + shift) % pattern.size()];
        const bool is_match = keyed.find_cuts(file).front().length == first_tested + 1;
        matches[which] += is_match;
        all += is_match;
        neighbours += is_match && last_is_match;
        ++windows;
        last_is_match = is_match;
      }
    }
  }
  for (std::size_t which = 0; which < patterns.size(); ++which) {
    expect_near(matches[which], static_cast<double>(key_count * patterns[which].size()) / (1 << mask_bits));
  }
  expect_near(all, windows / (1 << mask_bits));
  expect_near(neighbours, (windows - key_count * patterns.size()) / (1 << 2 * mask_bits));
}

TEST_P(phte_statistics, keys_with_one_bit_changed_cut_independently) {
  constexpr int mask_bits = 6;
  const byte_vector stream = make_stream(content::random, 1 << 14, random_);
  const key_bytes key = drawn_key();
  const auto ends_by = [&](const key_bytes& each) {
    std::set<std::uint64_t> ends;
    for (const chunk& c : cuts(each, mask_bits).find_cuts(stream)) ends.insert(c.offset + c.length);
    ends.erase(stream.size());
    return ends;
  };
  const std::set<std::uint64_t> ends = ends_by(key);
  double common = 0, expected = 0;
  for (std::size_t bit = 0; bit < 256; ++bit) {
    key_bytes changed = key;
    changed[bit / 8] ^= static_cast<std::uint8_t>(1 << bit % 8);
    const std::set<std::uint64_t> others = ends_by(changed);
    for (const std::uint64_t each : others) common += ends.contains(each);
    expected += static_cast<double>(ends.size() * others.size()) / static_cast<double>(stream.size());
  }
  expect_near(common, expected);
}

INSTANTIATE_TEST_SUITE_P(, phte_statistics, testing::Values("toeplitz-aes", "rabin-aes", "toeplitz128-aes"),
                         catalog_test_name);

}  // namespace
}  // namespace cutpoint::tests
