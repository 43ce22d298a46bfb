// Tests the scanners of linear hashes with all kinds of windows, polynomials and masks, which chunkers rarely use.
#include <numeric>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "simd/scans/scanners.h"
#include "tests/host/support/streams.h"
#include "tests/simd/cuts/kernel_cases.h"

namespace cutpoint::tests {
namespace {

using simd::linear_crc32, simd::linear_rabin, simd::make_linear_scanner;

constexpr std::uint64_t longest_window = 480;
const std::uint64_t default_polynomial = rabin_parameters().polynomial;

class linear_scan : public testing::TestWithParam<simd::instruction_set> {
 protected:
  void SetUp() override {
    if (const std::string reason = why_not_here(GetParam()); !reason.empty()) GTEST_SKIP() << reason;
    if (rabin_scanner(48, {}) == nullptr) GTEST_SKIP() << "this set has no scanner";
  }

  [[nodiscard]] static std::unique_ptr<const candidate_scanner> rabin_scanner(
      std::uint64_t window, std::vector<masked_test> tests, std::uint64_t polynomial = default_polynomial) {
    if (tests.empty()) tests.push_back(masked_test::low(8 * KiB, lbfs_pattern));
    return make_linear_scanner(linear_rabin(polynomial, window), tests, GetParam());
  }

  /// Returns a test of the `bits` low bits that accepts the hash at a position of `bytes` drawn at random.
  template <class Hash>
  [[nodiscard]] masked_test test_met_in(byte_span bytes, const Hash& hash, int bits) {
    const std::uint64_t last = random_.between(hash.window(), bytes.size());
    const std::uint64_t mask = (std::uint64_t{1} << bits) - 1;
    return {mask, Hash::word(hash.over(bytes.data() + last - hash.window())) & mask};
  }

  seeded_choices random_{5};
};

/// Compares the marks of a scanner with those of the reference, for indices [window - 1, size). Each level must have a
/// candidate.
template <class Hash, std::size_t levels>
std::string scan_fault(const candidate_scanner& scanner, const Hash& hash, const std::array<masked_test, levels>& tests,
                       byte_span bytes) {
  const std::uint64_t first = hash.window() - 1;
  const std::uint64_t capacity = bytes.size() / 64 * 64 + 64;
  candidate_bits got(capacity, levels);
  candidate_bits expected(capacity, levels);
  if (!scanner.scan(bytes, first, bytes.size(), first, got)) return "candidates are said to be dense";
  mark_rolled(hash, tests, {bytes, first, bytes.size(), first}, expected);
  for (std::uint64_t level = 0; level < levels; ++level) {
    if (expected.next(0, capacity, level) == capacity) return fmt::format("level {} has no candidate", level);
    for (std::uint64_t i = 0; i < capacity; ++i) {
      const std::uint64_t position = got.next(i, capacity, level);
      i = expected.next(i, capacity, level);
      if (position != i) {
        return fmt::format("level {}: {} instead of {}, window {}, mask {:#x}", level, position, i, hash.window(),
                           tests[level].mask);
      }
    }
  }
  return {};
}

/// Windows at both sides of each size at which the columns are loaded or kept differently.
std::vector<std::uint64_t> windows() {
  std::vector<std::uint64_t> all(20);
  std::iota(all.begin(), all.end(), 1);
  for (const std::uint64_t edge : {32u, 48u, 64u, 96u, 128u, 224u, 256u, 448u}) {
    for (std::uint64_t window = edge - 1; window <= edge + 2; ++window) all.push_back(window);
  }
  all.insert(all.end(), {longest_window - 1, longest_window});
  return all;
}

TEST_P(linear_scan, marks_as_the_reference_with_every_window) {
  for (const std::uint64_t window : windows()) {
    const crc32_hash crc32(window);
    const rabin_hash rabin(default_polynomial, window);
    for (const int bits : {9, 16}) {
      const std::uint64_t least = rabin_scanner(window, {})->least_count();
      const auto bytes = make_stream(content::random, window - 1 + least + random_.between(0, 100), random_);
      const std::array crc32_tests = {test_met_in(bytes, crc32, bits)};
      const auto scanner = make_linear_scanner(linear_crc32(window), crc32_tests, GetParam());
      ASSERT_EQ(scan_fault(*scanner, crc32, crc32_tests, bytes), "") << "crc32";
      const std::array rabin_tests = {test_met_in(bytes, rabin, bits)};
      ASSERT_EQ(scan_fault(*rabin_scanner(window, {rabin_tests[0]}), rabin, rabin_tests, bytes), "") << "rabin";
    }
  }
}

TEST_P(linear_scan, marks_as_the_reference_with_every_polynomial) {
  for (int round = 0; round < 20; ++round) {
    std::uint64_t polynomial = 0;
    do {
      polynomial = std::uint64_t{1} << 53 | random_.between(0, (std::uint64_t{1} << 53) - 1);
    } while (!gf2::is_irreducible(polynomial));
    const rabin_hash hash(polynomial, random_.between(1, 100));
    const auto bytes = make_stream(content::random, 40'000, random_);
    const std::array tests = {test_met_in(bytes, hash, 11)};
    ASSERT_EQ(scan_fault(*rabin_scanner(hash.window(), {tests[0]}, polynomial), hash, tests, bytes), "") << polynomial;
  }
}

TEST_P(linear_scan, tests_all_bits_of_a_mask) {
  const rabin_hash hash(default_polynomial, 48);
  const auto bytes = make_stream(content::random, 50'000, random_);
  for (int bits = 8; bits <= 53; ++bits) {
    const std::array tests = {test_met_in(bytes, hash, bits)};
    ASSERT_EQ(scan_fault(*rabin_scanner(48, {tests[0]}), hash, tests, bytes), "") << bits;
  }
}

TEST_P(linear_scan, marks_each_level_by_its_own_test) {
  const rabin_hash hash(default_polynomial, 48);
  const auto bytes = make_stream(content::random, 100'000, random_);
  for (const int bits : {9, 10, 16, 17, 24}) {
    const masked_test strict = test_met_in(bytes, hash, bits);
    const std::uint64_t loose_mask = strict.mask >> 1;
    const std::array tests = {strict, masked_test{loose_mask, strict.pattern & loose_mask}};
    ASSERT_EQ(scan_fault(*rabin_scanner(48, {tests[0], tests[1]}), hash, tests, bytes), "");
  }
  // Two patterns of the same bits
  const std::array tests = {masked_test{0x3ff, 0x078}, masked_test{0x3ff, 0x079}};
  ASSERT_EQ(scan_fault(*rabin_scanner(48, {tests[0], tests[1]}), hash, tests, bytes), "");
}

TEST_P(linear_scan, reads_only_the_window_and_the_range) {
  for (const std::uint64_t window : {1u, 2u, 16u, 17u, 18u, 48u, 64u, 65u, 480u}) {
    const rabin_hash rabin(default_polynomial, window);
    const crc32_hash crc32(window);
    const std::uint64_t size = window - 1 + rabin_scanner(window, {})->least_count();
    const guarded_pages pages(size / 4096 + 1);
    const auto stream = make_stream(content::random, pages.bytes().size(), random_);
    std::copy(stream.begin(), stream.end(), pages.bytes().begin());
    for (const byte_span bytes : {byte_span(pages.bytes()).first(size), byte_span(pages.bytes()).last(size)}) {
      const std::array tests = {test_met_in(bytes, rabin, 12)};
      ASSERT_EQ(scan_fault(*rabin_scanner(window, {tests[0]}), rabin, tests, bytes), "");
      const std::array crc32_tests = {test_met_in(bytes, crc32, 12)};
      const auto scanner = make_linear_scanner(linear_crc32(window), crc32_tests, GetParam());
      ASSERT_EQ(scan_fault(*scanner, crc32, crc32_tests, bytes), "");
    }
  }
}

TEST_P(linear_scan, gives_up_soon_if_candidates_are_dense) {
  const std::vector<std::uint8_t> zeros(200'000);  // all positions are candidates
  std::vector<std::uint8_t> half = zeros;          // about half of them
  for (std::size_t i = 0; i < half.size(); i += 128) half[i] = static_cast<std::uint8_t>(1 + i / 128 % 251);
  for (const auto& bytes : {zeros, half}) {
    candidate_bits map(200'064, 1);
    EXPECT_FALSE(rabin_scanner(64, {{0xfffff, 0}})->scan(bytes, 63, bytes.size(), 0, map));
    std::uint64_t marks = 0;
    for (std::uint64_t i = map.next(0, 200'064, 0); i != 200'064; i = map.next(i + 1, 200'064, 0)) ++marks;
    EXPECT_LE(marks, 1024u);  // of two groups of steps
  }
}

TEST_P(linear_scan, is_made_only_if_it_is_fast) {
  EXPECT_NE(rabin_scanner(longest_window, {}), nullptr);
  EXPECT_EQ(rabin_scanner(longest_window + 1, {}), nullptr);
  EXPECT_NE(rabin_scanner(48, {masked_test::low(256, lbfs_pattern)}), nullptr);
  EXPECT_EQ(rabin_scanner(48, {masked_test::low(64, lbfs_pattern)}), nullptr);
}

INSTANTIATE_TEST_SUITE_P(of_every_set, linear_scan, testing::ValuesIn(simd::instruction_sets),
                         [](const auto& which) { return test_name(to_string(which.param)); });

}  // namespace
}  // namespace cutpoint::tests
