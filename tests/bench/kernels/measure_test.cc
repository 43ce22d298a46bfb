// Tests that cutpoint_bench compares the answer of every pass, outside the timed part, and tells a benchmark that failed from
// one that cannot run here.
#include "bench/kernels/measure.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace cutpoint::bench {
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
