// The printed definitions: what each shares with the catalog's, and where it must differ.
#include "bench/papers/printed.h"

#include <algorithm>
#include <chrono>
#include <random>

#include <cutpoint/speed.h>
#include <gtest/gtest.h>

#include "bench/papers/phases.h"

namespace cutpoint::bench {

namespace {

constexpr std::uint64_t average = 1 * KiB;

printed_definition definition_of(std::string_view name) {
  const auto all = printed_definitions(average);
  const auto entry = std::find_if(all.begin(), all.end(), [&](const auto& each) { return each.name == name; });
  EXPECT_NE(entry, all.end()) << name;
  return *entry;
}

/// Random bytes of `values` values.
std::vector<std::uint8_t> random_bytes(std::size_t size, std::uint64_t values, std::uint64_t seed = 1) {
  std::mt19937_64 random(seed);
  std::vector<std::uint8_t> bytes(size);
  for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random() % values);
  return bytes;
}

definition_comparison compared(std::string_view name, byte_span stream) {
  return compare(definition_of(name), {stream}, 0);
}

TEST(printed_definitions, chunks_cover_the_stream) {
  for (const std::size_t size : {1U, 2U, 700U, 9000U, 300000U}) {
    const auto bytes = random_bytes(size, 7, size);
    for (const printed_definition& each : printed_definitions(average)) {
      std::uint64_t offset = 0;
      for (const chunk& one : each.find_cuts(bytes)) {
        ASSERT_EQ(one.offset, offset) << each.name;
        ASSERT_GT(one.length, 0U) << each.name;
        offset += one.length;
      }
      EXPECT_EQ(offset, size) << each.name;
    }
  }
}

TEST(printed_definitions, algorithm_1_of_ae_is_the_catalogs) {
  for (const std::uint64_t values : {1U, 2U, 9U, 256U}) {
    const auto bytes = random_bytes(200'000, values);
    EXPECT_EQ(definition_of("ae-algorithm-1").find_cuts(bytes), definition_of("ae-algorithm-1").ours.find_cuts(bytes));
  }
}

TEST(printed_definitions, algorithm_2_of_ae_cuts_after_a_tie_without_looking_on) {
  // The second byte equals the first, and a larger one follows within the window: algorithm 1 goes on to that one.
  std::vector<std::uint8_t> bytes(4 * average, 0);
  bytes[0] = bytes[1] = 5;
  bytes[100] = 9;
  const printed_definition opt1 = definition_of("ae-algorithm-2");
  const std::uint64_t window = average - 256;
  EXPECT_EQ(opt1.cut(bytes, 0), window + 1);
  EXPECT_EQ(opt1.ours.find_cuts(bytes).front().length, 100 + window + 1);
  bytes[1] = 4;
  EXPECT_EQ(opt1.cut(bytes, 0), 100 + window + 1);
}

TEST(printed_definitions, algorithm_3_of_ae_compares_values_after_lest) {
  // So many equal bytes begin the chunk that the first LEST are equal, but the values at its end are not.
  const std::uint64_t lest = average / 8;
  std::vector<std::uint8_t> bytes(4 * average, 0);
  bytes[lest + 3] = 1;
  const printed_definition opt2 = definition_of("ae-algorithm-3");
  EXPECT_EQ(opt2.ours.find_cuts(bytes).front().length, lest);
  EXPECT_NE(opt2.cut(bytes, 0), lest);
  bytes[lest + 3] = 0;
  bytes[lest + 7] = 1;
  EXPECT_EQ(opt2.cut(bytes, 0), lest);
}

TEST(printed_definitions, strict_local_maxima_are_rare_among_bytes) {
  const auto bytes = random_bytes(1 << 22, 256);
  const definition_comparison candidates = compared("maxp-strict-candidates", bytes);
  EXPECT_LT(candidates.printed.chunks, candidates.ours.chunks);
  EXPECT_EQ(candidates.shared_cuts, candidates.printed.chunks) << "a strict maximum is one of the catalog's too";
}

TEST(printed_definitions, local_minima_are_the_maxima_of_the_complement) {
  auto bytes = random_bytes(300'000, 200);
  const auto minima = definition_of("maxp-minimum").find_cuts(bytes);
  for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(255 - byte);
  EXPECT_EQ(minima, definition_of("maxp-minimum").ours.find_cuts(bytes));
}

TEST(printed_definitions, rabin_by_xor_steps_hashes_the_window_alone) {
  // The residue of a window, bit by bit, for every position from the minimum on.
  const auto bytes = random_bytes(200'000, 256);
  const printed_definition rabin = definition_of("rabin-xor-steps");
  const auto& p = std::get<rabin_inck_parameters>(rabin.ours.parameters());
  const auto residue = [&](std::uint64_t end) {
    std::uint64_t value = 0;
    for (std::uint64_t i = end - p.window_bytes; i < end; ++i) {
      for (int bit = 7; bit >= 0; --bit) {
        value = value << 1 | (bytes[i] >> bit & 1);
        if ((value >> 32) != 0) value ^= 0x104C11DB7;
      }
    }
    return value;
  };
  const std::uint64_t mask = average - 1;
  std::vector<chunk> expected;
  for (std::uint64_t start = 0; start < bytes.size(); start += expected.back().length) {
    const std::uint64_t end = std::min<std::uint64_t>(bytes.size(), start + *p.max_bytes);
    std::uint64_t cut = std::min(end, start + *p.min_bytes);
    while (cut < end && (residue(cut) & mask) != (0x78 & mask)) ++cut;
    expected.push_back({start, cut - start});
  }
  EXPECT_EQ(rabin.find_cuts(bytes), expected);
  EXPECT_GT(expected.size(), 100u);
}

TEST(printed_definitions, printed_adler_looks_at_the_sum_alone) {
  // S1 does not depend on the order within the window, S2 does.
  auto bytes = random_bytes(1 << 20, 256);
  const printed_definition adler = definition_of("adler-printed");
  const auto chunks = adler.find_cuts(bytes);
  ASSERT_GT(chunks.size(), 10U);
  const auto end = bytes.begin() + static_cast<std::ptrdiff_t>(chunks.front().length);
  std::reverse(end - 48, end);
  EXPECT_EQ(adler.cut(bytes, 0), chunks.front().length);
  EXPECT_NE(adler.ours.find_cuts(bytes), adler.find_cuts(bytes));
}

TEST(printed_definitions, ram_that_asks_for_more_finds_nothing_above_255) {
  auto bytes = random_bytes(100'000, 256);
  const printed_definition ram = definition_of("ram-greater");
  EXPECT_EQ(ram.cut(bytes, 0), 2 * average) << "the window has a byte of 255";
  std::vector<std::uint8_t> rising(10'000, 7);
  rising[2000] = 8;
  EXPECT_EQ(ram.cut(rising, 0), 2001U);
  EXPECT_EQ(ram.ours.find_cuts(rising).front().length, average - 256 + 1);
}

TEST(printed_definitions, absorbed_ties_make_shorter_chunks) {
  const auto bytes = random_bytes(1 << 20, 16);
  const definition_comparison compared_runs = compared("seqcdc-absorbing", bytes);
  EXPECT_GT(compared_runs.printed.chunks, compared_runs.ours.chunks);
  std::vector<std::uint8_t> rising(4096, 0);
  for (std::size_t i = 600; i < rising.size(); ++i) rising[i] = static_cast<std::uint8_t>((i - 600) / 2);
  const printed_definition absorbing = definition_of("seqcdc-absorbing");
  EXPECT_EQ(absorbing.cut(rising, 0), 611U) << "five steps, each of two bytes";
  EXPECT_EQ(absorbing.ours.find_cuts(rising).front().length, 2 * average);
}

TEST(definition_comparison, repeated_chunks_count_once) {
  const auto bytes = random_bytes(100'000, 256);
  const printed_definition same = definition_of("ae-algorithm-1");
  const definition_comparison twice = compare(same, {bytes, bytes}, 1);
  EXPECT_EQ(twice.bytes, 200'000U);
  EXPECT_EQ(twice.printed.unique_bytes, 100'000U);
  EXPECT_EQ(twice.shared_cuts, twice.ours.chunks);
  EXPECT_GT(twice.printed.seconds, 0);
  EXPECT_EQ(compare(same, {bytes}, 0).ours.seconds, 0);
}

}  // namespace

// The phases of figure 1: each algorithm has the phases that it consists of, and no other, and they find the cuts of the reference.

namespace {

/// All phases of one round are within its time, which a phase that is the difference of two loops would not be.
TEST(phases, are_those_of_the_algorithm) {
  const aligned_bytes data = aligned_bytes::random(4 * MiB + 1);
  const auto begin = std::chrono::steady_clock::now();
  const std::vector<phase_seconds> all = measure_phases(data.view(), 1);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  ASSERT_EQ(all.size(), 7U);
  double sum = 0;
  for (const phase_seconds& each : all) {
    const bool has_hash = each.name != "RAM" && each.name != "AE" && each.name != "SEQ";
    EXPECT_TRUE(each.has_right_cuts) << each.name;
    EXPECT_EQ(each.rolling_hash > 0, has_hash) << each.name;
    EXPECT_EQ(each.boundary_test > 0, has_hash || each.name == "SEQ") << each.name;
    EXPECT_EQ(each.extreme_search > 0, each.name == "RAM" || each.name == "AE") << each.name;
    EXPECT_EQ(each.range_scan > 0, each.name == "RAM") << each.name;
    EXPECT_GT(each.fingerprint, 0) << each.name;
    EXPECT_GT(each.readings, 0) << each.name;
    EXPECT_GT(each.one_loop, 0) << each.name;
    sum += each.sum() + each.one_loop;
  }
  EXPECT_LT(sum, seconds);
}

}  // namespace

}  // namespace cutpoint::bench
