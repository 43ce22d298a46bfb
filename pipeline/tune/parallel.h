// A parallel loop.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include <cutpoint/source.h>

namespace cutpoint {

/// Calls `turn(index)` for each index below `count`, in any order, on at most `threads` threads, and waits until all
/// calls have returned. An exception of a call is rethrown. After an exception, or when `cancel` is requested, no
/// further calls are made.
template <class Turn>
void for_each_parallel(std::uint64_t threads, std::size_t count, const cancellation& cancel, const Turn& turn) {
  std::atomic<std::size_t> next = 0;
  std::exception_ptr thrown;
  std::mutex mutex;
  const auto work = [&] {
    try {
      for (std::size_t index = next++; index < count && !cancel.is_requested(); index = next++) turn(index);
    } catch (...) {
      const std::lock_guard lock(mutex);
      thrown = std::current_exception();
      next = count;
    }
  };
  std::vector<std::jthread> others;
  for (std::uint64_t i = 1; i < std::min<std::uint64_t>(threads, count); ++i) others.emplace_back(work);
  work();
  others.clear();
  if (thrown) std::rethrow_exception(thrown);
}

}  // namespace cutpoint
