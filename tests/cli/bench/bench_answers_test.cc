// A back end whose answer is wrong is named and not measured.
#include <algorithm>
#include <memory>
#include <numeric>
#include <vector>

#include <cutpoint/catalog.h>
#include <gtest/gtest.h>

#include "cli/bench/answer.h"
#include "cli/bench/measure.h"

namespace cutpoint::cli {
namespace {

constexpr std::uint64_t stream_bytes = 100 * KiB;
constexpr std::uint64_t chunk_bytes = 8 * KiB;
constexpr std::uint64_t faulty = 5 * chunk_bytes;  ///< where the wrong chunk begins

const cancellation never;

std::vector<std::uint8_t> ramp() {
  std::vector<std::uint8_t> bytes(stream_bytes);
  std::iota(bytes.begin(), bytes.end(), std::uint8_t{0});
  return bytes;
}

chunker fixed() { return make_chunker("fixed", std::vector<parameter_setting>{{"avg_bytes", "8K"}}).value().chunker; }

/// Cuts of 8 KiB, but for one that is `off` longer.
class faulty_kernel final : public cut_kernel {
 public:
  explicit faulty_kernel(std::uint64_t off) : off_(off) {}
  std::uint64_t cut(byte_span bytes, std::uint64_t start) const noexcept override {
    return std::min<std::uint64_t>(bytes.size() - start, start == faulty ? chunk_bytes + off_ : chunk_bytes);
  }
  std::string_view backend() const noexcept override { return "faulty"; }

 private:
  std::uint64_t off_;
};

/// The library's digests, but for one with `flip` in its first byte.
class faulty_batch final : public batch_fingerprinter {
 public:
  explicit faulty_batch(std::uint8_t flip) : flip_(flip) {}
  void submit(byte_span bytes, digest& destination) override {
    destination = maker_(bytes).value();
    if (submitted_++ == 5) destination.bytes[0] ^= flip_;
  }
  status flush() override { return {}; }

 private:
  std::uint8_t flip_;
  std::uint64_t submitted_ = 0;
  fingerprinter maker_ = fingerprinter::make(fingerprint_kind::md5).value();
};

bench_contender hashing(std::uint8_t flip, const std::vector<std::uint8_t>& data) {
  const auto chunks = std::make_shared<const std::vector<chunk>>(fixed().find_cuts(data));
  auto maker = fingerprinter::make(fingerprint_kind::md5).value();
  std::vector<digest> expected;
  for (const chunk& c : *chunks) expected.push_back(maker(byte_span(data).subspan(c.offset, c.length)).value());
  return hashing_contender(backend::avx2, std::make_shared<faulty_batch>(flip), data, chunks, expected, never);
}

TEST(bench_answers, of_wrong_cuts_are_named_by_their_offset_and_not_measured) {
  const auto data = ramp();
  const auto expected = fixed().find_cuts(data);
  for (const std::uint64_t off : {std::uint64_t{1}, stream_bytes}) {
    const bench_contender contender =
        cutting_contender(backend::avx2, fixed().by(std::make_shared<faulty_kernel>(off)), data, expected, never);
    EXPECT_EQ(contender.outcome, bench_outcome::wrong_answer);
    EXPECT_NE(contender.problem.find("offset 40960"), std::string::npos) << contender.problem;
    EXPECT_FALSE(contender.work);
  }
}

TEST(bench_answers, of_right_cuts_are_measured_over_all_the_data) {
  const auto data = ramp();
  const bench_contender contender = cutting_contender(backend::avx2, fixed().by(std::make_shared<faulty_kernel>(0)),
                                                      data, fixed().find_cuts(data), never);
  EXPECT_EQ(contender.outcome, bench_outcome::measured);
  EXPECT_EQ(contender.problem, "");
  EXPECT_EQ(contender.work(0), stream_bytes);
}

TEST(bench_answers, of_wrong_digests_are_named_by_their_chunk_and_not_measured) {
  const auto data = ramp();
  const bench_contender contender = hashing(1, data);
  EXPECT_EQ(contender.outcome, bench_outcome::wrong_answer);
  EXPECT_NE(contender.problem.find("8192 bytes at offset 40960"), std::string::npos) << contender.problem;
  EXPECT_FALSE(contender.work);
}

TEST(bench_answers, of_right_digests_are_measured_over_all_the_data_again_and_again) {
  const auto data = ramp();
  const bench_contender contender = hashing(0, data);
  EXPECT_EQ(contender.outcome, bench_outcome::measured);
  EXPECT_EQ(contender.work(0), stream_bytes);
  EXPECT_EQ(contender.work(0), stream_bytes);
}

bench_answer reference(const std::vector<std::uint8_t>& data) {
  return reference_answer(fixed(), fingerprint_kind::md5, data, never).value();
}

/// What the check says of the answer's own chunks, of which `change` may make others.
std::string problem_with(const bench_answer& expected, const std::function<void(std::size_t, delivered_chunk&)>& change,
                         std::size_t count) {
  answer_check check(expected);
  for (std::size_t i = 0; i < count; ++i) {
    delivered_chunk c{
        .offset = expected.chunks[i].offset, .length = expected.chunks[i].length, .fingerprint = expected.digests[i]};
    change(i, c);
    if (!check.take(c).ok()) break;
  }
  return check.problem();
}

TEST(bench_answers, of_the_engine_are_compared_chunk_by_chunk) {
  const bench_answer expected = reference(ramp());
  const std::size_t all = expected.chunks.size();
  ASSERT_EQ(all, stream_bytes / chunk_bytes + 1);
  EXPECT_EQ(problem_with(
                expected, [](auto, auto&) {}, all),
            "");
  EXPECT_EQ(problem_with(
                expected, [](auto, auto&) {}, all - 1),
            "gives 12 chunks instead of 13");
  const auto longer = [](std::size_t i, delivered_chunk& c) { c.length += i == 5 ? 1 : 0; };
  EXPECT_EQ(problem_with(expected, longer, all), "cuts another chunk at offset 40960 than the reference");
  const auto flipped = [](std::size_t i, delivered_chunk& c) { c.fingerprint.bytes[0] ^= i == 5 ? 1 : 0; };
  EXPECT_EQ(problem_with(expected, flipped, all),
            "gives another fingerprint of the chunk of 8192 bytes at offset 40960 than the library");
}

TEST(bench_answers, of_the_engine_may_be_runs_but_no_more_chunks_than_there_are) {
  const std::vector<std::uint8_t> zeros(4 * chunk_bytes);
  const bench_answer expected = reference(zeros);
  for (const std::uint64_t count : {4u, 5u}) {
    answer_check check(expected);
    EXPECT_EQ(check.take({.length = chunk_bytes, .count = count, .fingerprint = expected.digests[0]}).ok(), count == 4);
    EXPECT_EQ(check.problem().empty(), count == 4);
  }
}

}  // namespace
}  // namespace cutpoint::cli
