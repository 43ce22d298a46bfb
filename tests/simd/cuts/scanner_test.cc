// Tests candidate scanners: they mark what the reference marks, and a cursor finds the reference's cuts with them.
#include <cutpoint/cut_cursor.h>
#include <cutpoint/cut_stream.h>
#include <fmt/format.h>

#include "tests/host/core/read_sizes.h"
#include "tests/host/support/streams.h"
#include "tests/simd/cuts/kernel_cases.h"

namespace cutpoint::tests {
namespace {

/// Returns a description of the first position of [0, count) at which the maps differ, or an empty string.
std::string map_fault(const candidate_bits& got, const candidate_bits& expected, std::uint64_t levels,
                      std::uint64_t count) {
  for (std::uint64_t level = 0; level < levels; ++level) {
    for (std::uint64_t first = 0; first < count; ++first) {
      const std::uint64_t position = got.next(first, count, level);
      const std::uint64_t wanted = expected.next(first, count, level);
      if (position != wanted) {
        return fmt::format("level {}: position {} is marked instead of {} (of {})", level, position, wanted, count);
      }
      first = wanted;
    }
  }
  return {};
}

class scanner : public on_every_set<named_settings> {
 protected:
  void SetUp() override {
    on_every_set::SetUp();
    if (IsSkipped()) return;
    cuts_.emplace(on_set(chunker_of(of().name, of().settings), set()));
    if (cuts_->scanner() == nullptr) GTEST_SKIP() << "this set has no scanner for " << of().name;
    needs_ = *cuts_->candidate_map();
    least_ = cuts_->scanner()->least_count();
  }

  /// Scans indices [first, last) of `bytes` and compares the marks with the reference's.
  [[nodiscard]] std::string scan_fault(byte_span bytes, std::uint64_t first, std::uint64_t last) const {
    const std::uint64_t count = last - first;
    const std::uint64_t capacity = (count / 64 + 1) * 64;
    candidate_bits got(capacity, needs_.levels);
    candidate_bits expected(capacity, needs_.levels);
    if (!cuts_->scanner()->scan(bytes, first, last, 0, got)) return "candidates are said to be dense";
    const bool at_end = last + needs_.ahead > bytes.size();
    cuts_->by(nullptr).find_candidates({.bytes = bytes, .start = first, .at_end = at_end}, count, 0, expected);
    return map_fault(got, expected, needs_.levels, count);
  }

  seeded_choices random_{11};
  std::optional<chunker> cuts_;
  candidate_map_needs needs_;
  std::uint64_t least_ = 0;
};

TEST_P(scanner, marks_as_the_reference_in_ranges_of_every_length) {
  const auto bytes = make_stream(content::random, 3 * least_ + needs_.behind + needs_.ahead + 1000, random_);
  for (int round = 0; round < case_count(400); ++round) {
    const std::uint64_t first = needs_.behind + random_.between(0, 200);
    const std::uint64_t most = bytes.size() - needs_.ahead - first;
    const std::uint64_t count =
        least_ + (round < 200 ? static_cast<std::uint64_t>(round) : random_.between(0, most - least_));
    ASSERT_EQ(scan_fault(bytes, first, first + count), "") << "from " << first;
  }
}

TEST_P(scanner, marks_as_the_reference_in_several_tiles) {
  const auto bytes = make_stream(content::random, 1'400'000 + needs_.behind + needs_.ahead, random_);
  for (int round = 0; round < case_count(20); ++round) {
    const std::uint64_t last = bytes.size() - needs_.ahead - random_.between(0, 600'000);
    ASSERT_EQ(scan_fault(bytes, needs_.behind + random_.between(0, 100), last), "");
  }
}

TEST_P(scanner, reads_no_byte_that_decides_nothing) {
  const std::uint64_t size = needs_.behind + least_ + needs_.ahead;
  const guarded_pages pages(size / 4096 + 1);
  const auto stream = make_stream(content::random, pages.bytes().size(), random_);
  std::copy(stream.begin(), stream.end(), pages.bytes().begin());
  for (const byte_span bytes : {byte_span(pages.bytes()).first(size), byte_span(pages.bytes()).last(size)}) {
    ASSERT_EQ(scan_fault(bytes, needs_.behind, needs_.behind + least_), "");
  }
}

TEST_P(scanner, marks_only_its_range) {
  const auto bytes = make_stream(content::random, needs_.behind + least_ + needs_.ahead + 128, random_);
  candidate_bits got(8 * least_ + 1024, needs_.levels);
  ASSERT_TRUE(cuts_->scanner()->scan(bytes, needs_.behind + 64, needs_.behind + 64 + least_, 512, got));
  for (std::uint64_t level = 0; level < needs_.levels; ++level) {
    EXPECT_EQ(got.next(0, 512, level), 512u);
    EXPECT_EQ(got.next(512 + least_, got.capacity(), level), got.capacity());
  }
}

TEST_P(scanner, finds_the_cuts_of_every_content) {
  for (const content what : all_contents) {
    for (int round = 0; round < case_count(4); ++round) {
      const auto stream = make_stream(what, random_.between(1, 700'000), random_);
      ASSERT_EQ(cuts_fault(*cuts_, stream), "") << name_of(what);
      const std::vector<chunk> expected = cuts_->by(nullptr).find_cuts(stream);
      std::vector<chunk> chunks;
      piecewise_source source(stream, random_sizes(static_cast<std::uint64_t>(round)));
      ASSERT_TRUE(cut_stream(source, *cuts_, {}, [&](const chunk& where, byte_span) {
                    chunks.push_back(where);
                    return status();
                  }).ok());
      ASSERT_EQ(chunks, expected) << name_of(what);
    }
  }
}

TEST_P(scanner, finds_the_cuts_from_starts_in_any_order) {
  const auto stream = make_stream(content::random, 600'000, random_);
  cut_cursor cursor(*cuts_);
  for (int round = 0; round < case_count(300); ++round) {
    const std::uint64_t start = random_.between(0, stream.size() - 1);
    const std::uint64_t end = random_.once_in(2) ? stream.size() : random_.between(start + 1, stream.size());
    const stream_window window{.bytes = byte_span(stream).first(end), .start = start, .at_end = random_.once_in(3)};
    if (window.at_end) continue;  // the sequence of a cursor ends where it ends
    ASSERT_EQ(cursor.next_cut(window, start), cuts_->by(nullptr).next_cut(window)) << start << " to " << end;
  }
}

constexpr named_settings scanned[] = {
    {"rabin", "rabin", ""},
    {"rabin_without_maximum", "rabin", "window=1,min_bytes=1,avg_bytes=1K,max_bytes=0"},
    {"rabin_of_large_chunks", "rabin", "window=480,min_bytes=100K,avg_bytes=128K,max_bytes=160K"},
    {"restic", "restic", ""},
    {"tttd", "tttd", ""},
    {"tttd_of_few_candidates", "tttd", "window=65,min_bytes=1K,avg_bytes=32K,max_bytes=64K"},
    {"adler", "adler", ""},
    {"adler_without_maximum", "adler", "window=8,min_bytes=8,avg_bytes=512,max_bytes=0"},
    {"adler_of_nine_bytes", "adler", "window=9,min_bytes=9,avg_bytes=512,max_bytes=4K"},
    {"adler_of_odd_windows", "adler", "window=103,min_bytes=200,avg_bytes=64K,max_bytes=128K"},
    {"adler_of_large_chunks", "adler", "window=480,min_bytes=100K,avg_bytes=128K,max_bytes=1M"},
    {"rabin_inck", "rabin-inck", ""},
    {"rabin_inck_without_maximum", "rabin-inck", "window=32,min_bytes=32,avg_bytes=1K,max_bytes=0"},
    {"rabin_inck_with_the_largest_weight", "rabin-inck", "window=60,min_bytes=60,avg_bytes=64K,max_bytes=1M"},
    {"buzhash", "buzhash", ""},
    {"buzhash_of_large_chunks", "buzhash", "window=4000,min_bytes=100K,avg_bytes=128K,max_bytes=1M"},
    {"buzhash_of_one_byte", "buzhash", "window=1,min_bytes=1,avg_bytes=1K,max_bytes=4K"},
    {"buzhash_of_eight_bytes", "buzhash", "window=8,min_bytes=64,avg_bytes=512,max_bytes=4K"},
    {"buzhash_of_nine_bytes", "buzhash", "window=9,min_bytes=64,avg_bytes=4K,max_bytes=64K"},
    {"buzhash_of_the_longest_kept_window", "buzhash", "window=128,min_bytes=128,avg_bytes=64K,max_bytes=1M"},
    {"buzhash_of_the_shortest_line_window", "buzhash", "window=129,min_bytes=129,avg_bytes=64K,max_bytes=1M"},
    {"buzhash_of_odd_windows", "buzhash", "window=127,min_bytes=128,avg_bytes=1K,max_bytes=8K"},
    {"buzhash_of_ones", "buzhash", "test=ones,window=33,min_bytes=64,avg_bytes=512,max_bytes=4K"},
    {"casync", "casync", ""},
    {"desync", "desync-legacy", ""},
    {"kopia", "kopia-buzhash", "avg_bytes=64K"},
    {"pbs", "pbs", "avg_bytes=64K"},
    {"ipfs", "ipfs-buzhash", ""},
    {"borg1", "borg1", "min_exp=9,mask_bits=13,max_exp=16"},
    {"borg1_of_short_windows", "borg1", "min_exp=9,mask_bits=10,max_exp=16,window=511,seed=99"},
    {"borg1_default", "borg1", ""},
    {"crc32", "crc32", ""},
    {"crc32_of_large_chunks", "crc32", "window=64,min_bytes=64,avg_bytes=1M,max_bytes=8M"},
};

INSTANTIATE_TEST_SUITE_P(of_every_set, scanner,
                         testing::Combine(testing::ValuesIn(scanned), testing::ValuesIn(simd::instruction_sets)),
                         set_case_name);

}  // namespace
}  // namespace cutpoint::tests
