// A sample for measurements that is not in a cache.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include <cutpoint/bytes.h>

#include "pipeline/backends/repeated_timing.h"

namespace cutpoint {

/// Each turn begins where the last one ended, and at the end of the sample again at its beginning. So it finds bytes
/// that were not read while the rest of the sample passed through the caches. If all turns began at the same byte, the
/// few bytes that cuts like AE's depend on would be in the nearest cache.
class sample_cursor {
 public:
  /// Repeats `random` until the sample is twice as large as the largest cache (32 to 256 MiB).
  sample_cursor(byte_span random, std::uint64_t largest_cache_bytes) {
    const std::uint64_t wanted = std::clamp(2 * std::min(largest_cache_bytes, most_bytes), least_bytes, most_bytes);
    bytes_.reserve(wanted + random.size());
    while (bytes_.size() < wanted) bytes_.insert(bytes_.end(), random.begin(), random.end());
  }

  [[nodiscard]] byte_span bytes() const { return bytes_; }

  /// Seconds per byte of `work(begin)`, which works on at least one byte of the sample from `begin` on and returns
  /// their number. The shortest of `turns` turns, which together pass the sample at most once.
  template <class Work>
  [[nodiscard]] double seconds_per_byte(int turns, double turn_seconds, Work&& work) {
    const timing_options plan = {.sample_bytes = bytes_.size() / static_cast<std::uint64_t>(turns),
                                 .turns = turns,
                                 .turn_seconds = turn_seconds};
    return cutpoint::seconds_per_byte(plan, [&](std::uint64_t done) {
      const std::uint64_t count = work(at_);
      at_ = (at_ + count) % bytes_.size();
      return done + count;
    });
  }

 private:
  static constexpr std::uint64_t least_bytes = 32 * MiB;
  static constexpr std::uint64_t most_bytes = 256 * MiB;

  std::vector<std::uint8_t> bytes_;
  std::uint64_t at_ = 0;
};

}  // namespace cutpoint
