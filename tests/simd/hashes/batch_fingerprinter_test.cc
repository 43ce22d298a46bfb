// Tests batch fingerprinters on every instruction set against digests that OpenSSL makes one by one.
#include <algorithm>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include <cutpoint/fingerprint.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include "simd/hashes/fingerprints.h"
#include "tests/host/hash/sha256.h"
#include "tests/host/support/choices.h"
#include "tests/host/support/streams.h"
#include "tests/simd/cuts/kernel_cases.h"
#include "tests/simd/support/kernel_faults.h"

namespace cutpoint::tests {
namespace {

using simd::instruction_set;

using batch_case = std::tuple<fingerprint_kind, instruction_set>;

std::string case_name(const testing::TestParamInfo<batch_case>& info) {
  const auto [kind, set] = info.param;
  std::string name = std::string(name_of(kind)) + "_" + std::string(to_string(set));
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

class fingerprint_batches : public testing::TestWithParam<batch_case> {
 protected:
  void SetUp() override {
    const auto [kind, set] = GetParam();
    if (!simd::runs_here(set)) GTEST_SKIP() << "this machine does not run " << to_string(set);
    batch_ = simd::make_batch_fingerprinter(kind, set);
    ASSERT_NE(batch_, nullptr) << "this machine runs " << to_string(set) << ", but nothing was compiled for it";
    one_by_one_.emplace(*fingerprinter::make(kind));
  }

  std::vector<digest> batched(const std::vector<byte_span>& messages) {
    digest stale;
    stale.bytes.fill(0xee);
    std::vector<digest> digests(messages.size(), stale);
    for (std::size_t i = 0; i < messages.size(); ++i) batch_->submit(messages[i], digests[i]);
    EXPECT_TRUE(batch_->flush().ok());
    return digests;
  }

  void expect_equal_to_one_by_one(const std::vector<byte_span>& messages) {
    const std::vector<digest> digests = batched(messages);
    for (std::size_t i = 0; i < messages.size(); ++i) {
      EXPECT_EQ(to_hex(digests[i]), to_hex(*(*one_by_one_)(messages[i])))
          << "message " << i << " of " << messages.size() << ", " << messages[i].size() << " bytes";
      EXPECT_EQ(digests[i], *(*one_by_one_)(messages[i])) << "bytes after the digest's";
    }
  }

  fingerprint_kind kind() const { return std::get<0>(GetParam()); }

  std::unique_ptr<batch_fingerprinter> batch_;
  std::optional<fingerprinter> one_by_one_;
};

INSTANTIATE_TEST_SUITE_P(all, fingerprint_batches,
                         testing::Combine(testing::Values(fingerprint_kind::sha1, fingerprint_kind::sha256),
                                          testing::ValuesIn(sha_sets)),
                         case_name);

/// Examples from FIPS 180-4 (NIST).
struct vectors {
  fingerprint_kind kind;
  std::string_view of_nothing;
  std::string_view of_abc;
  std::string_view of_56_bytes;
  std::string_view of_a_million_a;
};
constexpr vectors published[] = {
    {fingerprint_kind::sha1, "da39a3ee5e6b4b0d3255bfef95601890afd80709", "a9993e364706816aba3e25717850c26c9cd0d89d",
     "84983e441c3bd26ebaae4aa1f95129e5e54670f1", "34aa973cd4c4daa4f61eeb2bdbad27316534016f"},
    {fingerprint_kind::sha256, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
     "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
     "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
     "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"},
};

TEST_P(fingerprint_batches, equal_published_vectors_in_every_lane) {
  const vectors& v = *std::find_if(std::begin(published), std::end(published),
                                   [this](const vectors& example) { return example.kind == kind(); });
  const std::string million(1'000'000, 'a');
  for (const auto& [message, hex] : {
           std::pair<std::string_view, std::string_view>{"", v.of_nothing},
           {"abc", v.of_abc},
           {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", v.of_56_bytes},
           {million, v.of_a_million_a},
       }) {
    for (const digest& each : batched(std::vector<byte_span>(40, as_bytes(message)))) EXPECT_EQ(to_hex(each), hex);
  }
}

TEST_P(fingerprint_batches, equal_one_by_one_for_every_length) {
  seeded_choices random(1);
  const auto bytes = make_stream(content::random, 300, random);
  std::vector<byte_span> messages;
  for (std::size_t size = 0; size <= 300; ++size) messages.push_back(byte_span(bytes).first(size));
  expect_equal_to_one_by_one(messages);
  for (std::size_t size = 0; size <= 300; ++size) {
    expect_equal_to_one_by_one(std::vector<byte_span>(5, byte_span(bytes).first(size)));
  }
}

TEST_P(fingerprint_batches, equal_one_by_one_for_unequal_lengths) {
  seeded_choices random(2);
  const auto bytes = make_stream(content::random, 300'000, random);
  for (int round = 0; round < case_count(30); ++round) {
    const std::size_t longest = random.once_in(3) ? bytes.size() / 2 : 10'000;
    std::vector<byte_span> messages(random.between(1, 400));
    for (byte_span& m : messages) {
      const std::size_t size = random.once_in(10) ? random.between(0, longest) : random.between(0, 2000);
      m = byte_span(bytes).subspan(random.between(0, bytes.size() - size), size);
    }
    expect_equal_to_one_by_one(messages);
  }
}

TEST_P(fingerprint_batches, equal_one_by_one_for_every_number_of_messages) {
  seeded_choices random(3);
  const auto bytes = make_stream(content::random, 20'000, random);
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
  seeded_choices random(4);
  const auto bytes = make_stream(content::random, 1000, random);
  for (const std::size_t size : {64u, 119u, 120u, 500u}) {
    std::vector<byte_span> messages;
    for (std::size_t shift = 0; shift <= 64; ++shift) messages.push_back(byte_span(bytes).subspan(shift, size));
    expect_equal_to_one_by_one(messages);
  }
}

TEST_P(fingerprint_batches, can_be_used_again_after_a_flush) {
  seeded_choices random(5);
  const auto bytes = make_stream(content::random, 5000, random);
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
  seeded_choices random(6);
  const auto content = make_stream(content::random, pages.bytes().size(), random);
  std::copy(content.begin(), content.end(), pages.bytes().begin());
  const byte_span bytes = pages.bytes();
  std::vector<byte_span> at_the_end;
  std::vector<byte_span> at_the_start;
  for (std::size_t size = 0; size <= 200; ++size) {
    at_the_end.push_back(bytes.last(size));
    at_the_start.push_back(bytes.first(size));
  }
  for (std::size_t less = 0; less < 70; ++less) {
    at_the_end.push_back(bytes.last(bytes.size() - less));
    at_the_start.push_back(bytes.first(bytes.size() - less));
  }
  expect_equal_to_one_by_one(at_the_end);
  expect_equal_to_one_by_one(at_the_start);
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

INSTANTIATE_TEST_SUITE_P(full, large_messages,
                         testing::Combine(testing::Values(fingerprint_kind::sha1, fingerprint_kind::sha256),
                                          testing::ValuesIn(sha_sets)),
                         case_name);

TEST_P(large_messages, of_more_than_4_gib_equal_one_by_one) {
  const std::size_t size = (std::size_t{1} << 32) + 100;
  void* const zeros = mmap(nullptr, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT_NE(zeros, MAP_FAILED);
  const byte_span message(static_cast<const std::uint8_t*>(zeros), size);
  const auto digests = batched(std::vector<byte_span>(4, message));  // four of equal length fill vector lanes
  const digest expected = *(*one_by_one_)(message);
  for (const digest& m : digests) EXPECT_EQ(m, expected);
  munmap(zeros, size);
}

}  // namespace
}  // namespace cutpoint::tests
