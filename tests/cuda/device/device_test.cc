// Tests what needs a device: kernel bodies launched there, and batches whose bytes are already in its memory. They are
// skipped, with the reason, if there is none.
#include <cutpoint/cuda.h>
#include <gtest/gtest.h>

#include "tests/cuda/device/on_device.h"
#include "tests/cuda/kernel/block_examples.h"
#include "tests/cuda/kernel/block_kernels.h"
#include "tests/cuda/support/executor_cases.h"
#include "tests/cuda/support/packed_streams.h"
#include "tests/host/algorithms/chunkers.h"

namespace cutpoint::cuda {
namespace {

TEST_F(on_first_device, runs_kernel_bodies_as_the_host_does) {
  const auto in = example_input();
  for (const example which : {example::reverse, example::rotate, example::warp}) {
    const auto out = run_on_device(which, in);
    ASSERT_TRUE(out.ok()) << out.error().message();
    EXPECT_EQ(*out, example_expected(which, in)) << "example " << static_cast<int>(which);
  }
}

using device_chunker_test = on_first_device;

std::vector<std::uint8_t> expected_digests(byte_span stream, const std::vector<chunk>& chunks,
                                           const fingerprint_recipe& recipe) {
  auto print = *fingerprinter::make(recipe);
  std::vector<std::uint8_t> digests;
  for (const chunk& each : chunks) {
    const digest value = *print(stream.subspan(each.offset, each.length));
    digests.insert(digests.end(), value.view().begin(), value.view().end());
  }
  return digests;
}

/// Returns the chunks that are decided by their reach alone, if the stream does not end after `bytes`.
std::vector<chunk> decided(const chunker& cuts, byte_span bytes) {
  std::vector<chunk> chunks = cuts.find_cuts(bytes);
  while (!chunks.empty() && bytes.size() - chunks.back().offset < cuts.reach()) chunks.pop_back();
  return chunks;
}

/// Chunks a copy of `bytes` in device memory and expects the reference's chunks and fingerprints.
void expect_batch(device_chunker& device, byte_span bytes, std::size_t lead, bool at_end, const chunker& cuts,
                  const fingerprint_recipe& recipe) {
  SCOPED_TRACE(testing::Message() << cuts.canonical() << ", " << bytes.size() << " bytes after " << lead);
  const auto there = copy_to_device(bytes, lead);
  ASSERT_TRUE(there.ok()) << there.error().message();
  const auto outputs = device.enqueue(there->get(), bytes.size(), at_end, nullptr);
  ASSERT_TRUE(outputs.ok()) << outputs.error().message();
  const auto chunks = device.chunks();
  ASSERT_TRUE(chunks.ok()) << chunks.error().message();
  const std::vector<chunk> expected = at_end ? cuts.find_cuts(bytes) : decided(cuts, bytes);
  ASSERT_EQ(*chunks, expected);
  const auto digests = copy_from_device(outputs->digests, expected.size() * outputs->digest_bytes);
  ASSERT_TRUE(digests.ok()) << digests.error().message();
  ASSERT_EQ(*digests, expected_digests(bytes, expected, recipe));
}

TEST_F(device_chunker_test, finds_the_same_by_every_name_at_every_alignment) {
  const auto stream = random_bytes(20'000, 1);
  const auto recipes = device_recipes();
  std::size_t number = 0;
  for (const catalog_entry& entry : catalog()) {
    const chunker cuts = small_chunker(entry);
    const fingerprint_recipe& recipe = recipes[number++ % recipes.size()];
    auto device = device_chunker::make(cuts, recipe, stream.size());
    ASSERT_TRUE(device.ok()) << device.error().message();
    // An interpreter takes long for AES.
    for (std::size_t lead = 0; lead < 16; lead += entry.name.ends_with("-aes") ? 5u : 1u) {
      for (const std::size_t size : {stream.size() - lead, std::size_t{33}, std::size_t{1}}) {
        const byte_span bytes = byte_span(stream).subspan(lead, size);
        ASSERT_NO_FATAL_FAILURE(expect_batch(*device, bytes, lead, true, cuts, recipe));
      }
    }
  }
}

TEST_F(device_chunker_test, goes_on_where_the_last_batch_decided_nothing) {
  const auto stream = random_bytes(500'000, 2);
  const chunker cuts = small_gear();
  const fingerprint_recipe recipe = fingerprint_kind::blake3;
  auto device = device_chunker::make(cuts, recipe, 60'000);
  ASSERT_TRUE(device.ok()) << device.error().message();
  std::vector<chunk> all;
  for (std::uint64_t begin = 0; begin < stream.size();) {
    const std::uint64_t size = std::min<std::uint64_t>(60'000, stream.size() - begin);
    const bool at_end = begin + size == stream.size();
    const byte_span bytes = byte_span(stream).subspan(begin, size);
    ASSERT_NO_FATAL_FAILURE(expect_batch(*device, bytes, begin % 16, at_end, cuts, recipe));
    const auto chunks = device->chunks();
    ASSERT_TRUE(chunks.ok());
    ASSERT_FALSE(chunks->empty());
    for (const chunk& each : *chunks) all.push_back({begin + each.offset, each.length});
    begin = all.back().offset + all.back().length;
  }
  EXPECT_EQ(all, cuts.find_cuts(stream));
}

TEST_F(device_chunker_test, says_that_there_were_too_many_short_chunks) {
  const std::vector<std::uint8_t> stream(100'000);
  auto device = device_chunker::make(tests::chunker_of("fixed", "avg_bytes=3"), fingerprint_kind::none, stream.size());
  ASSERT_TRUE(device.ok()) << device.error().message();
  const auto there = copy_to_device(stream, 0);
  ASSERT_TRUE(there.ok()) << there.error().message();
  ASSERT_TRUE(device->enqueue(there->get(), stream.size(), true, nullptr).ok());
  const auto chunks = device->chunks();
  ASSERT_FALSE(chunks.ok());
  EXPECT_EQ(chunks.error().code(), status_code::memory_limit);
}

TEST_F(device_chunker_test, refuses_more_bytes_than_it_was_made_for) {
  auto device = device_chunker::make(small_gear(), fingerprint_kind::none, 1'000);
  ASSERT_TRUE(device.ok()) << device.error().message();
  const auto refused = device->enqueue(nullptr, 1'001, true, nullptr);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code(), status_code::invalid_argument);
  const auto nothing = device->enqueue(nullptr, 0, true, nullptr);
  ASSERT_TRUE(nothing.ok()) << nothing.error().message();
  const auto chunks = device->chunks();
  ASSERT_TRUE(chunks.ok()) << chunks.error().message();
  EXPECT_TRUE(chunks->empty());
}

}  // namespace
}  // namespace cutpoint::cuda
