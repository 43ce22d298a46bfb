// The threads of an engine, and the one lock under which they take tasks and hand them back. They perform tasks without
// it.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <thread>
#include <vector>

#include <cutpoint/engine.h>
#include <cutpoint/placement.h>

#include "pipeline/backends/fastest.h"
#include "pipeline/devices/device_lanes.h"
#include "pipeline/engine/feed_memory.h"
#include "pipeline/engine/task_source.h"

namespace cutpoint {

class engine::pool {
 public:
  /// `provider` must not be null.
  pool(const engine_options& options, std::shared_ptr<const device_provider> provider);
  pool(const pool&) = delete;
  pool& operator=(const pool&) = delete;
  ~pool();

  /// Starts all threads but the one that feeds. Errors: unavailable.
  [[nodiscard]] status start();

  [[nodiscard]] std::uint64_t thread_count() const { return thread_count_; }

  /// Chooses the configuration of a feed of `options`, whose chunker is placed and whose devices differ, and finds its
  /// memory: `bytes`, if they are all that is fed and may stay where they are; what an earlier feed has left; or new. A
  /// device that cannot be used is left out, with a warning. Errors: as `engine::open`.
  [[nodiscard]] result<feed_setup> set_up(feed_options options, const chunk_receiver& receiver, byte_span bytes);

  /// Returns what an earlier feed with the same key has left, or null. Frees what other feeds have left.
  [[nodiscard]] std::unique_ptr<feed_memory> take_kept(const feed_memory_key& key);
  /// Keeps the memory of a feed for the next one.
  void keep(feed_memory_key key, std::unique_ptr<feed_memory> memory) noexcept;

  /// Calls `binding`, which binds the calling thread. If the system or the memory refuses that, the thread works all
  /// the same.
  template <class Binding>
  static void bind(Binding&& binding) noexcept {
    try {
      static_cast<void>(binding());
    } catch (const std::bad_alloc&) {
    }
  }

  const std::optional<processor_places> places;  ///< where threads and memory are bound; nullopt if they are not
  /// Whether as many threads perform tasks as may. Call it under the lock.
  [[nodiscard]] bool is_busy() const noexcept { return working_threads == thread_limit_; }

  const std::shared_ptr<const device_provider> devices;
  backend_cache choices;
  std::mutex mutex;                  ///< guards every schedule
  std::condition_variable work;      ///< notified when there may be a task to take
  std::condition_variable progress;  ///< notified when a task was handed back
  std::vector<task_source*> feeds;
  std::uint64_t working_threads = 0;  ///< that perform tasks; guarded by `mutex`
  memory_budget budget;               ///< of the memory of all feeds

 private:
  void run_lane(std::uint64_t lane);

  std::uint64_t thread_count_;
  std::uint64_t thread_limit_;
  bool binds_workers_;
  std::vector<std::thread> workers_;
  bool is_stopping_ = false;
  struct kept_entry {
    feed_memory_key key;
    std::unique_ptr<feed_memory> memory;
  };
  std::vector<kept_entry> reusable_;  ///< guarded by `mutex`
};

}  // namespace cutpoint
