// The line on a terminal that shows what a command on a store is doing.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include <cutpoint/store.h>

#include "cli/common/console.h"

namespace cutpoint::cli {

/// Formats the line: the activity, the share and the time left if a total is known, the rate, the items, and the present one.
[[nodiscard]] std::string activity_text(const store_progress& progress, double seconds);

/// Draws the line at most ten times a second, if the console shows progress. For one operation.
class activity_line {
 public:
  /// `say` must outlive the line.
  explicit activity_line(const console& say) : say_(say), is_shown_(say.shows_progress()) {}

  /// Returns what draws the line, which must outlive it; an empty function if nothing is shown.
  [[nodiscard]] store_progress_function drawer();
  /// Erases the line.
  void erase() const { say_.progress({}); }
  /// Says `summary` and how long all took, if progress is shown.
  void finish(std::string_view summary) const;

 private:
  using clock = std::chrono::steady_clock;

  void draw(const store_progress& progress);

  const console& say_;
  bool is_shown_;
  std::string_view activity_;
  clock::time_point begin_ = clock::now();
  clock::time_point activity_begin_ = begin_;
  clock::time_point next_ = begin_ + std::chrono::milliseconds(100);
};

}  // namespace cutpoint::cli
