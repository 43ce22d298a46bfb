// The timed loop of cutpoint_bench, which compares the answer of each pass, and the ways in which a benchmark ends early.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include <cutpoint/bytes.h>

namespace cutpoint::bench {

/// Whether a benchmark gave a wrong answer or failed.
inline std::atomic<bool> has_failed = false;

/// Ends a benchmark that cannot run here. Google Benchmark shows `reason` in the place of its figures; before version 1.8
/// it can only call that an error.
template <class State>
void skip(State& state, const std::string& reason) {
  if constexpr (requires { state.SkipWithMessage(reason); }) {
    state.SkipWithMessage(reason);
  } else {
    state.SkipWithError(reason.c_str());
  }
}

/// Ends a benchmark whose answer is wrong, or which failed.
template <class State>
void fail(State& state, const std::string& problem) {
  has_failed = true;
  state.SkipWithError(problem.c_str());
}

/// Calls `work`, which processes all of `bytes` once, as often as the benchmark's `state` asks for. Compares each answer
/// with `expected` while the clock is stopped, and fails with `problem` at the first difference.
template <class State, class Work, class Answer>
void measure(State& state, byte_span bytes, Work&& work, const Answer& expected, const char* problem) {
  while (state.KeepRunning()) {
    const Answer& answer = work();
    state.PauseTiming();
    if (!(answer == expected)) return fail(state, problem);
    state.ResumeTiming();
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(bytes.size()));
}

}  // namespace cutpoint::bench
