// Time: the clock whose times objects have, timers of work, the meter of progress, and limits of rates.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string_view>

#include <cutpoint/engine.h>
#include <cutpoint/source.h>
#include <cutpoint/store.h>
#include <time.h>

namespace cutpoint::store {

/// Returns the nanoseconds since 1970, UTC, by the system's clock, which may be wrong and may be set back.
[[nodiscard]] inline std::int64_t nanoseconds_now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

/// Returns the time since the machine was started, with the time in which it was suspended.
[[nodiscard]] inline std::chrono::nanoseconds time_since_start() {
  std::timespec now = {};
  ::clock_gettime(CLOCK_BOOTTIME, &now);
  return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
}

/// Reports the progress of an operation. Thread-safe: the reports do not overlap.
class progress_meter {
 public:
  /// `report`, which may be empty, must outlive the meter.
  explicit progress_meter(const std::function<void(const store_progress&)>& report) : report_(report) {}

  /// Begins an activity. A total of 0 is unknown.
  void begin(std::string_view activity, std::uint64_t total_items = 0, std::uint64_t total_bytes = 0) {
    if (!report_) return;
    const std::lock_guard lock(mutex_);
    state_ = {.activity = activity, .total_items = total_items, .total_bytes = total_bytes};
    report_(state_);
  }
  /// Adds what was done. Without a name the present item stays the same.
  void add(std::uint64_t items, std::uint64_t bytes, std::string_view name = {}) {
    if (!report_) return;
    const std::lock_guard lock(mutex_);
    state_.items += items;
    state_.bytes += bytes;
    if (!name.empty()) state_.name = name;
    report_(state_);
  }

 private:
  const std::function<void(const store_progress&)>& report_;
  std::mutex mutex_;
  store_progress state_;
};

/// Adds the time until its destruction to a stage's. Not thread-safe.
class work_timer {
 public:
  explicit work_timer(stage_work& counted) noexcept : counted_(counted) {}
  work_timer(const work_timer&) = delete;
  work_timer& operator=(const work_timer&) = delete;
  ~work_timer() { counted_.seconds += std::chrono::duration<double>(clock::now() - begin_).count(); }

 private:
  using clock = std::chrono::steady_clock;

  stage_work& counted_;
  clock::time_point begin_ = clock::now();
};

/// Adds what another has counted.
inline void add(stage_work& sum, const stage_work& more) {
  sum.seconds += more.seconds;
  sum.bytes += more.bytes;
}

/// Spreads bytes over time. What was not used of a second is lost, so that no pause is followed by a burst. Thread-safe: all
/// threads together stay below the rate.
class throttle {
 public:
  /// Without a rate (0) nothing waits. `cancel` ends a wait; it may be null, and must outlive the throttle.
  throttle(std::uint64_t most_bytes_per_second, const cancellation* cancel) noexcept
      : bytes_per_second_(most_bytes_per_second), cancel_(cancel) {}

  /// Returns how many bytes should be handled between two calls of `wait`: what takes about a tenth of a second.
  [[nodiscard]] std::uint64_t block_bytes() const noexcept;
  /// Waits until bytes may be handled, which follow those of the calls before. Errors: cancelled.
  [[nodiscard]] status wait(std::uint64_t bytes);

 private:
  std::uint64_t bytes_per_second_;
  const cancellation* cancel_;
  std::mutex mutex_;
  std::chrono::steady_clock::time_point next_;  ///< when the next bytes may be handled
};

}  // namespace cutpoint::store
