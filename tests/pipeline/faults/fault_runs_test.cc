// Tests that runs with random failures end, and deliver the sequential cuts or name what failed. No run leaves a thread
// or a descriptor behind, or memory under AddressSanitizer.
#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include <cutpoint/fingerprint.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/host/support/choices.h"
#include "tests/pipeline/faults/fault_run.h"

namespace cutpoint::tests {
namespace {

constexpr unsigned longest_run_seconds = 60;
/// This many runs include every kind of failure and every kind of end.
constexpr std::uint64_t many_runs = 300;

volatile std::uint64_t running_seed = 0;

/// Ends the process, with the seed, because a run takes too long.
void end_process(int) {
  std::fprintf(stderr, "the run of seed %llu does not end\n", static_cast<unsigned long long>(running_seed));
  std::abort();
}

struct tally {
  std::array<std::uint64_t, trouble_count> drawn = {};
  std::array<std::uint64_t, trouble_count> happened = {};
  std::array<std::uint64_t, fate_count> outcomes = {};
  std::uint64_t runs = 0;
  std::uint64_t troubled_runs = 0;  ///< runs in which an injected failure happened
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;
  std::uint64_t failed_files = 0;
  std::uint64_t on_devices = 0;
  std::uint64_t device_warnings = 0;

  void add(const run_report& run) {
    for (std::size_t i = 0; i < trouble_count; ++i) {
      drawn[i] += run.drawn[i] ? 1u : 0u;
      happened[i] += run.happened[i] ? 1u : 0u;
    }
    ++runs;
    troubled_runs += std::find(run.happened.begin(), run.happened.end(), true) != run.happened.end() ? 1u : 0u;
    ++outcomes[static_cast<std::size_t>(run.outcome)];
    files += run.file_count;
    bytes += run.byte_count;
    failed_files += run.failed_file_count;
    on_devices += run.has_device ? 1 : 0;
    device_warnings += run.has_device_warning ? 1 : 0;
  }

  void print() const {
    for (std::size_t i = 0; i < trouble_count; ++i) {
      fmt::print("{:<36} drawn {:>6}, happened {:>6}\n", to_string(static_cast<trouble>(i)), drawn[i], happened[i]);
    }
    fmt::print("{} runs, {} of them with trouble\n", runs, troubled_runs);
    for (std::size_t i = 0; i < fate_count; ++i) {
      fmt::print("{:<36} {:>6} runs\n", to_string(static_cast<fate>(i)), outcomes[i]);
    }
    fmt::print("{} files of {} bytes, {} named as failed; {} runs with devices, {} with a warning of one\n", files,
               bytes, failed_files, on_devices, device_warnings);
  }
};

/// CUTPOINT_FAULT_RUNS sets the number of runs, and CUTPOINT_FAULT_SEED selects other runs.
TEST(fault_runs, end_with_the_right_cuts_or_name_what_failed) {
  const std::uint64_t count = from_environment(
      "CUTPOINT_FAULT_RUNS", is_sanitized ? many_runs / 3 : std::max<std::uint64_t>(case_count(0u, 1000u), many_runs));
  const std::uint64_t first = from_environment("CUTPOINT_FAULT_SEED", 1) * 1'000'000'007;
  static_cast<void>(fingerprinter::make(fingerprint_kind::sha1));  // initialises the libraries before the first run
  std::jthread([] {}).join();                                      // and the thread of a sanitizer
  std::signal(SIGALRM, end_process);
  tally all;
  for (std::uint64_t i = 0; i < count; ++i) {
    running_seed = first + i;
    ::alarm(longest_run_seconds);
    const run_report run = fault_run(running_seed);
    ASSERT_EQ(run.fault, "") << "run " << i << ": " << run.setting;
    all.add(run);
  }
  ::alarm(0);
  all.print();
  if (count < many_runs) return;
  for (std::size_t i = 0; i < trouble_count; ++i) EXPECT_GT(all.happened[i], 0u) << to_string(static_cast<trouble>(i));
  for (std::size_t i = 0; i < fate_count; ++i) EXPECT_GT(all.outcomes[i], 0u) << to_string(static_cast<fate>(i));
  EXPECT_GT(all.device_warnings, 0u);
}

}  // namespace
}  // namespace cutpoint::tests
