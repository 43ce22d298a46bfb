// Calls a function for many items on several threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include <cutpoint/status.h>
#include <cutpoint/topology.h>

#include "host/core/process_limits.h"

namespace cutpoint {

/// Returns how many threads to use if `threads` were asked for; 0 means one for each usable processor. There are no more than may each
/// have a file open.
[[nodiscard]] inline std::size_t thread_count(std::uint64_t threads) {
  const std::size_t wanted = threads != 0 ? threads : usable_processor_count();
  return std::min(wanted, descriptor_share(8, SIZE_MAX));
}

/// Calls `perform(worker, item)` for each item below `items`. The calls of one worker, which is below `workers`, do not
/// overlap. Rethrows what a call throws; items that were not begun are left out then.
template <class Perform>
void run_parallel(std::size_t workers, std::size_t items, const Perform& perform) {
  std::atomic<std::size_t> next = 0;
  std::mutex mutex;
  std::exception_ptr thrown;
  const auto work = [&](std::size_t worker) {
    try {
      for (std::size_t item = next++; item < items; item = next++) perform(worker, item);
    } catch (...) {
      next = items;
      const std::lock_guard lock(mutex);
      thrown = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> threads;
    for (std::size_t worker = 1; worker < std::min(workers, items); ++worker) {
      try {
        threads.emplace_back(work, worker);
      } catch (const std::system_error&) {
        break;  // the threads that exist do all the work
      }
    }
    work(0);
  }
  if (thrown) std::rethrow_exception(thrown);
}

/// Calls `perform(worker, item)`, which returns a status, as `run_parallel` does. Returns a failure of a call, after which no others
/// begin.
template <class Perform>
[[nodiscard]] status try_parallel(std::size_t workers, std::size_t items, const Perform& perform) {
  std::mutex mutex;
  status outcome;
  std::atomic<bool> has_failed = false;
  run_parallel(workers, items, [&](std::size_t worker, std::size_t item) {
    if (has_failed) return;
    status performed = perform(worker, item);
    if (performed.ok()) return;
    const std::lock_guard lock(mutex);
    if (!has_failed.exchange(true)) outcome = std::move(performed);
  });
  return outcome;
}

}  // namespace cutpoint
