// A device's answer that is another than the reference's is named by its chunk.
#include "bench/device/answers.h"

#include <numeric>

#include <gtest/gtest.h>

namespace cutpoint::bench {
namespace {

std::vector<std::uint8_t> ramp() {
  std::vector<std::uint8_t> bytes(1000);
  std::iota(bytes.begin(), bytes.end(), std::uint8_t{0});
  return bytes;
}

sample_answer expected(fingerprint_kind kind) {
  return *reference_answer(*chunker::make(fixed_parameters{.avg_bytes = 300}), kind, ramp());
}

TEST(device_answers, are_those_of_the_reference) {
  const sample_answer answer = expected(fingerprint_kind::sha1);
  EXPECT_EQ(answer.lengths, (std::vector<std::uint32_t>{300, 300, 300, 100}));
  EXPECT_EQ(answer.digests.size(), 4 * 20u);
  EXPECT_EQ(answer_fault(answer, answer.lengths, answer.digests), "");
  const sample_answer cuts_only = expected(fingerprint_kind::none);
  EXPECT_EQ(answer_fault(cuts_only, cuts_only.lengths, {}), "");
}

TEST(device_answers, for_a_longer_stream_are_those_that_the_sample_decides) {
  for (const auto& [reach, count] :
       {std::pair(300u, 3u), std::pair(400u, 3u), std::pair(401u, 2u), std::pair(1001u, 0u)}) {
    sample_answer answer = expected(fingerprint_kind::sha1);
    answer.keep_decided(1000, reach);
    EXPECT_EQ(answer.lengths.size(), count) << reach;
    EXPECT_EQ(answer.digests.size(), count * 20) << reach;
  }
}

TEST(device_answers, of_other_chunks_are_named_by_the_first) {
  const sample_answer answer = expected(fingerprint_kind::sha1);
  const auto fault = [&](const std::vector<std::uint32_t>& lengths) {
    return answer_fault(answer, lengths, answer.digests);
  };
  EXPECT_EQ(fault({300, 299, 301, 100}), "wrong answer: chunk 1 is 299 bytes, the reference's 300 bytes");
  EXPECT_EQ(fault({300, 300, 300}), "wrong answer: chunk 3 is nothing, the reference's 100 bytes");
  EXPECT_EQ(fault({300, 300, 300, 100, 1}), "wrong answer: chunk 4 is 1 bytes, the reference's nothing");
}

TEST(device_answers, of_other_digests_are_named_by_their_chunk) {
  sample_answer answer = expected(fingerprint_kind::sha1);
  auto digests = answer.digests;
  digests[2 * 20 + 19] ^= 1;
  EXPECT_EQ(answer_fault(answer, answer.lengths, digests),
            "wrong answer: the digest of chunk 2 is another than the reference's");
  digests.pop_back();
  EXPECT_EQ(answer_fault(answer, answer.lengths, digests), "wrong answer: 79 bytes of digests, the reference has 80");
}

}  // namespace
}  // namespace cutpoint::bench
