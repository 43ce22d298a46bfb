#include "store/format/clock.h"

#include <algorithm>
#include <thread>

#include <cutpoint/bytes.h>

namespace cutpoint::store {

/// How often a wait looks whether it was cancelled.
constexpr std::chrono::milliseconds longest_sleep(50);

std::uint64_t throttle::block_bytes() const noexcept {
  return bytes_per_second_ == 0 ? UINT64_MAX : std::max<std::uint64_t>(bytes_per_second_ / 10, 4 * KiB);
}

status throttle::wait(std::uint64_t bytes) {
  if (bytes_per_second_ == 0) return {};
  using clock = std::chrono::steady_clock;
  clock::time_point begin;
  {
    const std::lock_guard lock(mutex_);
    begin = std::max(next_, clock::now());
    const std::chrono::duration<double> span(static_cast<double>(bytes) / static_cast<double>(bytes_per_second_));
    next_ = begin + std::chrono::duration_cast<clock::duration>(span);
  }
  for (auto now = clock::now(); now < begin; now = clock::now()) {
    if (cancel_ != nullptr && cancel_->is_requested()) return stopped_as_asked();
    std::this_thread::sleep_for(std::min<clock::duration>(begin - now, longest_sleep));
  }
  return {};
}

}  // namespace cutpoint::store
