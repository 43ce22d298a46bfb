// A meter of the time that reading takes. It reports each span of time to an observer.
#pragma once

#include <chrono>
#include <cstdint>
#include <utility>

#include <cutpoint/inputs.h>

namespace cutpoint {

/// Measures spans of reading, which do not overlap each other or the thread's work for the feed. Not thread-safe.
class reading_meter {
 public:
  reading_record record;

  /// `observer` may be null.
  explicit reading_meter(input_observer* observer) : observer_(observer) {}

  void begin() { begun_ = clock::now(); }
  void end(std::uint64_t bytes = 0) {
    const clock::time_point now = clock::now();
    record.work.seconds += std::chrono::duration<double>(now - begun_).count();
    record.work.bytes += bytes;
    if (observer_ != nullptr) observer_->read(begun_, now, bytes);
  }

  /// Calls `reading` and measures it. `count_bytes` returns the number of bytes read, given the result of `reading`.
  template <class Reading, class CountBytes>
  auto measure(Reading&& reading, CountBytes&& count_bytes) {
    begin();
    auto outcome = std::forward<Reading>(reading)();
    end(count_bytes(outcome));
    return outcome;
  }
  /// Calls and measures an action that reads no bytes.
  template <class Action>
  auto measure(Action&& action) {
    return measure(std::forward<Action>(action), [](const auto&) { return std::uint64_t{0}; });
  }
  /// Calls an action whose time is excluded from the present measurement.
  template <class Action>
  auto pause_during(Action&& action) {
    end();
    auto outcome = std::forward<Action>(action)();
    begin();
    return outcome;
  }

 private:
  using clock = std::chrono::steady_clock;

  clock::time_point begun_ = {};
  input_observer* observer_;
};

}  // namespace cutpoint
