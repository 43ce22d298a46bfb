// The threads of an engine, and the one lock under which tasks are taken and handed back; none is held while they are
// performed.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <system_error>
#include <thread>
#include <vector>

#include <cutpoint/engine.h>
#include <cutpoint/placement.h>
#include <fmt/format.h>

#include "pipeline/dispatch/device_lanes.h"
#include "pipeline/dispatch/fastest.h"
#include "pipeline/engine/signals_blocked.h"

namespace cutpoint {

class engine::pool {
 public:
  pool(std::uint64_t thread_count, std::optional<processor_places> where, thread_placement placement,
       std::shared_ptr<const device_provider> provider)
      : places(std::move(where)),
        devices(provider ? std::move(provider) : std::make_shared<const device_provider>()),
        thread_count_(thread_count),
        binds_workers_(placement == thread_placement::cores && places && places->processor_count() >= thread_count) {}
  pool(const pool&) = delete;
  pool& operator=(const pool&) = delete;
  ~pool() {
    {
      const std::lock_guard lock(mutex);
      is_stopping_ = true;
    }
    work.notify_all();
    for (std::thread& worker : workers_) worker.join();
  }

  status start() {
    const signals_blocked quiet;
    try {
      for (std::uint64_t lane = 1; lane < thread_count_; ++lane)
        workers_.emplace_back([this, lane] { run_lane(lane); });
    } catch (const std::system_error& error) {
      return {status_code::unavailable, fmt::format("{} threads cannot be started: {}", thread_count_, error.what()),
              error.code().value()};
    }
    return {};
  }

  std::uint64_t thread_count() const { return thread_count_; }

  /// Calls what binds the calling thread. Refused, or without the memory for it, the thread works as well.
  template <class Binding>
  static void bind(Binding&& binding) noexcept {
    try {
      static_cast<void>(binding());
    } catch (const std::bad_alloc&) {
    }
  }

  const std::optional<processor_places> places;  ///< where threads and memory may be bound; none: nowhere
  const std::shared_ptr<const device_provider> devices;
  backend_cache choices;
  std::mutex mutex;                  ///< guards every schedule
  std::condition_variable work;      ///< there may be something to take
  std::condition_variable progress;  ///< something was handed back
  std::vector<feed::implementation*> feeds;

 private:
  void run_lane(std::uint64_t lane);

  std::uint64_t thread_count_;
  bool binds_workers_;
  std::vector<std::thread> workers_;
  bool is_stopping_ = false;
};

}  // namespace cutpoint
