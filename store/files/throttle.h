// Holds work back to a number of bytes a second.
#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>

#include <cutpoint/source.h>

namespace cutpoint::store {

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
