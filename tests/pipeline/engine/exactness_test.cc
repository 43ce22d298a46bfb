// Tests that cuts and fingerprints are the sequential ones, whatever the lanes, segments, memory and feeding are.
#include "tests/pipeline/support/exactness.h"

#include <gtest/gtest.h>

#include "tests/host/algorithms/chunkers.h"
#include "tests/host/support/choices.h"
#include "tests/host/support/streams.h"
#include "tests/pipeline/support/recorder.h"
#include "tests/pipeline/support/stepped_feed.h"

namespace cutpoint::tests {
namespace {

/// CUTPOINT_EXACTNESS_CASES sets the number of cases of each algorithm, and CUTPOINT_EXACTNESS_SEED selects other
/// cases.
class exact_join : public testing::TestWithParam<algorithm_case> {};

TEST_P(exact_join, gives_the_sequential_cuts_in_every_history) {
  const std::uint64_t count =
      from_environment("CUTPOINT_EXACTNESS_CASES", static_cast<std::uint64_t>(GetParam().rounds));
  const std::uint64_t first = from_environment("CUTPOINT_EXACTNESS_SEED", 1) * 1'000'000'007;
  for (std::uint64_t i = 0; i < count; ++i) {
    seeded_choices random(first + i * algorithm_count + GetParam().which);
    const std::string fault = exactness_fault(GetParam().which, random);
    ASSERT_EQ(fault, "") << "case " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(of_every_algorithm, exact_join, testing::ValuesIn(algorithm_cases(1'000, 6'000)), case_name);

// Tests of the joins `pdedupe` and `none`, against naive implementations of their definitions on whole streams.

/// Cuts each segment as if it were a whole stream.
std::vector<std::vector<chunk>> cut_apart(const chunker& cuts, byte_span stream, std::uint64_t segment) {
  std::vector<std::vector<chunk>> segments;
  for (std::uint64_t begin = 0; begin < stream.size(); begin += segment) {
    auto chunks = cuts.find_cuts(stream.subspan(begin, std::min<std::uint64_t>(segment, stream.size() - begin)));
    for (chunk& c : chunks) c.offset += begin;
    segments.push_back(std::move(chunks));
  }
  return segments;
}

std::vector<chunk> joined_naively(const chunker& cuts, byte_span stream, std::uint64_t segment, join_kind join) {
  std::vector<chunk> all;
  for (std::vector<chunk>& next : cut_apart(cuts, stream, segment)) {
    if (join == join_kind::pdedupe && !all.empty()) {
      const std::uint64_t x = all.back().offset;
      const std::uint64_t z = next.front().offset + next.front().length;
      all.pop_back();
      next.erase(next.begin());
      for (const chunk& c : cuts.find_cuts(stream.subspan(x, z - x))) all.push_back({x + c.offset, c.length});
    }
    all.insert(all.end(), next.begin(), next.end());
  }
  return all;
}

class lossy_joins : public testing::TestWithParam<algorithm_case> {};

TEST_P(lossy_joins, are_as_the_paper_says) {
  for (int round = 0; round < GetParam().rounds; ++round) {
    seeded_choices random(static_cast<std::uint64_t>(round) * 64 + GetParam().which);
    const std::vector<chunker> rules = {tiny_chunker(GetParam().which, random),
                                        tiny_chunker(random.between(0, algorithm_count - 1), random)};
    const std::uint64_t reach = std::max(rules[0].reach(), rules[1].reach());
    if (reach == unlimited) continue;
    std::vector<fed_stream> streams(random.between(1, 3));
    for (fed_stream& s : streams) {
      s.rule = random.between(0, 1);
      s.bytes =
          make_stream(all_contents[random.between(0, all_contents.size() - 1)], random.between(0, 12'000), random);
    }
    for (const join_kind join : {join_kind::pdedupe, join_kind::none}) {
      const feed_options options{.cuts = rules[0],
                                 .rule_cuts = {rules[1]},
                                 .fingerprint = fingerprint_kind::xxh3,
                                 .join = join,
                                 .segment_bytes = 2 * reach + random.between(1, 900)};
      recorder out;
      const auto run = run_on_virtual_lanes(options, random.between(1, 4), streams, out, random);
      ASSERT_TRUE(run.outcome.ok()) << run.outcome.message();
      ASSERT_EQ(run.fault + out.fault, "");
      for (std::size_t i = 0; i < streams.size(); ++i) {
        const chunker& cuts = rules[streams[i].rule];
        ASSERT_EQ(out.streams[i].chunks, joined_naively(cuts, streams[i].bytes, options.segment_bytes, join))
            << cuts.canonical() << " segment " << options.segment_bytes << " round " << round;
        ASSERT_EQ(out.streams[i].bytes, streams[i].bytes);
        ASSERT_EQ(out.streams[i].rule, streams[i].bytes.empty() ? 0 : streams[i].rule);
        auto fingerprint = fingerprinter::make(fingerprint_kind::xxh3);
        for (std::size_t c = 0; c < out.streams[i].chunks.size(); ++c) {
          const chunk where = out.streams[i].chunks[c];
          ASSERT_EQ(out.streams[i].fingerprints[c],
                    (*fingerprint)(byte_span(streams[i].bytes).subspan(where.offset, where.length)).value());
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(of_every_algorithm, lossy_joins, testing::ValuesIn(algorithm_cases(200)), case_name);

TEST(joins, of_pdedupe_hold_two_chunks_and_no_more) {
  const chunker cuts = chunker_of("fastcdc", "min_bytes=2K,avg_bytes=8K,max_bytes=64K");
  const std::vector<fed_stream> zeros = {{.bytes = std::vector<std::uint8_t>(1'000'000, 0)}};
  for (const std::uint64_t segment_bytes : {132 * KiB, 192 * KiB}) {
    feed_options options{.cuts = cuts, .join = join_kind::pdedupe, .segment_bytes = segment_bytes};
    const auto expected = joined_naively(cuts, zeros[0].bytes, segment_bytes, join_kind::pdedupe);
    for (const std::uint64_t memory_bytes : {128 * KiB, 129 * KiB, 140 * KiB, 300 * KiB}) {
      options.memory_bytes = memory_bytes;
      for (const std::uint64_t lanes : {1u, 2u}) {
        seeded_choices random(memory_bytes);
        recorder out;
        const auto run = run_on_virtual_lanes(options, lanes, zeros, out, random);
        ASSERT_TRUE(run.outcome.ok()) << run.outcome.message() << " with " << memory_bytes;
        EXPECT_EQ(out.streams[0].chunks, expected);
      }
    }
    options.memory_bytes = 128 * KiB - 1;
    seeded_choices random(1);
    recorder out;
    const status refused = run_on_virtual_lanes(options, 1, zeros, out, random).outcome;
    EXPECT_EQ(refused.code(), status_code::memory_limit);
    EXPECT_NE(refused.message().find("holds 131072 bytes, more than the memory allowed, 131071"), std::string::npos);
  }
}

}  // namespace
}  // namespace cutpoint::tests
