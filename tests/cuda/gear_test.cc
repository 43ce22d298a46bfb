// The gear kernel's own source on the host, against the scalar loop.
#include "cuda/gear.h"

#include <gtest/gtest.h>

#include "cuda/compact.h"
#include "cuda/host_block.h"
#include "tests/cuda/gear_cases.h"

namespace cutpoint::cuda {
namespace {

template <gear_tuning Tuning>
std::vector<std::uint64_t> kernel_candidates(byte_span bytes, std::uint64_t hash_mask, host_launch launch) {
  const std::uint64_t lead = gear_lead(bytes.data());
  std::vector<std::uint64_t> words(gear_word_count(lead, bytes.size()), 0xbadbadbadbadbadb);  // every word is written
  const gear_args args{bytes.data(), bytes.size(), tables::fastcdc2020_gear64.data(), hash_mask, words.data()};
  launch.shared_bytes = gear_shared_bytes(Tuning, launch.thread_count);
  const auto faults = run_on_host(launch, [&](auto& block) { gear_candidates<Tuning>(block, args); });
  for (const std::string& fault : faults) ADD_FAILURE() << fault;
  return set_bit_positions(words, std::uint64_t{0} - lead);
}

template <gear_tuning Tuning>
void expect_scalar_candidates(const host_launch& launch) {
  for (const std::size_t size : edge_lengths(gear_tile_bytes(Tuning, launch.thread_count))) {
    for (const content what : all_contents) {
      for (const std::size_t offset : {0u, 1u, 15u}) {
        const test_stream stream(what, size, offset);
        EXPECT_EQ(kernel_candidates<Tuning>(stream.bytes(), top(5), launch), scalar_candidates(stream.bytes(), top(5)))
            << size << " bytes of kind " << static_cast<int>(what) << " at offset " << offset;
      }
    }
  }
}

constexpr gear_tuning small{.table_copies = 4, .run_bytes = 128};

TEST(gear_candidates, equal_the_scalar_loop_in_forward_order) {
  expect_scalar_candidates<small>({.thread_count = 64, .order = thread_order::forward()});
}

TEST(gear_candidates, equal_the_scalar_loop_in_reversed_order) {
  expect_scalar_candidates<small>({.thread_count = 64, .order = thread_order::reversed()});
}

TEST(gear_candidates, equal_the_scalar_loop_in_shuffled_order) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    expect_scalar_candidates<small>({.thread_count = 64, .order = thread_order::shuffled(seed)});
  }
}

TEST(gear_candidates, ignore_block_size_and_block_count) {
  for (const std::uint32_t threads : {32u, 96u, 256u}) {
    for (const std::uint32_t blocks : {1u, 3u}) {
      expect_scalar_candidates<small>(
          {.block_count = blocks, .thread_count = threads, .order = thread_order::shuffled(threads)});
    }
  }
}

TEST(gear_candidates, ignore_tuning) {
  expect_scalar_candidates<gear_tuning{.table_copies = 1, .run_bytes = 64}>({.thread_count = 32});
  expect_scalar_candidates<gear_tuning{.table_copies = 32, .run_bytes = 192, .stages = 3}>({.thread_count = 32});
  expect_scalar_candidates<gear_tuning{.run_bytes = 64, .stages = 5}>({.thread_count = 32});
}

TEST(gear_candidates, equal_the_scalar_loop_as_tuned_for_the_device) {
  constexpr gear_tuning tuned{};
  expect_scalar_candidates<tuned>(
      {.block_count = 2, .thread_count = tuned.threads_per_block, .order = thread_order::shuffled(7)});
}

TEST(gear_candidates, ignore_alignment) {
  for (std::size_t offset = 0; offset <= 17; ++offset) {
    for (const std::size_t size : {64u, 79u, 80u, 81u, 5000u}) {
      const test_stream stream(content::random, size, offset);
      EXPECT_EQ(kernel_candidates<small>(stream.bytes(), top(3), {.thread_count = 32}),
                scalar_candidates(stream.bytes(), top(3)))
          << size << " bytes at offset " << offset;
    }
  }
}

TEST(gear_candidates, obey_every_mask) {
  const test_stream stream(content::random, 100'000, 3);
  for (const std::uint64_t mask : {top(0), top(1), top(13), top(33), top(64), std::uint64_t{0x0000d90303530000}}) {
    EXPECT_EQ(kernel_candidates<small>(stream.bytes(), mask, {}), scalar_candidates(stream.bytes(), mask)) << mask;
  }
}

}  // namespace
}  // namespace cutpoint::cuda
