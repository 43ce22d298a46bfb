// Tests batch fingerprinters on every instruction set against digests that OpenSSL makes one by one.
#include <cutpoint/fingerprint.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include "simd/hashes/fingerprints.h"
#include "tests/host/hash/sha256.h"
#include "tests/host/support/streams.h"
#include "tests/simd/cuts/kernel_cases.h"

namespace cutpoint::tests {
namespace {

using simd::instruction_set;

struct batch_case {
  std::string name;
  fingerprint_recipe recipe;
  instruction_set set;
};

fingerprint_key some_key() {
  fingerprint_key key;
  for (std::size_t i = 0; i < key.size(); ++i) key[i] = static_cast<std::uint8_t>(7 * i + 200);
  return key;
}

std::vector<batch_case> sha_cases() {
  std::vector<batch_case> cases;
  for (const instruction_set set : sha_sets) {
    cases.push_back({"sha1", fingerprint_kind::sha1, set});
    cases.push_back({"sha256", fingerprint_kind::sha256, set});
  }
  return cases;
}

std::vector<batch_case> blake3_cases() {
  std::vector<batch_case> cases;
  for (const instruction_set set : complete_sets) {
    cases.push_back({"blake3", fingerprint_kind::blake3, set});
    cases.push_back({"keyed_blake3", {fingerprint_kind::blake3, some_key()}, set});
  }
  return cases;
}

constexpr auto batch_case_name = [](const auto& info) {
  return info.param.name + "_" + test_name(to_string(info.param.set));
};

class fingerprint_batches : public testing::TestWithParam<batch_case> {
 protected:
  void SetUp() override {
    const auto& [name, recipe, set] = GetParam();
    if (!simd::runs_here(set)) GTEST_SKIP() << "this machine does not run " << to_string(set);
    batch_ = simd::make_batch_fingerprinter(recipe, set);
    ASSERT_NE(batch_, nullptr) << "this machine runs " << to_string(set) << ", but nothing was compiled for it";
    one_by_one_.emplace(*fingerprinter::make(recipe));
  }

  void expect_equal_to_one_by_one(std::span<const byte_span> messages) {
    digest stale;
    stale.bytes.fill(0xee);
    std::vector<digest> digests(messages.size(), stale);
    for (std::size_t i = 0; i < messages.size(); ++i) batch_->submit(messages[i], digests[i]);
    ASSERT_TRUE(batch_->flush().ok());
    for (std::size_t i = 0; i < messages.size(); ++i) {
      const digest expected = *(*one_by_one_)(messages[i]);
      ASSERT_TRUE(digests[i] == expected) << "message " << i << " of " << messages.size() << ", " << messages[i].size()
                                          << " bytes: " << to_hex(digests[i]) << ", not " << to_hex(expected);
    }
  }
  void expect_equal_alone(byte_span message) { expect_equal_to_one_by_one({&message, 1}); }

  static std::vector<std::uint8_t> random_bytes(std::size_t size) {
    seeded_choices random(size);
    return make_stream(content::random, size, random);
  }

  std::unique_ptr<batch_fingerprinter> batch_;
  std::optional<fingerprinter> one_by_one_;
};

INSTANTIATE_TEST_SUITE_P(sha, fingerprint_batches, testing::ValuesIn(sha_cases()), batch_case_name);
INSTANTIATE_TEST_SUITE_P(leaves, fingerprint_batches, testing::ValuesIn(blake3_cases()), batch_case_name);

/// The messages of which FIPS 180-4 has the digests.
TEST_P(fingerprint_batches, equal_one_by_one_for_published_examples_in_every_lane) {
  const std::string million(1'000'000, 'a');
  for (const std::string_view message :
       {std::string_view(), std::string_view("abc"),
        std::string_view("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"), std::string_view(million)}) {
    expect_equal_to_one_by_one(std::vector<byte_span>(40, as_bytes(message)));
  }
}

TEST_P(fingerprint_batches, equal_one_by_one_for_every_length) {
  const auto bytes = random_bytes(4200);
  std::vector<byte_span> messages;
  for (std::size_t size = 0; size <= bytes.size(); ++size) messages.push_back(byte_span(bytes).first(size));
  expect_equal_to_one_by_one(messages);
  for (std::size_t size = 0; size <= 300; ++size) {
    expect_equal_to_one_by_one(std::vector<byte_span>(5, byte_span(bytes).first(size)));
  }
}

TEST_P(fingerprint_batches, equal_one_by_one_for_one_message_alone) {
  const auto bytes = random_bytes(300'000);
  for (std::size_t size : {0u, 1u, 63u, 64u, 65u, 1023u, 1024u, 1025u, 2048u, 2049u, 3072u, 5000u, 65536u, 300'000u}) {
    expect_equal_alone(byte_span(bytes).first(size));
  }
}

TEST_P(fingerprint_batches, equal_one_by_one_for_unequal_lengths) {
  seeded_choices random(2);
  const auto bytes = random_bytes(300'000);
  for (int round = 0; round < case_count(100); ++round) {
    const std::uint64_t longest = std::array{100u, 1500u, 10'000u, 70'000u, 150'000u}[random.between(0, 4)];
    const std::uint64_t usual = random.once_in(2) ? longest : std::min<std::uint64_t>(longest, 2000);
    std::vector<byte_span> messages(random.between(1, usual == longest ? 100 : 400));
    for (byte_span& m : messages) {
      const std::size_t size = random.between(0, random.once_in(10) ? longest : usual);
      m = byte_span(bytes).subspan(random.between(0, bytes.size() - size), size);
    }
    expect_equal_to_one_by_one(messages);
  }
}

TEST_P(fingerprint_batches, equal_one_by_one_for_every_number_of_messages) {
  seeded_choices random(3);
  const auto bytes = random_bytes(20'000);
  for (std::size_t count = 1; count <= 40; ++count) {
    for (const std::size_t spread : {0u, 100u, 9000u}) {
      std::vector<byte_span> messages(count);
      for (byte_span& m : messages) {
        m = byte_span(bytes).subspan(random.between(0, 10'000), 1000 + random.between(0, spread));
      }
      expect_equal_to_one_by_one(messages);
    }
  }
}

TEST_P(fingerprint_batches, do_not_depend_on_alignment) {
  const auto bytes = random_bytes(3000);
  for (const std::size_t size : {64u, 119u, 120u, 500u, 2900u}) {
    std::vector<byte_span> messages;
    for (std::size_t shift = 0; shift < 70; ++shift) messages.push_back(byte_span(bytes).subspan(shift, size));
    expect_equal_to_one_by_one(messages);
  }
}

TEST_P(fingerprint_batches, can_be_used_again_after_a_flush) {
  seeded_choices random(5);
  const auto bytes = random_bytes(5000);
  EXPECT_TRUE(batch_->flush().ok());
  for (int round = 0; round < case_count(200); ++round) {
    std::vector<byte_span> messages(random.between(0, 20));
    for (byte_span& m : messages) m = byte_span(bytes).last(random.between(0, round % 2 == 0 ? 200 : 5000));
    expect_equal_to_one_by_one(messages);
  }
  EXPECT_TRUE(batch_->flush().ok());
}

TEST_P(fingerprint_batches, may_be_given_up_with_messages_unmade) {
  const std::vector<std::uint8_t> bytes(5000);
  std::vector<digest> digests(1000);
  for (digest& digest : digests) batch_->submit(bytes, digest);
  batch_.reset();
}

TEST_P(fingerprint_batches, read_nothing_outside_the_messages) {
  const guarded_pages pages(2);
  const byte_span bytes = pages.bytes();
  const auto content = random_bytes(bytes.size());
  std::copy(content.begin(), content.end(), pages.bytes().begin());
  std::vector<byte_span> messages;
  for (std::size_t size = 0; size <= bytes.size(); size += size < 200 || size + 70 > bytes.size() ? 1u : 61u) {
    messages.push_back(bytes.first(size));
    messages.push_back(bytes.last(size));
  }
  expect_equal_to_one_by_one(messages);
  for (const byte_span& message : messages) expect_equal_alone(message);
}

/// Leaves and parents of several messages share vector lanes.
class blake3_batches : public fingerprint_batches {};
INSTANTIATE_TEST_SUITE_P(leaves, blake3_batches, testing::ValuesIn(blake3_cases()), batch_case_name);

TEST_P(blake3_batches, of_any_size_equal_one_by_one_for_equal_lengths) {
  constexpr std::size_t most = 70;  // two vectors of 16 lanes take 32 leaves
  const auto bytes = random_bytes(most * 5000);
  for (const std::size_t size : {63u, 64u, 65u, 1024u, 3000u, 4096u, 5000u}) {
    std::vector<byte_span> messages;
    while (messages.size() < most) {
      messages.push_back(byte_span(bytes).subspan(messages.size() * size, size));
      expect_equal_to_one_by_one(messages);
    }
  }
}

TEST_P(blake3_batches, of_more_messages_than_are_queued_equal_one_by_one) {
  const auto bytes = random_bytes(200'000);
  seeded_choices random(2);
  for (const std::size_t longest : {0u, 1u, 100u, 2000u}) {
    std::vector<byte_span> messages(5000);
    for (byte_span& m : messages) m = byte_span(bytes).subspan(random.between(0, 100'000), random.between(0, longest));
    expect_equal_to_one_by_one(messages);
  }
}

TEST_P(blake3_batches, of_long_messages_equal_one_by_one) {
  const auto bytes = random_bytes(9 * MiB + 12'345);
  for (const std::size_t size : {1 * MiB - 1, 1 * MiB, 1 * MiB + 1, 2 * MiB, 2 * MiB + 1, 3 * MiB + 1024, 4 * MiB,
                                 5 * MiB + 1500, 8 * MiB, 9 * MiB + 12'345}) {
    const byte_span message = byte_span(bytes).first(size);
    expect_equal_alone(message);
    expect_equal_to_one_by_one(std::vector{message.first(10'000), message, message.first(3), message.last(777)});
  }
}

TEST(batch_fingerprinter, is_there_for_each_kind_that_has_a_vector_kernel) {
  for (const fingerprint_info& info : fingerprints()) {
    const bool has_kernel = info.kind == fingerprint_kind::sha1 || info.kind == fingerprint_kind::sha256 ||
                            info.kind == fingerprint_kind::blake3;
    for (const instruction_set set : sha_sets) {
      if (!simd::runs_here(set)) continue;
      const bool has_it = has_kernel && (set != instruction_set::sha_ni || info.kind != fingerprint_kind::blake3);
      EXPECT_EQ(simd::make_batch_fingerprinter(info.kind, set) != nullptr, has_it) << info.name;
    }
  }
}

class large_messages : public fingerprint_batches {};
INSTANTIATE_TEST_SUITE_P(full, large_messages, testing::ValuesIn(sha_cases()), batch_case_name);

TEST_P(large_messages, of_more_than_4_gib_equal_one_by_one) {
  const std::size_t size = (std::size_t{1} << 32) + 100;
  void* const zeros = mmap(nullptr, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT_NE(zeros, MAP_FAILED);
  const byte_span message(static_cast<const std::uint8_t*>(zeros), size);
  expect_equal_to_one_by_one(std::vector<byte_span>(4, message));  // four of equal length fill vector lanes
  munmap(zeros, size);
}

}  // namespace
}  // namespace cutpoint::tests
