// Sums up what the threads of an operation have done.
#pragma once

#include <functional>
#include <mutex>
#include <string>
#include <string_view>

#include <cutpoint/store.h>

namespace cutpoint::store {

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

}  // namespace cutpoint::store
