// Tests batches of buffers in device memory: the chunks and digests are the references', whatever the buffers, their
// alignment, and the batches before; each bound holds; the workspace is never exceeded.
#include <gtest/gtest.h>

#include "tests/cuda/support/buffer_runner.h"
#include "tests/cuda/support/executor_cases.h"
#include "tests/cuda/support/packed_streams.h"
#include "tests/host/algorithms/chunkers.h"

namespace cutpoint::cuda {
namespace {

using tests::seeded_choices;

class buffer_batches : public testing::TestWithParam<buffer_runner_case> {
 protected:
  void SetUp() override {
    if (const std::string why = GetParam().why_not(); !why.empty()) GTEST_SKIP() << why;
  }
  static std::unique_ptr<buffer_runner> make(const chunker& cuts, const fingerprint_recipe& recipe,
                                             std::uint64_t seed = 1) {
    return GetParam().make(cuts, recipe, seed);
  }
  /// Runs a batch and expects the references' chunks. Returns false if it was refused, as one of short chunks may be.
  static bool expect_batch(const chunker& cuts, const fingerprint_recipe& recipe, const host_buffers& buffers,
                           std::uint64_t seed = 1) {
    SCOPED_TRACE(cuts.canonical());
    const auto runner = make(cuts, recipe, seed);
    EXPECT_TRUE(runner);
    if (!runner) return false;
    batch_arrays arrays(*runner, buffers.bounds());
    const status ran = arrays.run(buffers);
    EXPECT_TRUE(ran.ok()) << ran.message();
    if (!ran.ok() || arrays.problem() == device_batch_problem::too_many_chunks) return false;
    arrays.expect_chunks(buffers, cuts, recipe);
    return true;
  }
};

/// Batches that take minutes where `is_slow`, and are left out there.
class large_buffer_batches : public buffer_batches {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(large_buffer_batches);

std::vector<buffer_runner_case> fast_runner_cases() {
  auto cases = buffer_runner_cases();
  std::erase_if(cases, [](const buffer_runner_case& each) { return each.is_slow; });
  return cases;
}

/// Draws buffers of all contents: most of them short, some of them empty, some whose stream goes on.
host_buffers draw_buffers(std::uint64_t most, std::uint64_t longest, tests::choices& random) {
  host_buffers all;
  for (std::uint64_t count = random.between(1, most); count != 0; --count) {
    const auto what = random.one_of(tests::content::mixed);
    const std::uint64_t size = random.once_in(8) ? 0 : random.between(0, random.once_in(2) ? 700 : longest);
    all.add(tests::make_stream(what, size, random), random.between(0, 15), !random.once_in(4));
  }
  return all;
}

TEST_P(buffer_batches, are_cut_by_tiny_parameters_of_every_algorithm_as_by_the_references) {
  const auto recipes = device_recipes();
  for (std::size_t which = 0; which < tests::algorithm_count; ++which) {
    std::uint64_t complete = 0;
    for (std::uint64_t round = 0; round < 4 * GetParam().rounds && complete < GetParam().rounds && !HasFailure();
         ++round) {
      seeded_choices random(1000 * which + round);
      const chunker cuts = tests::tiny_chunker(which, random);
      const host_buffers buffers = draw_buffers(12, GetParam().longest, random);
      if (expect_batch(cuts, recipes[round % recipes.size()], buffers, round)) ++complete;
    }
    EXPECT_GT(complete, 0u) << tests::algorithm_name(which);
  }
}

TEST_P(buffer_batches, are_cut_by_every_name_of_the_catalog_as_by_the_references) {
  const auto recipes = device_recipes();
  std::uint64_t number = 0;
  for (const catalog_entry& entry : catalog()) {
    const chunker cuts = small_chunker(entry);
    seeded_choices random(number);
    const fingerprint_recipe& recipe = recipes[number++ % recipes.size()];
    host_buffers buffers;
    for (const std::uint64_t size : {0u, 1u, 15u, 16u, 17u, 511u, 512u, 513u, 1'025u, 9'000u}) {
      buffers.add(random_bytes(size, size), random.between(0, 15), !random.once_in(5));
    }
    buffers.add(random_bytes(GetParam().longest, number), random.between(0, 15));
    EXPECT_TRUE(expect_batch(cuts, recipe, buffers, number)) << entry.name;
    if (HasFailure()) return;
  }
}

TEST_P(buffer_batches, may_have_thousands_of_buffers) {
  const chunker cuts = small_gear();
  seeded_choices random(5);
  host_buffers buffers;
  for (std::uint64_t i = 0; i < GetParam().buffers; ++i) {
    buffers.add(random_bytes(random.once_in(5) ? 0 : random.between(1, random.once_in(50) ? 5'000 : 300), i),
                random.between(0, 15));
  }
  EXPECT_TRUE(expect_batch(cuts, fingerprint_kind::blake3, buffers));
}

TEST_P(large_buffer_batches, may_have_long_buffers) {
  for (const char* name : {"fastcdc", "rabin", "ae-max"}) {
    const chunker cuts = tests::chunker_of(name);
    host_buffers buffers;
    for (const std::size_t size : {4u << 20, 3u, (1u << 20) + 1}) buffers.add(random_bytes(size, size), size % 16);
    EXPECT_TRUE(expect_batch(cuts, fingerprint_kind::sha256, buffers));
  }
}

TEST_P(large_buffer_batches, may_have_more_than_4_gibibytes) {
  constexpr std::uint64_t buffer_bytes = 1 << 20;
  constexpr std::uint64_t count = 5 * 1024 + 3;
  const auto runner = make(tests::chunker_of("fixed", "avg_bytes=1M"), fingerprint_kind::none);
  ASSERT_TRUE(runner);
  const device_batch_bounds bounds{.max_buffers = count, .max_total_bytes = count * buffer_bytes};
  batch_arrays arrays(*runner, bounds);
  const auto memory = runner->allocate(buffer_bytes);  // all buffers are the same memory
  const std::vector<const std::uint8_t*> addresses(count, memory.get());
  const std::vector<std::uint64_t> sizes(count, buffer_bytes);
  const std::vector<std::uint8_t> ends(count, 1);
  const std::uint32_t buffer_count = count;
  const auto fill = [&](const auto* destination, const auto* values, std::size_t size) {
    runner->write(reinterpret_cast<std::uint8_t*>(reinterpret_cast<std::uintptr_t>(destination)),
                  {reinterpret_cast<const std::uint8_t*>(values), size});
  };
  fill(arrays.input().buffers, addresses.data(), count * sizeof addresses[0]);
  fill(arrays.input().byte_counts, sizes.data(), count * sizeof sizes[0]);
  fill(arrays.input().ends, ends.data(), count);
  fill(arrays.input().buffer_count, &buffer_count, sizeof buffer_count);
  ASSERT_TRUE(arrays.enqueue().ok());
  ASSERT_EQ(arrays.problem(), device_batch_problem::none);
  const auto firsts = arrays.first_chunks();
  for (std::uint32_t i = 0; i <= count; ++i) ASSERT_EQ(firsts[i], i);
}

TEST_P(buffer_batches, use_memory_again_for_other_sizes_within_the_bounds) {
  const chunker cuts = small_gear();
  for (const fingerprint_recipe& recipe : device_recipes()) {
    const auto runner = make(cuts, recipe);
    ASSERT_TRUE(runner);
    batch_arrays arrays(*runner, {.max_buffers = 9, .max_buffer_bytes = 9'000, .max_total_bytes = 20'000});
    seeded_choices random(7);
    for (int batch = 0; batch < 4; ++batch) {
      host_buffers buffers;
      if (batch != 2) buffers = draw_buffers(9, 2'000, random);  // and one without buffers
      ASSERT_TRUE(arrays.run(buffers).ok());
      ASSERT_NO_FATAL_FAILURE(arrays.expect_chunks(buffers, cuts, recipe)) << "batch " << batch;
    }
  }
}

TEST_P(buffer_batches, keep_each_bound_and_are_refused_beyond_it) {
  const chunker cuts = tests::chunker_of("fixed", "avg_bytes=100");
  const fingerprint_recipe recipe = fingerprint_kind::sha1;
  const auto runner = make(cuts, recipe);
  ASSERT_TRUE(runner);
  const device_batch_bounds bounds{
      .max_buffers = 3, .max_buffer_bytes = 700, .max_total_bytes = 1'600, .max_chunks = 15};
  batch_arrays arrays(*runner, bounds);
  const auto outcome = [&](std::initializer_list<std::size_t> sizes) {
    host_buffers buffers;
    for (const std::size_t size : sizes) buffers.add(random_bytes(size, size));
    EXPECT_TRUE(arrays.run(buffers).ok());
    const device_batch_problem problem = arrays.problem();
    if (problem == device_batch_problem::none) arrays.expect_chunks(buffers, cuts, recipe);
    return problem;
  };
  EXPECT_EQ(outcome({700, 700}), device_batch_problem::none);
  EXPECT_EQ(outcome({700, 701}), device_batch_problem::buffer_too_long);
  EXPECT_EQ(outcome({700, 0, 700}), device_batch_problem::none);
  EXPECT_EQ(outcome({700, 0, 700, 0}), device_batch_problem::too_many_buffers);
  EXPECT_EQ(outcome({600, 600, 300}), device_batch_problem::none);
  EXPECT_EQ(outcome({600, 600, 301}), device_batch_problem::too_many_chunks);
  EXPECT_EQ(outcome({600, 600, 400}), device_batch_problem::too_many_chunks);
  EXPECT_EQ(outcome({600, 600, 401}), device_batch_problem::too_many_bytes);
  EXPECT_EQ(outcome({1, 1}), device_batch_problem::none);
}

TEST_P(buffer_batches, say_which_argument_is_wrong) {
  const auto runner = make(small_gear(), fingerprint_kind::sha1);
  ASSERT_TRUE(runner);
  const device_batch_bounds bounds{.max_buffers = 2, .max_total_bytes = 1'000};
  const auto refused = [&](device_batch_bounds changed) {
    const auto bytes = runner->workspace_bytes(changed);
    EXPECT_FALSE(bytes.ok());
    return bytes ? std::string() : bytes.error().message();
  };
  EXPECT_EQ(refused({.max_buffers = 0, .max_total_bytes = 1}), "max_buffers = 0 must be between 1 and 2147483648");
  EXPECT_EQ(refused({.max_total_bytes = 0}), "max_total_bytes = 0 must be between 1 and 1099511627776");
  EXPECT_EQ(refused({.max_buffer_bytes = 1ull << 32, .max_total_bytes = 1ull << 33}),
            "max_buffer_bytes = 4294967296 must be between 0 and 4294967232");
  EXPECT_EQ(refused({.max_total_bytes = 1ull << 40}),
            "max_total_bytes = 1099511627776 may give more than 4294967295 chunks of 64 bytes");
  batch_arrays arrays(*runner, bounds);
  const auto workspace = runner->allocate(arrays.workspace_bytes() + 16);
  const auto enqueue = [&](const device_batch& batch, const device_batch_chunks& chunks, std::uint8_t* memory,
                           std::uint64_t size) {
    const status outcome = runner->enqueue(bounds, batch, chunks, memory, size);
    EXPECT_EQ(outcome.code(), status_code::invalid_argument);
    return outcome.message();
  };
  const std::uint64_t enough = arrays.workspace_bytes();
  EXPECT_EQ(enqueue(arrays.input(), arrays.output(), workspace.get(), enough - 1),
            "a workspace of " + std::to_string(enough - 1) + " bytes is less than the bounds need, " +
                std::to_string(enough));
  EXPECT_EQ(enqueue(arrays.input(), arrays.output(), workspace.get() + 16, enough),
            "the workspace is not aligned to 256 bytes");
  device_batch without_sizes = arrays.input();
  without_sizes.byte_counts = nullptr;
  EXPECT_EQ(enqueue(without_sizes, arrays.output(), workspace.get(), enough), "the array byte_counts is null");
  device_batch_chunks without_digests = arrays.output();
  without_digests.digests = nullptr;
  EXPECT_EQ(enqueue(arrays.input(), without_digests, workspace.get(), enough), "the array digests is null");
}

TEST(device_batch_problem_sentence, names_the_bound) {
  const device_batch_bounds bounds{
      .max_buffers = 3, .max_buffer_bytes = 700, .max_total_bytes = 1'600, .max_chunks = 15};
  const auto sentence = [&](device_batch_problem problem) { return describe_problem(problem, bounds).message(); };
  EXPECT_TRUE(describe_problem(device_batch_problem::none, bounds).ok());
  EXPECT_EQ(sentence(device_batch_problem::too_many_buffers),
            "the device refused the batch: it has more than max_buffers = 3 buffers");
  EXPECT_EQ(sentence(device_batch_problem::buffer_too_long),
            "the device refused the batch: a buffer is longer than max_buffer_bytes = 700 bytes");
  EXPECT_EQ(sentence(device_batch_problem::too_many_bytes),
            "the device refused the batch: its buffers have more than max_total_bytes = 1600 bytes together");
  EXPECT_EQ(sentence(device_batch_problem::too_many_chunks),
            "the device refused the batch: it has more than max_chunks = 15 chunks");
}

constexpr auto name_of_case = [](const testing::TestParamInfo<buffer_runner_case>& each) { return each.param.name; };
INSTANTIATE_TEST_SUITE_P(, buffer_batches, testing::ValuesIn(buffer_runner_cases()), name_of_case);
INSTANTIATE_TEST_SUITE_P(, large_buffer_batches, testing::ValuesIn(fast_runner_cases()), name_of_case);

}  // namespace
}  // namespace cutpoint::cuda
