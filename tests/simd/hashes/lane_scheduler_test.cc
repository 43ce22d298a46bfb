// Tests the lane scheduler with a kernel that only counts: how many blocks it hashes in vain, and which blocks it gets.
#include "simd/hashes/lane_scheduler.h"

#include <gtest/gtest.h>

#include "tests/host/support/choices.h"

namespace cutpoint::tests {
namespace {

constexpr std::size_t block_bytes = 64;

std::uint64_t blocks_run = 0;  ///< blocks that each vector lane has run

template <std::size_t Lanes>
simd::lane_hash counting(fingerprint_kind kind) {
  return {.kind = kind,
          .state_words = 5,
          .lanes = Lanes,
          .hash_blocks = [](std::uint32_t*, const std::uint8_t* const*, std::size_t count, std::uint32_t) {
            EXPECT_GT(count, 0u);
            blocks_run += count;
          }};
}

std::uint64_t blocks_of(byte_span message) { return (message.size() + 8) / block_bytes + 1; }

/// Returns the share of the blocks run that belong to messages.
template <std::size_t Lanes>
double use_of_lanes(const std::vector<byte_span>& messages, std::size_t flushed_after) {
  const auto batch = simd::make_lane_fingerprinter(counting<Lanes>(fingerprint_kind::sha1));
  std::vector<digest> digests(messages.size());
  std::uint64_t blocks = 0;
  blocks_run = 0;
  for (std::size_t i = 0; i < messages.size(); ++i) {
    blocks += blocks_of(messages[i]);
    batch->submit(messages[i], digests[i]);
    if ((i + 1) % flushed_after != 0) continue;
    EXPECT_TRUE(batch->flush().ok());
  }
  EXPECT_TRUE(batch->flush().ok());
  return static_cast<double>(blocks) / static_cast<double>(Lanes * blocks_run);
}

std::vector<byte_span> unequal_messages(const std::vector<std::uint8_t>& bytes, std::size_t count) {
  seeded_choices random(1);
  std::vector<byte_span> messages(count);
  for (byte_span& m : messages) m = byte_span(bytes).first(random.between(2048, 16'384));
  return messages;
}

/// Tests with messages of unequal lengths.
template <std::size_t Lanes>
void expect_few_idle_lanes() {
  const std::vector<std::uint8_t> bytes(16'384);
  const auto messages = unequal_messages(bytes, 9'600);
  EXPECT_GT(use_of_lanes<Lanes>(messages, messages.size()), 0.999);
  EXPECT_GT(use_of_lanes<Lanes>(messages, 4 * Lanes), 0.95) << "a few for each lane are flushed";
}

TEST(lane_scheduler, leaves_few_lanes_idle_and_ends_evenly) {
  expect_few_idle_lanes<4>();
  expect_few_idle_lanes<8>();
  expect_few_idle_lanes<16>();
}

TEST(lane_scheduler, keeps_a_message_out_of_the_lanes_when_most_would_idle_for_it) {
  const std::vector<std::uint8_t> bytes(1 << 20);
  const auto batch = simd::make_lane_fingerprinter(counting<8>(fingerprint_kind::sha1));
  std::vector<digest> digests(17);
  blocks_run = 0;
  batch->submit(bytes, digests[0]);
  EXPECT_TRUE(batch->flush().ok());
  EXPECT_EQ(blocks_run, 0u);
  EXPECT_EQ(to_hex(digests[0]), "3b71f43ff30f4b15b5cd85dd9e95ebc7e84eb5a3");  // 1 MiB of zeros

  for (std::size_t i = 0; i < 16; ++i) batch->submit(byte_span(bytes).first(1000), digests[i]);
  batch->submit(bytes, digests[16]);
  EXPECT_TRUE(batch->flush().ok());
  EXPECT_EQ(blocks_run, 2 * blocks_of(byte_span(bytes).first(1000)));
  EXPECT_EQ(to_hex(digests[16]), "3b71f43ff30f4b15b5cd85dd9e95ebc7e84eb5a3");
}

TEST(lane_scheduler, shows_the_kernel_the_callers_own_bytes) {
  static std::vector<const std::uint8_t*> seen;
  seen.clear();
  const auto batch = simd::make_lane_fingerprinter(
      {.kind = fingerprint_kind::sha1,
       .state_words = 5,
       .lanes = 4,
       .hash_blocks = [](std::uint32_t*, const std::uint8_t* const* messages, std::size_t count, std::uint32_t) {
         if (count > 1) seen.assign(messages, messages + 4);
       }});
  const std::vector<std::uint8_t> bytes(4 * 640 + 4);
  std::vector<digest> digests(4);
  std::vector<const std::uint8_t*> submitted;
  for (std::size_t i = 0; i < 4; ++i) {
    submitted.push_back(&bytes[i * 641]);
    batch->submit({submitted.back(), 640}, digests[i]);
  }
  EXPECT_TRUE(batch->flush().ok());
  EXPECT_EQ(seen, submitted);
}

}  // namespace
}  // namespace cutpoint::tests
