// Tests whole batches (copied in, cut, fingerprinted, copied out) on each executor: the host double, and the first
// device. The tests on a device are skipped, with the reason, if there is none.
#include <gtest/gtest.h>

#include "cuda/batch/batch_offload.h"
#include "cuda/batch/workspace.h"
#include "tests/cuda/support/executor_cases.h"
#include "tests/cuda/support/packed_streams.h"
#include "tests/host/algorithms/chunkers.h"
#include "tests/host/support/faults.h"

namespace cutpoint::cuda {
namespace {

using tests::seeded_choices;
using byte_vector = std::vector<std::uint8_t>;

class executors : public executor_test {};

packed_streams packed(const std::vector<byte_vector>& streams) {
  packed_streams all;
  for (const byte_vector& stream : streams) all.add(stream);
  return all;
}

/// Draws some streams of all contents, of up to `longest` bytes.
std::vector<byte_vector> draw_streams(std::uint64_t longest, tests::choices& random) {
  std::vector<byte_vector> streams(random.between(1, 6));
  for (byte_vector& stream : streams) {
    const auto what = random.one_of(tests::content::mixed);
    stream = tests::make_stream(what, random.between(1, longest), random);
  }
  return streams;
}

/// Returns streams whose lengths are near sizes at which the code behaves differently.
std::vector<byte_vector> edge_streams(const chunker& cuts, std::uint64_t longest, tests::choices& random) {
  const tests::chunk_limits limits = tests::limits_of(cuts.parameters());
  std::vector<byte_vector> streams;
  for (const std::uint64_t edge : {std::uint64_t{1}, std::uint64_t{16}, limits.shortest, longest, limits.longest}) {
    if (edge > std::max(longest, std::uint64_t{64} * KiB)) continue;
    for (const std::uint64_t length : {edge - 1, edge, edge + 1}) {
      const auto what = random.one_of(tests::content::mixed);
      if (length != 0) streams.push_back(tests::make_stream(what, length, random));
    }
  }
  return streams;
}

/// Runs one batch and expects the references' chunks. Returns false if the batch was refused, which is allowed if
/// chunks are short.
bool expect_batch(offload& offload, const std::vector<byte_vector>& streams, const chunker& cuts,
                  const fingerprint_recipe& recipe) {
  const packed_streams all = packed(streams);
  batch_output output;
  const status ran = offload.run(all.input(), output);
  EXPECT_TRUE(ran.ok()) << cuts.canonical() << ": " << ran.message();
  if (!ran.ok()) return true;
  if (!output.is_complete) {
    EXPECT_LT(tests::limits_of(cuts.parameters()).shortest, min_supported_chunk_bytes) << cuts.canonical();
    return false;
  }
  SCOPED_TRACE(cuts.canonical());
  expect_streams(output, all, cuts, recipe);
  return true;
}

TEST_P(executors, cut_and_fingerprint_by_tiny_parameters_of_every_algorithm_as_the_references_do) {
  const auto recipes = device_recipes();
  for (std::size_t which = 0; which < tests::algorithm_count; ++which) {
    std::uint64_t complete = 0;
    for (std::uint64_t round = 0; round < GetParam().rounds && !HasFailure(); ++round) {
      seeded_choices random(1000 * which + round);
      const chunker cuts = tests::tiny_chunker(which, random);
      const fingerprint_recipe& recipe = recipes[round % recipes.size()];
      const auto streams = draw_streams(round % 2 == 0 ? 100 : GetParam().longest, random);
      const std::uint64_t byte_count = packed(streams).byte_count();
      const auto offload = make(cuts, recipe, {.bytes = byte_count, .stream_ranges = streams.size()});
      if (offload && expect_batch(*offload, streams, cuts, recipe)) ++complete;
    }
    EXPECT_GT(complete, 0u) << tests::algorithm_name(which);
  }
}

TEST_P(executors, cut_and_fingerprint_by_every_name_of_the_catalog_as_the_references_do) {
  const auto recipes = device_recipes();
  std::size_t number = 0;
  for (const catalog_entry& entry : catalog()) {
    const chunker cuts = small_chunker(entry);
    seeded_choices random(number);
    const fingerprint_recipe& recipe = recipes[number++ % recipes.size()];
    const auto streams = edge_streams(cuts, GetParam().longest, random);
    const auto offload = make(cuts, recipe, {.bytes = packed(streams).byte_count(), .stream_ranges = streams.size()});
    ASSERT_TRUE(offload);
    EXPECT_TRUE(expect_batch(*offload, streams, cuts, recipe)) << entry.name;
    if (HasFailure()) return;
  }
}

TEST_P(executors, find_in_one_batch_nothing_of_another) {
  const chunker cuts = small_gear();
  for (const fingerprint_recipe& recipe : device_recipes()) {
    const auto offload = make(cuts, recipe, {.bytes = 300'000, .stream_ranges = 16});
    ASSERT_TRUE(offload);
    for (std::uint64_t batch = 0; batch < 4; ++batch) {  // the next batch reuses the memory of this one
      std::vector<byte_vector> streams;
      for (const std::size_t size : {200'000u, 1u, 63u, 64u, 65u, 5'000u, 1'024u, 40'001u}) {
        streams.push_back(random_bytes((batch == 2 ? size / 9 : size) + batch, size + batch));
      }
      ASSERT_TRUE(expect_batch(*offload, streams, cuts, recipe)) << "batch " << batch;
    }
  }
}

TEST_P(executors, stop_where_a_stream_that_goes_on_is_undecided) {
  const chunker cuts = small_gear();
  const byte_vector stream = random_bytes(100'000, 1);
  const auto offload = make(cuts, fingerprint_kind::none, {.bytes = 100'000, .stream_ranges = 1});
  ASSERT_TRUE(offload);
  const byte_span whole(stream);
  const stream_range shown{.begin = 0, .start = 0, .stop = 90'000, .end = 95'000, .ends = 0};
  batch_output output;
  const std::array buffers{whole.first(50'000), whole.subspan(50'000, 45'000)};
  ASSERT_TRUE(offload->run({.buffers = buffers, .stream_ranges = {&shown, 1}}, output).ok());
  std::uint64_t position = 0;
  std::size_t count = 0;
  for (const chunk& each : cuts.find_cuts(stream)) {
    if (each.offset >= shown.stop || shown.end - each.offset < cuts.reach()) break;
    ASSERT_EQ(output.lengths[count++], each.length);
    position += each.length;
  }
  EXPECT_EQ(output.lengths.size(), count);
  EXPECT_EQ(output.stream_ranges.front().next, position);
  EXPECT_GE(position, shown.stop);
  EXPECT_TRUE(output.digests.empty());
}

TEST_P(executors, take_no_more_than_their_limits) {
  const auto offload = make(small_gear(), fingerprint_kind::none, {.bytes = 1'000, .stream_ranges = 1});
  ASSERT_TRUE(offload);
  batch_output output;
  const status ran = offload->run(packed({random_bytes(1'001, 1)}).input(), output);
  EXPECT_EQ(ran.code(), status_code::invalid_argument);
  EXPECT_NE(ran.message().find("1001 bytes"), std::string::npos) << ran.message();
  ASSERT_TRUE(offload->run({.buffers = {}, .stream_ranges = {}}, output).ok());
  EXPECT_TRUE(output.is_complete);
  EXPECT_TRUE(output.lengths.empty());
}

TEST_P(executors, serve_two_threads_at_once) {
  const std::array<chunker, 2> cuts = {small_gear(), tests::chunker_of("fixed", "avg_bytes=1000")};
  const std::array<fingerprint_kind, 2> kinds = {fingerprint_kind::sha256, fingerprint_kind::blake3};
  std::array<std::unique_ptr<offload>, 2> offload;
  std::array<packed_streams, 2> all;
  std::array<std::vector<byte_vector>, 2> streams;
  for (std::size_t i = 0; i < 2; ++i) {
    offload[i] = make(cuts[i], kinds[i], {.bytes = 400'000, .stream_ranges = 3});
    ASSERT_TRUE(offload[i]);
    for (const std::size_t size : {250'000u, 30u, 100'000u}) streams[i].push_back(random_bytes(size, size + i));
    all[i] = packed(streams[i]);
  }
  std::array<batch_output, 2> output;
  std::array<status, 2> ran;
  const auto work = [&](std::size_t i) {
    for (int batch = 0; batch < 5 && ran[i].ok(); ++batch) ran[i] = offload[i]->run(all[i].input(), output[i]);
  };
  std::thread other(work, 1);
  work(0);
  other.join();
  for (std::size_t i = 0; i < 2; ++i) {
    ASSERT_TRUE(ran[i].ok()) << ran[i].message();
    ASSERT_TRUE(output[i].is_complete);
    ASSERT_NO_FATAL_FAILURE(expect_streams(output[i], all[i], cuts[i], kinds[i]));
  }
}

INSTANTIATE_TEST_SUITE_P(, executors, testing::ValuesIn(executor_cases()), executor_case_name);

}  // namespace
// Tests the plan of a batch's partitions.

namespace {

partition_plan plan_of(const char* name, std::uint64_t batch_bytes) {
  return plan_partitions(sizes_of(tests::chunker_of(name)), {.bytes = batch_bytes});
}

TEST(partition_plan, gives_a_batch_more_partitions_if_chains_take_long_to_meet) {
  for (const char* name : {"ae-max", "ae-min", "ram"}) {
    const chunk_estimates sizes = sizes_of(tests::chunker_of(name));
    const std::uint64_t resync_bytes = sizes.resync_chunks * sizes.typical_chunk_bytes;
    EXPECT_EQ(plan_of(name, 32 * MiB).partition_bytes, resync_bytes) << name;
    EXPECT_EQ(plan_of(name, 2 * GiB).partition_bytes, 4 * resync_bytes) << name;
  }
}

TEST(partition_plan, has_rounds_in_which_nearly_all_chains_meet) {
  for (const catalog_entry& entry : catalog()) {
    const chunk_estimates sizes = sizes_of(entry.defaults);
    for (const std::uint64_t batch_bytes : {64 * KiB, 32 * MiB, 2 * GiB}) {
      const partition_plan plan = plan_partitions(sizes, {.bytes = batch_bytes});
      EXPECT_GE(plan.rounds, 4u) << entry.name;
      EXPECT_LE(plan.rounds, 8u) << entry.name;
      EXPECT_GE(plan.rounds * plan.partition_bytes, 8 * sizes.resync_chunks * sizes.typical_chunk_bytes) << entry.name;
    }
  }
}

}  // namespace
}  // namespace cutpoint::cuda
