// How full a queue is over time.
#pragma once

#include <algorithm>
#include <cstdint>

#include <cutpoint/engine.h>

namespace cutpoint {

/// One thread at a time. Times are seconds from the queue's beginning on.
class queue_watch {
 public:
  /// From `now` on the queue holds so much.
  void see(std::uint64_t held, double now) {
    area_ += static_cast<double>(held_) * (now - since_);
    since_ = now;
    held_ = held;
    most_ = std::max(most_, held);
  }

  [[nodiscard]] occupancy over(double now) const {
    const double area = area_ + static_cast<double>(held_) * (now - since_);
    return {.mean = now > 0 ? area / now : 0, .most = most_};
  }

 private:
  double area_ = 0;
  double since_ = 0;
  std::uint64_t held_ = 0;
  std::uint64_t most_ = 0;
};

}  // namespace cutpoint
