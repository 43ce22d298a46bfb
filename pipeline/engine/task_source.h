// A feed as the threads of an engine see it.
#pragma once

#include <cstdint>
#include <mutex>

namespace cutpoint {

class task_source {
 public:
  /// Takes one task, performs it without the lock, and hands it back. Returns false if it took no task, unless the feed
  /// has failed meanwhile.
  virtual bool perform_one_task(std::unique_lock<std::mutex>& lock, std::uint64_t lane_index) = 0;

 protected:
  ~task_source() = default;
};

}  // namespace cutpoint
