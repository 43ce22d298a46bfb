// The line of progress of work on chunk traces.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>

#include <fmt/format.h>

#include "cli/common/console.h"
#include "cli/common/units.h"

namespace cutpoint::cli {

/// Draws the line at most ten times a second, if the console shows progress, and erases it in the end. Thread-safe.
class chunk_progress {
 public:
  /// `total` is the number of chunks of all the work, or 0 if it is not known.
  chunk_progress(const console& say, std::uint64_t total) : say_(say), total_(total) {}
  chunk_progress(const chunk_progress&) = delete;
  chunk_progress& operator=(const chunk_progress&) = delete;
  ~chunk_progress() { say_.progress({}); }

  void add(std::uint64_t chunk_count) {
    const std::uint64_t count = count_.fetch_add(chunk_count, std::memory_order_relaxed) + chunk_count;
    if (!is_shown_) return;
    const std::unique_lock lock(mutex_, std::try_to_lock);
    const auto now = clock::now();
    if (!lock.owns_lock() || now < next_) return;
    next_ = now + std::chrono::milliseconds(100);
    const std::string share = total_ == 0 ? "" : fmt::format("{} %, ", 100 * std::min(count, total_) / total_);
    say_.progress(fmt::format("{}{} chunks, {:.1f} million a second", share, human_count(count),
                              as_double(count) / std::chrono::duration<double>(now - begin_).count() / 1e6));
  }

 private:
  using clock = std::chrono::steady_clock;

  const console& say_;
  std::uint64_t total_;
  bool is_shown_ = say_.shows_progress();
  clock::time_point begin_ = clock::now();
  std::atomic<std::uint64_t> count_ = 0;
  std::mutex mutex_;
  clock::time_point next_ = begin_;  ///< when the line is drawn again
};

}  // namespace cutpoint::cli
