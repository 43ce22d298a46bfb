// Tests that the ways to cut that papers compare with give the reference's cuts, and that instructions give the sums of plain
// loops.
#include "bench/kernels/baselines.h"

#include <string>
#include <vector>

#include <cutpoint/speed.h>
#include <gtest/gtest.h>

#include "bench/kernels/measure.h"

namespace cutpoint::bench {
namespace {

/// Small chunks, so that short streams have many.
template <class Parameters>
chunker small_chunks(Parameters p = {}) {
  p.avg_bytes = 256;
  p.min_bytes = 64;
  p.max_bytes = 1024;
  return *chunker::make(p);
}

/// Streams around the lengths at which 16 byte ranges of 64 bytes and more begin, and bytes with many and no candidates.
std::vector<std::vector<std::uint8_t>> streams() {
  std::vector<std::vector<std::uint8_t>> all;
  const aligned_bytes random = aligned_bytes::random(1 * MiB + 77);
  for (const std::uint64_t size :
       {0u, 1u, 63u, 64u, 65u, 127u, 1023u, 1024u, 1087u, 1088u, 1089u, 1151u, 1152u, 2175u, 2176u, 5000u}) {
    all.emplace_back(random.view().begin(), random.view().begin() + static_cast<std::ptrdiff_t>(size));
  }
  all.emplace_back(random.view().begin() + 13, random.view().end());
  all.emplace_back(100'000, std::uint8_t{0});
  all.emplace_back(100'000, std::uint8_t{0xff});
  std::vector<std::uint8_t> cycle(100'000);
  for (std::size_t i = 0; i < cycle.size(); ++i) cycle[i] = static_cast<std::uint8_t>(i % 251);
  all.push_back(cycle);
  return all;
}

class baseline_cuts : public testing::TestWithParam<chunker> {};

TEST_P(baseline_cuts, of_ss_cdc_are_those_of_the_reference) {
  const auto by_vectors = ss_cdc::make(GetParam());
  if (!by_vectors) GTEST_SKIP() << by_vectors.error().message();
  for (const auto& stream : streams()) {
    EXPECT_EQ(by_vectors->find_cuts(stream), GetParam().find_cuts(stream)) << stream.size();
  }
}

TEST_P(baseline_cuts, in_two_stages_are_those_of_the_reference) {
  for (const auto& stream : streams()) {
    EXPECT_EQ(find_cuts_in_two_stages(GetParam(), stream), GetParam().find_cuts(stream)) << stream.size();
  }
}

INSTANTIATE_TEST_SUITE_P(, baseline_cuts,
                         testing::Values(small_chunks<gear_parameters>(), small_chunks<crc32_parameters>(),
                                         small_chunks(gear_parameters{.table = gear_table::xet}),
                                         small_chunks(crc32_parameters{.window_bytes = 7}),
                                         small_chunks(crc32_parameters{.window_bytes = 64})));

TEST(ss_cdc, is_for_gear_and_crc32_only) {
  const auto refused = ss_cdc::make(small_chunks<rabin_parameters>());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), status_code::invalid_argument);
}

TEST(rc_ind, cuts_as_rabin_by_rolling_windows) {
  for (const std::uint64_t window : {1u, 6u, 48u, 64u}) {
    const chunker rolling = small_chunks(rabin_parameters{.window_bytes = window});
    const auto& complete = std::get<rabin_parameters>(rolling.parameters());
    for (const auto& stream : streams()) {
      EXPECT_EQ(find_cuts_by_independent_windows(complete, stream), rolling.find_cuts(stream))
          << window << ", " << stream.size();
    }
  }
}

TEST(intrinsics, give_the_sums_of_plain_loops) {
  if (!runs_intrinsics()) GTEST_SKIP() << "this processor lacks BMI2, or the build is not for x86-64";
  std::vector<std::uint64_t> words = {0, 1, std::uint64_t{1} << 63, ~std::uint64_t{0}, 0b1011, 0b1110100};
  const aligned_bytes random = aligned_bytes::random(800);
  for (std::size_t i = 0; i < 800; i += 8) {
    std::uint64_t word = 0;
    for (std::size_t byte = 0; byte < 8; ++byte) word = word << 8 | random.view()[i + byte];
    words.push_back(word);
  }
  for (const intrinsic which : {intrinsic::popcnt, intrinsic::tzcnt, intrinsic::pdep, intrinsic::nth_set_bit}) {
    for (const chaining steps : {chaining::independent, chaining::chained}) {
      for (std::size_t count = 0; count <= words.size(); ++count) {
        EXPECT_EQ(by_intrinsic(which, steps, std::span(words).first(count)),
                  by_loops(which, steps, std::span(words).first(count)))
            << to_string(which) << ", " << count;
      }
    }
  }
  EXPECT_EQ(by_loops(intrinsic::nth_set_bit, chaining::independent, std::vector<std::uint64_t>{0b1110100}), 6u);
  EXPECT_EQ(by_loops(intrinsic::nth_set_bit, chaining::independent, std::vector<std::uint64_t>{0b111}), 64u);
}

}  // namespace
// Tests that cutpoint_bench compares the answer of every pass, outside the timed part, and tells a benchmark that failed from
// one that cannot run here.

namespace {

/// Stands for `benchmark::State`: asks for three passes.
struct fake_state {
  bool KeepRunning() { return is_timed && passes++ < 3; }
  void PauseTiming() { is_timed = false; }
  void ResumeTiming() { is_timed = true; }
  void SkipWithError(const char* message) { error = message; }
  void SetBytesProcessed(std::int64_t count) { bytes = count; }
  [[nodiscard]] std::int64_t iterations() const { return 3; }

  int passes = 0;
  bool is_timed = true;
  std::string error;
  std::int64_t bytes = 0;
};

TEST(measured_passes, are_all_compared_with_the_expected_answer) {
  const std::vector<std::uint8_t> bytes(10);
  for (int wrong_pass = 1; wrong_pass <= 4; ++wrong_pass) {
    fake_state state;
    has_failed = false;
    measure(
        state, bytes, [&] { return state.is_timed && state.passes != wrong_pass ? 7 : 8; }, 7, "wrong");
    EXPECT_EQ(state.error, wrong_pass <= 3 ? "wrong" : "") << wrong_pass;
    EXPECT_EQ(state.bytes, wrong_pass <= 3 ? 0 : 30);
    EXPECT_EQ(has_failed, wrong_pass <= 3);
  }
}

/// As Google Benchmark's from version 1.8 on.
struct newer_state : fake_state {
  void SkipWithMessage(const std::string& text) { message = text; }

  std::string message;
};

TEST(skipped_benchmarks, are_no_failures_whatever_the_version_calls_them) {
  has_failed = false;
  fake_state older;
  skip(older, "no GPU");
  EXPECT_EQ(older.error, "no GPU");
  newer_state newer;
  skip(newer, "no GPU");
  EXPECT_EQ(newer.message, "no GPU");
  EXPECT_EQ(newer.error, "");
  EXPECT_FALSE(has_failed);
}

}  // namespace
}  // namespace cutpoint::bench
