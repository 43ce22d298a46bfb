// A lane: its fingerprinter, the record of its work, and its thread's signals.
#pragma once

#include <chrono>
#include <csignal>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <cutpoint/batch_fingerprinter.h>
#include <cutpoint/cut_cursor.h>
#include <cutpoint/engine.h>
#include <cutpoint/trace.h>

namespace cutpoint {

/// The spans of a traced lane, until they are handed over.
struct span_notes {
  using clock = std::chrono::steady_clock;

  std::uint64_t lane = 0;
  int device = -1;
  clock::time_point opening_time = {};  ///< when the feed was opened
  std::vector<trace_span> spans = {};

  [[nodiscard]] double seconds(clock::time_point time) const {
    return std::chrono::duration<double>(time - opening_time).count();
  }
  void note(std::variant<stage, device_step> what, double begin, double end, std::uint64_t bytes) {
    spans.push_back({.lane = lane, .device = device, .what = what, .begin = begin, .end = end, .bytes = bytes});
  }
};

/// Counts the work of a stage, and notes it if the lane is traced.
struct stage_meter {
  stage which;
  stage_work& counted;
  span_notes* notes = nullptr;
};

/// Runs `doing`, which returns a number of bytes, and counts these and its time.
template <class Doing>
void measure(const stage_meter& meter, Doing&& doing) {
  const auto begin = span_notes::clock::now();
  const std::uint64_t bytes = std::forward<Doing>(doing)();
  const auto end = span_notes::clock::now();
  meter.counted.bytes += bytes;
  meter.counted.seconds += std::chrono::duration<double>(end - begin).count();
  if (meter.notes != nullptr)
    meter.notes->note(meter.which, meter.notes->seconds(begin), meter.notes->seconds(end), bytes);
}

/// Not synchronised.
struct lane {
  std::unique_ptr<batch_fingerprinter> fingerprints;
  std::vector<std::optional<cut_cursor>> cursors = {};  ///< over the sequence of the feed, for each rule
  std::array<stage_work, stage_count> work = {};
  std::uint64_t device_bytes = 0;               ///< cut by its device, in the present task
  std::unique_ptr<span_notes> notes = nullptr;  ///< null if the feed is not traced

  stage_meter at(stage which) { return {which, work[static_cast<std::size_t>(which)], notes.get()}; }
};

inline void add(lane_record& total, const std::array<stage_work, stage_count>& more) {
  for (std::size_t i = 0; i < stage_count; ++i) {
    total.work[i].seconds += more[i].seconds;
    total.work[i].bytes += more[i].bytes;
  }
}

/// Threads that are started during its lifetime handle no signals.
class signals_blocked {
 public:
  signals_blocked() {
    sigset_t all;
    sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~signals_blocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  signals_blocked(const signals_blocked&) = delete;
  signals_blocked& operator=(const signals_blocked&) = delete;

 private:
  sigset_t before_;
};

}  // namespace cutpoint
