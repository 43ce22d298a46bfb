// Tests the fingerprinting of known chunks on each executor: the digests are the library's, wherever the chunks lie.
#include "tests/cuda/support/known_chunks.h"

#include <gmock/gmock.h>

#include "tests/cuda/support/executor_cases.h"
#include "tests/cuda/support/packed_streams.h"
#include "tests/host/support/choices.h"

namespace cutpoint::cuda {
namespace {

using testing::HasSubstr;

class known_chunks_on : public executor_test {};

void expect_digests(offload& offload, const known_chunks& chunks, const fingerprint_recipe& recipe) {
  chunk_output output;
  const status outcome = offload.fingerprint(chunks.input(), output);
  ASSERT_TRUE(outcome.ok()) << outcome.message();
  const auto expected = chunks.digests(recipe);
  ASSERT_EQ(output.digests.size(), expected.size());
  const auto differing = std::mismatch(expected.begin(), expected.end(), output.digests.begin()).first;
  ASSERT_TRUE(differing == expected.end())
      << "chunk " << static_cast<std::size_t>(differing - expected.begin()) / offload.digest_bytes();
}

TEST_P(known_chunks_on, have_the_digests_of_the_library_for_ragged_lengths_gaps_and_many_parts) {
  for (const fingerprint_recipe& recipe : device_recipes()) {
    for (const offload_use use : {offload_use::cut, offload_use::fingerprint}) {
      const auto offload = make(small_gear(), recipe, {.bytes = 400'000, .chunks = 10'000}, use);
      ASSERT_TRUE(offload);
      for (std::uint64_t seed = 0; seed < 6; ++seed) {  // the memory of one batch is reused by the next
        tests::seeded_choices random(seed);
        known_chunks chunks(random_bytes(random.between(300'000, 400'000), seed));
        chunks.draw(random);
        chunks.split(random.between(1, 9), random);
        ASSERT_NO_FATAL_FAILURE(expect_digests(*offload, chunks, recipe)) << "seed " << seed;
      }
    }
  }
}

TEST_P(known_chunks_on, may_be_empty_or_the_whole_batch_or_none) {
  for (const fingerprint_recipe& recipe : device_recipes()) {
    const auto offload = make(small_gear(), recipe, {.bytes = 100'001, .chunks = 4}, offload_use::fingerprint);
    ASSERT_TRUE(offload);
    known_chunks whole(random_bytes(100'001, 1));
    whole.add(0, 100'001);
    ASSERT_NO_FATAL_FAILURE(expect_digests(*offload, whole, recipe));
    known_chunks empty(random_bytes(100, 2));
    for (const std::uint64_t begin : {0u, 33u, 33u, 100u}) empty.add(begin, 0);
    ASSERT_NO_FATAL_FAILURE(expect_digests(*offload, empty, recipe));
    ASSERT_NO_FATAL_FAILURE(expect_digests(*offload, known_chunks(random_bytes(100, 3)), recipe));
    ASSERT_NO_FATAL_FAILURE(expect_digests(*offload, known_chunks({}), recipe));
  }
}

/// Such chunks cannot be cut in batches, but they can be fingerprinted.
TEST_P(known_chunks_on, may_be_of_an_algorithm_without_a_maximum) {
  const chunker cuts = *chunker::make(gear_parameters{.avg_bytes = 1024, .min_bytes = 64, .max_bytes = 0});
  const auto offload = make(cuts, fingerprint_kind::sha256, {.bytes = 200'000}, offload_use::fingerprint);
  ASSERT_TRUE(offload);
  known_chunks chunks(random_bytes(200'000, 5));
  for (const chunk& each : cuts.find_cuts(chunks.bytes())) {
    chunks.add(each.offset, static_cast<std::uint32_t>(each.length));
  }
  expect_digests(*offload, chunks, fingerprint_kind::sha256);
}

TEST_P(known_chunks_on, take_turns_with_batches_that_are_cut) {
  const chunker cuts = small_gear();
  for (const fingerprint_recipe& recipe : device_recipes()) {
    const auto offload = make(cuts, recipe, {.bytes = 60'000, .stream_ranges = 2});
    ASSERT_TRUE(offload);
    for (std::uint64_t turn = 0; turn < 3; ++turn) {
      tests::seeded_choices random(turn);
      known_chunks chunks(random_bytes(50'000, turn));
      chunks.draw(random);
      ASSERT_NO_FATAL_FAILURE(expect_digests(*offload, chunks, recipe));
      const auto first = random_bytes(40'000, 10 + turn);
      const auto second = random_bytes(20'000 - turn, 20 + turn);
      packed_streams streams;
      streams.add(first);
      streams.add(second);
      batch_output output;
      ASSERT_TRUE(offload->run(streams.input(), output).ok());
      ASSERT_TRUE(output.is_complete);
      ASSERT_NO_FATAL_FAILURE(expect_streams(output, streams, cuts, recipe));
    }
  }
}

TEST_P(known_chunks_on, are_no_more_than_the_limits_and_neither_overlap_nor_leave_the_batch) {
  const auto offload =
      make(small_gear(), fingerprint_kind::sha1, {.bytes = 1'000, .chunks = 2}, offload_use::fingerprint);
  ASSERT_TRUE(offload);
  const auto why = [&](std::size_t bytes, const std::vector<std::pair<std::uint64_t, std::uint32_t>>& chunks) {
    known_chunks asked(random_bytes(bytes, 1));
    for (const auto& [begin, length] : chunks) asked.add(begin, length);
    chunk_output output;
    const status refused = offload->fingerprint(asked.input(), output);
    EXPECT_EQ(refused.code(), status_code::invalid_argument);
    EXPECT_TRUE(output.digests.empty());
    return refused.message();
  };
  EXPECT_EQ(why(1'001, {{0, 1}}), "a batch of 1001 bytes and 1 chunks is more than 1000 and 2");
  EXPECT_EQ(why(10, {{0, 1}, {1, 1}, {2, 1}}), "a batch of 10 bytes and 3 chunks is more than 1000 and 2");
  EXPECT_EQ(why(10, {{0, 5}, {4, 1}}), "chunk 1 begins at 4, before the end at 5 of the one before it");
  EXPECT_EQ(why(10, {{0, 5}, {8, 3}}), "chunk 1 of 3 bytes at 8 ends after the batch of 10");
  EXPECT_EQ(why(10, {{11, 0}}), "chunk 0 of 0 bytes at 11 ends after the batch of 10");
  const std::uint64_t begin = 0;
  chunk_output output;
  EXPECT_THAT(offload->fingerprint({.buffers = {}, .begins = {&begin, 1}, .lengths = {}}, output).message(),
              HasSubstr("1 chunks are given with 0 lengths"));
}

TEST_P(known_chunks_on, are_refused_for_kinds_that_devices_do_not_make_and_cuts_by_what_only_fingerprints) {
  const auto of_md5 = make(small_gear(), fingerprint_kind::md5, {.bytes = 100});
  ASSERT_TRUE(of_md5);
  EXPECT_EQ(of_md5->digest_bytes(), 0u);
  chunk_output none;
  EXPECT_THAT(of_md5->fingerprint({}, none).message(), HasSubstr("no device makes this fingerprint"));
  const auto offload = make(small_gear(), fingerprint_kind::sha1, {.bytes = 100}, offload_use::fingerprint);
  ASSERT_TRUE(offload);
  batch_output output;
  EXPECT_EQ(offload->run({}, output).code(), status_code::invalid_argument);
  EXPECT_FALSE(output.is_complete);
}

TEST_P(known_chunks_on, ask_for_no_memory_that_cutting_needs) {
  const batch_limits limits{.bytes = 1 * MiB, .chunks = 1'000};
  for (const fingerprint_recipe& recipe : device_recipes()) {
    const auto cutting = make(small_gear(), recipe, limits);
    const auto known = make(small_gear(), recipe, limits, offload_use::fingerprint);
    ASSERT_TRUE(cutting && known);
    EXPECT_LT(known->memory_bytes(), limits.bytes + limits.bytes / 4);
    EXPECT_GT(cutting->memory_bytes(), known->memory_bytes() + limits.bytes / 8);
  }
}

void expect_ordered(const batch_times& times) {
  double before = 0;
  for (const time_span& span : {times.copying_in, times.cutting, times.fingerprinting, times.copying_out}) {
    EXPECT_LE(before, span.begin);
    EXPECT_LE(span.begin, span.end);
    before = span.end;
  }
  EXPECT_GT(times.copying_out.end, 0);
  EXPECT_GT(times.copying_in.seconds(), 0);
}

TEST_P(known_chunks_on, and_batches_say_when_their_parts_were_at_work) {
  const auto offload = make(small_gear(), fingerprint_kind::sha256, {.bytes = 300'000});
  ASSERT_TRUE(offload);
  const auto stream = random_bytes(300'000, 1);
  packed_streams streams;
  streams.add(stream);
  batch_output cut;
  ASSERT_TRUE(offload->run(streams.input(), cut).ok());
  expect_ordered(cut.times);
  EXPECT_GT(cut.times.cutting.seconds(), 0);
  EXPECT_GT(cut.times.fingerprinting.seconds(), 0);
  known_chunks chunks(stream);
  chunks.add(0, 150'000);
  chunk_output known;
  ASSERT_TRUE(offload->fingerprint(chunks.input(), known).ok());
  expect_ordered(known.times);
  EXPECT_GT(known.times.fingerprinting.seconds(), known.times.cutting.seconds());
}

INSTANTIATE_TEST_SUITE_P(, known_chunks_on, testing::ValuesIn(executor_cases()), executor_case_name);

}  // namespace
}  // namespace cutpoint::cuda
