// Tests every algorithm against the naive implementation of its definition, on short streams of low entropy.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "host/algorithms/buzhash.h"
#include "host/tables/borg1_buzhash32.h"
#include "host/tables/casync_buzhash32.h"
#include "host/tables/fastcdc2020_gear64.h"
#include "host/tables/ipfs_buzhash32.h"
#include "host/tables/kopia_buzhash32.h"
#include "host/tables/ronomon_gear31.h"
#include "host/tables/xet_gear64.h"
#include "tests/host/algorithms/chunkers.h"
#include "tests/host/hash/sha256.h"
#include "tests/host/naive/naive.h"
#include "tests/host/support/faults.h"
#include "tests/host/support/streams.h"

namespace cutpoint::tests {
namespace {

/// Returns a length above which a stream has several chunks, with or without a maximum.
std::uint64_t scale_of(const chunker& chunker) {
  return std::min<std::uint64_t>(limits_of(chunker.parameters()).longest, 300);
}

class algorithm_definition : public testing::TestWithParam<algorithm_case> {};

TEST_P(algorithm_definition, cuts_every_short_stream_as_defined) {
  seeded_choices random(GetParam().which + 1);
  for (int round = 0; round < GetParam().rounds; ++round) {
    const chunker chunker = tiny_chunker(GetParam().which, random);
    const std::uint64_t longest = limits_of(chunker.parameters()).longest;
    const std::uint64_t last_length = longest == unlimited ? 300 : 2 * longest + 8;
    const content what = all_contents[static_cast<std::size_t>(round) % all_contents.size()];
    const auto stream = make_stream(what, last_length, random);
    for (std::uint64_t length = 0; length <= last_length; ++length) {
      ASSERT_EQ(definition_fault(chunker, byte_span(stream).first(length)), "") << name_of(what);
    }
  }
}

TEST_P(algorithm_definition, cuts_streams_of_any_content_as_defined) {
  seeded_choices random(GetParam().which + 1001);
  for (int round = 0; round < GetParam().rounds; ++round) {
    for (const content what : all_contents) {
      const chunker chunker = tiny_chunker(GetParam().which, random);
      const auto stream = make_stream(what, random.between(1, 12 * scale_of(chunker)), random);
      ASSERT_EQ(definition_fault(chunker, stream), "") << name_of(what);
    }
  }
}

TEST_P(algorithm_definition, cuts_long_random_streams_as_defined) {
  seeded_choices random(GetParam().which + 3001);
  for (int round = 0; round < GetParam().rounds; ++round) {
    const chunker chunker = tiny_chunker(GetParam().which, random);
    ASSERT_EQ(definition_fault(chunker, make_stream(content::random, 40'000, random)), "");
  }
}

INSTANTIATE_TEST_SUITE_P(few_rounds, algorithm_definition, testing::ValuesIn(algorithm_cases(13)), case_name);
INSTANTIATE_TEST_SUITE_P(full, algorithm_definition, testing::ValuesIn(algorithm_cases(400)), case_name);

class catalog_definition : public testing::TestWithParam<std::string> {};

TEST_P(catalog_definition, cuts_by_default_as_defined) {
  seeded_choices random(17);
  for (const content what : {content::random, content::mixed}) {
    EXPECT_EQ(definition_fault(chunker_of(GetParam()), make_stream(what, 150'001, random)), "") << name_of(what);
  }
}

INSTANTIATE_TEST_SUITE_P(of_the_catalog, catalog_definition, testing::ValuesIn(catalog_names()), catalog_test_name);

TEST(masks, take_every_bit_of_a_large_average) {
  seeded_choices random(16);
  const auto stream = make_stream(content::random, 1'500'000, random);
  for (const std::string_view name : {"rabin", "rabin-inck", "adler", "crc32", "buzhash", "tttd"}) {
    EXPECT_EQ(definition_fault(chunker_of(name, "window=5,min_bytes=5,avg_bytes=64K,max_bytes=0"), stream), "");
    EXPECT_EQ(definition_fault(chunker_of(name, "window=5,min_bytes=5,avg_bytes=256K,max_bytes=512K"), stream), "");
  }
  EXPECT_EQ(definition_fault(chunker_of("gear", "min_bytes=64,avg_bytes=64K,max_bytes=0"), stream), "");
}

TEST(tttd, cuts_after_the_last_backup_at_the_maximum_only) {
  // With D = 4 and a window of one byte, multiples of 4 match the divisor, and 2 is a backup.
  std::vector<std::uint8_t> bytes(16, 1);
  bytes[6] = bytes[12] = 2;
  const chunker chunker = chunker_of("tttd", "window=1,min_bytes=1,avg_bytes=4,max_bytes=10");
  EXPECT_EQ(lengths_of(chunker.find_cuts(bytes)), (std::vector<std::uint64_t>{7, 9}));
}

TEST(casync, has_the_divisors_of_the_programs_for_large_averages) {
  // What Go 1.26 computes on x86-64 for desync. casync takes the maximum where the quotient is negative.
  const std::pair<std::uint64_t, std::uint64_t> desync[] = {
      {64 * KiB, 49535},       {8 * MiB, 62724856},    {9'300'000, 2650458854},
      {9'324'556, 2498119836}, {9'324'557, 876723888}, {12'000'000, 4263577602},
      {16 * MiB, 4279212592},  {32 * MiB, 4285275588}, {128 * MiB, 4287446344},
  };
  for (const auto& [avg, divisor] : desync) {
    buzhash_parameters p{
        .avg_bytes = avg, .min_bytes = 48, .max_bytes = 128 * MiB, .test = buzhash_test::desync_legacy};
    EXPECT_EQ(casync_divisor(p), divisor);
    p.test = buzhash_test::casync;
    EXPECT_EQ(casync_divisor(p), avg <= 8 * MiB ? divisor : 128 * MiB);
  }
}

TEST(casync, cuts_where_the_residue_is_the_largest_for_a_large_average) {
  for (const planted_cut& each : planted_cuts) {
    EXPECT_EQ(lengths_of(chunker_of(each.name, each.settings).find_cuts(each.stream())), each.lengths()) << each.name;
  }
}

TEST(seqcdc, counts_steps_and_skips_bytes_after_the_one_compared) {
  // min - k = 2. The steps at 2 and 3 fall and trigger a skip of 3 bytes. Then steps 7 and 8 are compared, and rise.
  const std::vector<std::uint8_t> bytes = {9, 8, 7, 6, 7, 8, 9, 10, 11, 12};
  const chunker chunker =
      chunker_of("seqcdc-inc", "seq_length=2,min_bytes=4,avg_bytes=8,max_bytes=0,skip_trigger=2,skip_size=3");
  EXPECT_EQ(lengths_of(chunker.find_cuts(bytes)), (std::vector<std::uint64_t>{9, 1}));
}

// The tables are those of their systems: those with a derivation are derived again, and all are pinned.

/// Returns the SHA-256 of the entries as hexadecimal lines without leading zeros.
template <class Table>
std::string sha256_of_lines(const Table& table) {
  std::string lines;
  for (const auto entry : table) lines += fmt::format("{:x}\n", entry);
  return sha256_hex(as_bytes(lines));
}

TEST(tables, are_derived_from_md5_of_each_byte_repeated_and_the_key_stream_of_aes_256) {
  EXPECT_EQ(tables::fastcdc2020_gear64, naive::derived_gear_table());
  EXPECT_EQ(tables::ronomon_gear31, naive::derived_ronomon_table());
}

TEST(tables, never_change) {
  const std::pair<std::string, std::string_view> pinned_tables[] = {
      {sha256_of_lines(tables::fastcdc2020_gear64), "61209d8788570ceb59ebf330772169a59decffc7b9c35b58147e8efd0b818b61"},
      {sha256_of_lines(tables::ronomon_gear31), "7c5fa112315f39e724d2be754c39ca8bb1aa973a8e382eb324df0c8022388e33"},
      {sha256_of_lines(tables::xet_gear64), "5dd9bf88cb6516bab9dae1e54c5c9ef0c6888c0b82f4df7fd85a988f734fd055"},
      {sha256_of_lines(tables::casync_buzhash32), "71f9a7d72f2482ea87d52abfb2486a4a97e767191db00618f7feeb86db14ee74"},
      {sha256_of_lines(tables::kopia_buzhash32), "f748d6a2ff9206c27bfe07b6b2d5ef80bd2ddb15ce2a8c806354b59a8de89575"},
      {sha256_of_lines(tables::ipfs_buzhash32), "fe0691d06a731282f4f37370c3cbfbe684f112936b524a9918d56ce85bd60e18"},
      {sha256_of_lines(tables::borg1_buzhash32), "1ee7c026f65733c4622a7dcccd1c861fa4118ed00364f475a95a32a6b96f6642"},
  };
  for (const auto& [actual, expected] : pinned_tables) EXPECT_EQ(actual, expected);
}

}  // namespace
}  // namespace cutpoint::tests
