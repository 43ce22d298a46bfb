// The timed loop of cutpoint_bench, which compares the answer of each pass.
#pragma once

#include <cstdint>

#include <cutpoint/bytes.h>

namespace cutpoint::bench {

/// Calls `work`, which processes all of `bytes` once, as often as the benchmark's `state` asks for. Compares each answer
/// with `expected` while the clock is stopped, and ends the benchmark with the error `problem` at the first difference.
template <class State, class Work, class Answer>
void measure(State& state, byte_span bytes, Work&& work, const Answer& expected, const char* problem) {
  while (state.KeepRunning()) {
    const Answer& answer = work();
    state.PauseTiming();
    if (!(answer == expected)) return state.SkipWithError(problem);
    state.ResumeTiming();
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(bytes.size()));
}

}  // namespace cutpoint::bench
