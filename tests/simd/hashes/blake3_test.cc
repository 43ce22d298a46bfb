// Tests that BLAKE3 of many messages at once equals BLAKE3 of each, for all lengths and alignments.
#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "simd/hashes/fingerprints.h"
#include "tests/host/support/choices.h"
#include "tests/host/support/streams.h"
#include "tests/simd/cuts/kernel_cases.h"
#include "tests/simd/support/kernel_faults.h"

namespace cutpoint::tests {
namespace {

using simd::instruction_set;
using simd::make_blake3_fingerprinter;

class blake3_of : public testing::TestWithParam<instruction_set> {
 protected:
  void SetUp() override {
    if (make_blake3_fingerprinter(GetParam(), {}) == nullptr)
      GTEST_SKIP() << to_string(GetParam()) << " is not compiled";
    if (!simd::runs_here(GetParam())) GTEST_SKIP() << "this processor does not run " << to_string(GetParam());
  }

  /// Submits all messages, flushes once, and compares the digests.
  static void expect_reference(std::span<const byte_span> messages, const std::optional<fingerprint_key>& key = {}) {
    const auto batch = make_blake3_fingerprinter(GetParam(), key);
    expect_reference(*batch, messages, key);
  }
  static void expect_reference(batch_fingerprinter& batch, std::span<const byte_span> messages,
                               const std::optional<fingerprint_key>& key) {
    auto reference = fingerprinter::make({fingerprint_kind::blake3, key}).value();
    std::vector<digest> digests(messages.size());
    for (std::size_t i = 0; i < messages.size(); ++i) batch.submit(messages[i], digests[i]);
    ASSERT_TRUE(batch.flush().ok());
    for (std::size_t i = 0; i < messages.size(); ++i) {
      const digest expected = reference(messages[i]).value();
      ASSERT_TRUE(digests[i] == expected) << "message " << i << " of " << messages.size() << ", " << messages[i].size()
                                          << " bytes: " << to_hex(digests[i]) << ", not " << to_hex(expected);
    }
  }

  static fingerprint_key key() {
    fingerprint_key key;
    for (std::size_t i = 0; i < key.size(); ++i) key[i] = static_cast<std::uint8_t>(7 * i + 200);
    return key;
  }

  static std::vector<std::uint8_t> random_bytes(std::size_t size) {
    seeded_choices random(size);
    return make_stream(content::random, size, random);
  }
};

TEST_P(blake3_of, every_short_length_equals_the_reference) {
  const auto bytes = random_bytes(4200);
  std::vector<byte_span> messages;
  for (std::size_t size = 0; size <= bytes.size(); ++size) messages.push_back(byte_span(bytes).first(size));
  expect_reference(messages);
  expect_reference(messages, key());
}

TEST_P(blake3_of, one_message_alone_equals_the_reference) {
  const auto bytes = random_bytes(300'000);
  for (std::size_t size : {0u, 1u, 63u, 64u, 65u, 1023u, 1024u, 1025u, 2048u, 2049u, 3072u, 5000u, 65536u, 300'000u}) {
    expect_reference(std::vector{byte_span(bytes).first(size)});
    expect_reference(std::vector{byte_span(bytes).first(size)}, key());
  }
}

TEST_P(blake3_of, equal_lengths_in_batches_of_any_size_equal_the_reference) {
  constexpr std::size_t most = 70;  // two vectors of 16 lanes take 32 leaves
  const auto bytes = random_bytes(most * 5000);
  for (const std::size_t size : {63u, 64u, 65u, 1024u, 3000u, 4096u, 5000u}) {
    for (std::size_t count = 1; count <= most; ++count) {
      std::vector<byte_span> messages;
      for (std::size_t i = 0; i < count; ++i) messages.push_back(byte_span(bytes).subspan(i * size, size));
      expect_reference(messages);
    }
  }
}

TEST_P(blake3_of, unequal_lengths_equal_the_reference) {
  seeded_choices random(1);
  const auto bytes = random_bytes(200'000);
  const auto batch = make_blake3_fingerprinter(GetParam(), {});
  const auto keyed = make_blake3_fingerprinter(GetParam(), key());
  for (int round = 0; round < case_count(150); ++round) {
    const std::size_t longest = std::vector<std::size_t>{100, 1500, 10'000, 70'000}[random.between(0, 3)];
    std::vector<byte_span> messages(random.between(1, 100));
    for (byte_span& m : messages) {
      const std::size_t size = random.between(0, longest);
      m = byte_span(bytes).subspan(random.between(0, bytes.size() - size), size);
    }
    expect_reference(*batch, messages, {});
    expect_reference(*keyed, messages, key());
  }
}

TEST_P(blake3_of, more_messages_than_are_queued_equal_the_reference) {
  const auto bytes = random_bytes(200'000);
  seeded_choices random(2);
  for (const std::size_t longest : {0u, 1u, 100u, 2000u}) {
    std::vector<byte_span> messages(5000);
    for (byte_span& m : messages) m = byte_span(bytes).subspan(random.between(0, 100'000), random.between(0, longest));
    expect_reference(messages);
  }
}

TEST_P(blake3_of, any_alignment_equals_the_reference) {
  const auto bytes = random_bytes(70 * 3100);
  std::vector<byte_span> messages;
  for (std::size_t shift = 0; shift < 70; ++shift) messages.push_back(byte_span(bytes).subspan(3001 * shift, 2900));
  expect_reference(messages);
}

TEST_P(blake3_of, long_messages_equal_the_reference) {
  const auto bytes = random_bytes(9 * MiB + 12'345);
  const auto batch = make_blake3_fingerprinter(GetParam(), {});
  for (const std::size_t size : {1 * MiB - 1, 1 * MiB, 1 * MiB + 1, 2 * MiB, 2 * MiB + 1, 3 * MiB + 1024, 4 * MiB,
                                 5 * MiB + 1500, 8 * MiB, 9 * MiB + 12'345}) {
    const byte_span message = byte_span(bytes).first(size);
    expect_reference(*batch, std::vector{message}, {});
    expect_reference(*batch, std::vector{message.first(10'000), message, message.first(3), message.last(777)}, {});
  }
  expect_reference(std::vector{byte_span(bytes)}, key());
}

TEST_P(blake3_of, no_other_bytes_are_read) {
  const guarded_pages guarded(2);
  const auto random = random_bytes(guarded.bytes().size());
  std::copy(random.begin(), random.end(), guarded.bytes().begin());
  std::vector<byte_span> messages;
  for (std::size_t size = 0; size <= guarded.bytes().size(); size += size < 200 ? 1 : 61) {
    messages.push_back(guarded.bytes().first(size));
    messages.push_back(guarded.bytes().last(size));
  }
  expect_reference(messages);
  for (const byte_span& message : messages) expect_reference(std::vector{message});
}

TEST_P(blake3_of, a_flush_of_nothing_changes_nothing) {
  const auto batch = make_blake3_fingerprinter(GetParam(), {});
  EXPECT_TRUE(batch->flush().ok());
  expect_reference(*batch, std::vector<byte_span>{{}}, {});
  EXPECT_TRUE(batch->flush().ok());
}

INSTANTIATE_TEST_SUITE_P(each, blake3_of, testing::ValuesIn(complete_sets),
                         [](const auto& test) { return std::string(to_string(test.param)); });

}  // namespace
}  // namespace cutpoint::tests
