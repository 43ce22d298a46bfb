// How full a feed's queues are over time.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include <cutpoint/trace.h>

namespace cutpoint {

/// Not synchronised. Times are seconds since the feed was opened.
class queue_meter {
 public:
  /// Records how full the queues are from `now` on.
  void record(const trace_levels& levels, double now) {
    const std::array<std::uint64_t, 4> seen = {levels.held_bytes, levels.waiting_segments,
                                               levels.waiting_fingerprint_bytes, levels.waiting_delivery_bytes};
    for (std::size_t i = 0; i < queues_.size(); ++i) {
      queue& measured = queues_[i];
      measured.area += static_cast<double>(measured.value) * (now - since_);
      measured.value = seen[i];
      measured.most = std::max(measured.most, measured.value);
    }
    since_ = now;
  }

  void publish(feed_statistics& statistics, double now) const {
    const std::array<occupancy*, 4> places = {&statistics.held_bytes, &statistics.waiting_segments,
                                              &statistics.waiting_fingerprints, &statistics.waiting_deliveries};
    for (std::size_t i = 0; i < queues_.size(); ++i) {
      const queue& measured = queues_[i];
      const double area = measured.area + static_cast<double>(measured.value) * (now - since_);
      *places[i] = {.mean = now > 0 ? area / now : 0, .most = measured.most};
    }
  }

 private:
  struct queue {
    double area = 0;
    std::uint64_t value = 0;
    std::uint64_t most = 0;
  };
  std::array<queue, 4> queues_ = {};
  double since_ = 0;
};

}  // namespace cutpoint
