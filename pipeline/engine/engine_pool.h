// The threads of an engine, and the one lock under which they take tasks and hand them back. They perform tasks without
// it.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <cutpoint/engine.h>
#include <cutpoint/placement.h>

#include "pipeline/backends/device_lanes.h"
#include "pipeline/backends/fastest.h"
#include "pipeline/schedule/load_balance.h"
#include "pipeline/schedule/ring.h"

namespace cutpoint {

/// Thread-safe.
class memory_budget {
 public:
  /// Gives back what it has reserved when it is destroyed. The budget must outlive it.
  class reservation {
   public:
    reservation() = default;
    reservation(memory_budget& budget, std::uint64_t bytes) : budget_(&budget), bytes_(bytes) {}
    reservation(reservation&& other) noexcept : budget_(std::exchange(other.budget_, nullptr)), bytes_(other.bytes_) {}
    reservation& operator=(reservation&&) = delete;
    ~reservation() {
      if (budget_ != nullptr) budget_->used_bytes_ -= bytes_;
    }

   private:
    memory_budget* budget_ = nullptr;
    std::uint64_t bytes_ = 0;
  };

  /// 0 is no limit.
  explicit memory_budget(std::uint64_t limit_bytes) : limit_bytes_(limit_bytes) {}
  memory_budget(const memory_budget&) = delete;
  memory_budget& operator=(const memory_budget&) = delete;

  [[nodiscard]] bool is_limited() const noexcept { return limit_bytes_ != 0; }
  [[nodiscard]] std::uint64_t limit_bytes() const noexcept { return limit_bytes_; }
  [[nodiscard]] std::uint64_t used_bytes() const noexcept { return used_bytes_; }
  [[nodiscard]] std::uint64_t available_bytes() const noexcept {
    return is_limited() ? limit_bytes_ - used_bytes_ : std::numeric_limits<std::uint64_t>::max();
  }

  /// Returns false if another thread has reserved too much meanwhile.
  [[nodiscard]] bool reserve(std::uint64_t bytes) noexcept {
    std::uint64_t used = used_bytes_;
    do {
      if (is_limited() && bytes > limit_bytes_ - used) return false;
    } while (!used_bytes_.compare_exchange_weak(used, used + bytes));
    return true;
  }

 private:
  const std::uint64_t limit_bytes_;
  std::atomic<std::uint64_t> used_bytes_ = 0;
};

/// A budget of the memory of each device. Thread-safe.
class device_budgets {
 public:
  /// 0 is no limit.
  explicit device_budgets(std::uint64_t limit_bytes) : limit_bytes_(limit_bytes) {}

  [[nodiscard]] memory_budget& of(int device) {
    const std::lock_guard lock(mutex_);
    return each_.try_emplace(device, limit_bytes_).first->second;
  }
  [[nodiscard]] bool are_limited() const noexcept { return limit_bytes_ != 0; }
  [[nodiscard]] std::uint64_t limit_bytes() const noexcept { return limit_bytes_; }
  /// What is left on the devices, on that with the least.
  [[nodiscard]] std::uint64_t available_bytes(const std::vector<int>& devices) {
    std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
    for (const int device : devices) least = std::min(least, of(device).available_bytes());
    return least;
  }

 private:
  const std::uint64_t limit_bytes_;
  std::mutex mutex_;
  std::map<int, memory_budget> each_;
};

/// The values that the memory of a feed with devices depends on.
struct feed_memory_key {
  std::string cuts;  ///< canonical
  fingerprint_recipe fingerprint = fingerprint_kind::none;
  std::vector<int> devices;
  std::vector<device_configuration> configurations;
  std::uint64_t device_memory_bytes = 0;
  std::uint64_t ring_bytes = 0;

  friend bool operator==(const feed_memory_key&, const feed_memory_key&) = default;
};

/// The lanes of devices, and the ring of a feed: memory of its own, which stays for later feeds, or bytes of a caller. With
/// devices its own memory is locked if that is possible, and bytes of a caller always are.
class feed_memory {
 public:
  explicit feed_memory(std::vector<device_lanes> lanes) : devices(std::move(lanes)) {}
  feed_memory(const feed_memory&) = delete;
  feed_memory& operator=(const feed_memory&) = delete;

  [[nodiscard]] bool has_own_ring() const noexcept { return own_.has_value(); }
  void set_own_ring(cutpoint::ring bytes) {
    own_.emplace(std::move(bytes));
    if (!devices.empty()) lock_own_ring(devices);
  }

  /// Readies its own ring for devices that become `devices` afterwards, also if it returns false: another feed has reserved too
  /// much of their memory. Others may use the ring meanwhile.
  [[nodiscard]] bool admit(std::vector<device_lanes>& added, device_budgets& budgets) {
    if (!reserve_on_devices(added, budgets)) return false;
    lock_own_ring(added);
    return true;
  }

  /// Makes the bytes the ring until `leave_bytes`. Returns false and does nothing if devices would copy from bytes that are
  /// not locked. If `may_lock`, it tries to lock them until then.
  [[nodiscard]] bool stay_at(byte_span bytes, bool may_lock) {
    const bool can_stay =
        devices.empty() || devices.front().is_pinned(bytes) || (may_lock && lock(place_lock_, devices.front(), bytes));
    if (can_stay) place_.emplace(cutpoint::ring::over(bytes));
    return can_stay;
  }
  void leave_bytes() noexcept {
    place_lock_.reset();
    place_.reset();
  }

  [[nodiscard]] cutpoint::ring& ring() noexcept { return place_ ? *place_ : *own_; }

  /// Replaces what was reserved before. `reserved` is what the feed needs at least, and `more` what it has besides.
  void hold(memory_budget::reservation reserved, memory_budget::reservation more) {
    least_.emplace(std::move(reserved));
    more_.emplace(std::move(more));
  }
  /// Reserves the memory of the lanes on their devices. Returns false if another thread has reserved too much meanwhile.
  [[nodiscard]] bool reserve_on_devices(const std::vector<device_lanes>& lanes, device_budgets& budgets) {
    for (const device_lanes& each : lanes) {
      memory_budget& budget = budgets.of(each.device());
      if (!budget.reserve(each.memory_bytes())) return false;
      on_devices_.emplace_back(budget, each.memory_bytes());
    }
    return true;
  }

  /// Whether another feed can use it: it has devices, and none has failed.
  [[nodiscard]] bool is_reusable() const noexcept {
    return !devices.empty() &&
           std::all_of(devices.begin(), devices.end(), [](const device_lanes& each) { return each.warning().empty(); });
  }

 private:
  /// Unlocks at its end what the lanes have locked.
  class memory_lock {
   public:
    memory_lock(device_lanes& locking, byte_span memory) : lanes_(locking), memory_(memory) {}
    memory_lock(const memory_lock&) = delete;
    memory_lock& operator=(const memory_lock&) = delete;
    ~memory_lock() { lanes_.unpin(memory_); }

   private:
    device_lanes& lanes_;
    byte_span memory_;
  };

  [[nodiscard]] static bool lock(std::optional<memory_lock>& place, device_lanes& locking, byte_span memory) {
    if (locking.pin(memory)) place.emplace(locking, memory);
    return place.has_value();
  }
  void lock_own_ring(std::vector<device_lanes>& lanes) {
    own_->prepare(own_->size());
    static_cast<void>(lock(own_lock_, lanes.front(), own_->bytes(0, own_->size())));
  }

  std::optional<memory_budget::reservation> least_;     ///< ends after the ring
  std::optional<memory_budget::reservation> more_;      ///< ends before: nobody has more while no feed is open
  std::vector<memory_budget::reservation> on_devices_;  ///< ends after the devices
  std::optional<cutpoint::ring> own_;                   ///< ends after the devices, which may copy from it
  std::optional<cutpoint::ring> place_;

 public:
  std::vector<device_lanes> devices;

 private:
  std::optional<memory_lock> own_lock_;
  std::optional<memory_lock> place_lock_;
};

/// The parts of a feed that depend on devices and memory.
struct feed_setup {
  feed_options options;  ///< with what is left of the devices and of their memory
  feed_configuration configuration;
  feed_memory_key key;  ///< of the memory
  std::unique_ptr<feed_memory> memory;
};

/// Opens the lanes of the devices. If one cannot be used, stops, erases it from `options` and says why. Errors: as
/// `device_lanes::open`.
[[nodiscard]] result<std::vector<device_lanes>> open_devices(const device_provider& provider, feed_options& options,
                                                             const std::vector<device_configuration>& wanted,
                                                             std::string& warning);

// A feed as the threads of an engine see it.

class task_source {
 public:
  /// Takes one task, performs it without the lock, and hands it back. Returns false if it took no task, unless the feed
  /// has failed meanwhile.
  virtual bool perform_one_task(std::unique_lock<std::mutex>& lock, std::uint64_t lane_index) = 0;

 protected:
  ~task_source() = default;
};

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
  [[nodiscard]] result<feed_setup> set_up(feed_options asked, const chunk_receiver& receiver, byte_span bytes);

  /// The failure of feeds for which too little memory is left. `who` says which need `least_bytes`; `enough_bytes` would do.
  [[nodiscard]] status too_little_memory(std::string_view who, std::uint64_t least_bytes, std::uint64_t used_bytes,
                                         std::uint64_t enough_bytes) const;

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
  memory_budget for_least;            ///< of the memory that feeds need at least: half of the memory of all feeds
  memory_budget for_more;             ///< of what they have besides; the other half
  device_budgets on_devices;          ///< of theirs on devices
  device_loads loads;                 ///< of all feeds; guarded by `mutex`
  /// Seconds since the engine was made.
  [[nodiscard]] double now() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - making_time_).count();
  }
  /// Whether what a feed leaves may be kept for the next one.
  [[nodiscard]] bool may_keep() const noexcept { return !for_least.is_limited() && !on_devices.are_limited(); }

 private:
  void run_lane(std::uint64_t lane);

  const std::chrono::steady_clock::time_point making_time_ = std::chrono::steady_clock::now();

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

// Makes engines, with CUDA's devices or with those of a test.

struct engine_factory {
  /// As `engine::make`, with the devices that `devices` provides. It must not be null.
  [[nodiscard]] static result<engine> make(const engine_options& options,
                                           std::shared_ptr<const device_provider> devices);
  /// Opens the feed of `feed_buffer`, whose statistics a test reads.
  [[nodiscard]] static result<feed> open(engine& engine, const feed_options& options, chunk_receiver& receiver,
                                         byte_span bytes) {
    return engine.open(options, receiver, bytes);
  }
};

}  // namespace cutpoint
