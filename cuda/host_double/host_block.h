// The block of kernel bodies on the host, for tests. Phases are loops over threads in a chosen order, shared memory has red
// zones, and faults of a kernel body are reported. The contract is in
// cuda/kernel/block.h.
#pragma once

#include <algorithm>
#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "cuda/kernel/block.h"

#if defined(__SANITIZE_ADDRESS__)
#define CUTPOINT_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define CUTPOINT_ASAN 1
#endif
#endif
#if defined(CUTPOINT_ASAN)
#include <sanitizer/asan_interface.h>
#endif

namespace cutpoint::cuda {

// Shared memory and asynchronous copies of the host's block. They detect faults that a device would not report.
//
// Each array lies between two red zones and is garbage at first. Indices are checked. Writes through a raw pointer into a
// red zone are found at the end of the phase, or at once under AddressSanitizer. The destination of an asynchronous copy is
// garbage, and poisoned, until its wait; only then is the source read. Not thread-safe.

/// The faults of a kernel body, one sentence each. Only the first few are kept.
class fault_log {
 public:
  void add(std::string fault) {
    if (faults_.size() < kept_faults) faults_.push_back(std::move(fault));
  }
  [[nodiscard]] const std::vector<std::string>& faults() const { return faults_; }

 private:
  static constexpr std::size_t kept_faults = 16;
  std::vector<std::string> faults_;
};

/// Memory for `element_count` elements of `element_bytes` each between two red zones. Neither copied nor moved.
class guarded_region {
 public:
  guarded_region(std::string name, std::size_t element_count, std::size_t element_bytes, fault_log& log)
      : name_(std::move(name)),
        element_bytes_(element_bytes),
        size_bytes_(element_count * element_bytes),
        log_(log),
        memory_(new std::byte[zone_bytes + size_bytes_ + zone_bytes]),
        scratch_(element_bytes / sizeof(bytes16) + 1),
        pending_(element_count, 0) {
    std::memset(data(), garbage, size_bytes_);
    for (std::byte* zone : {memory_.get(), data() + size_bytes_}) {
      std::memset(zone, zone_mark, zone_bytes);
      set_poison(zone, zone_bytes, true);
    }
  }
  ~guarded_region() { set_poison(memory_.get(), zone_bytes + size_bytes_ + zone_bytes, false); }
  guarded_region(const guarded_region&) = delete;
  guarded_region& operator=(const guarded_region&) = delete;

  [[nodiscard]] std::byte* data() const { return memory_.get() + zone_bytes; }
  [[nodiscard]] std::size_t size() const { return pending_.size(); }

  /// Returns the element. If it must not be accessed, adds a fault and returns a garbage element.
  [[nodiscard]] std::byte* element(std::size_t index) {
    if (usable(index)) return data() + index * element_bytes_;
    auto* const nowhere = reinterpret_cast<std::byte*>(scratch_.data());
    std::memset(nowhere, garbage, element_bytes_);
    return nowhere;
  }

  /// Begins an asynchronous copy to the element. Returns false and adds a fault if the element must not be accessed.
  [[nodiscard]] bool begin_copy(std::size_t index) {
    if (!usable(index)) return false;
    std::byte* const target = data() + index * element_bytes_;
    std::memset(target, garbage, element_bytes_);
    pending_[index] = 1;
    set_poison(target, element_bytes_, true);
    return true;
  }
  void end_copy(std::size_t index, const void* source) {
    std::byte* const target = data() + index * element_bytes_;
    set_poison(target, element_bytes_, false);
    pending_[index] = 0;
    std::memcpy(target, source, element_bytes_);
  }

  /// Adds a fault if a red zone was written. AddressSanitizer reports the write itself.
  void check_red_zones() {
#if !defined(CUTPOINT_ASAN)
    for (std::byte* zone : {memory_.get(), data() + size_bytes_}) {
      if (std::all_of(zone, zone + zone_bytes, [](std::byte b) { return b == std::byte{zone_mark}; })) continue;
      log_.add(name_ + (zone < data() ? ": written before its begin" : ": written past its end"));
      std::memset(zone, zone_mark, zone_bytes);
    }
#endif
  }

 private:
  static constexpr std::size_t zone_bytes = 64;
  static constexpr std::uint8_t zone_mark = 0xfa;
  static constexpr std::uint8_t garbage = 0xa5;

  [[nodiscard]] bool usable(std::size_t index) {
    if (index < size() && pending_[index] == 0) return true;
    log_.add(name_ + (index < size()
                          ? ": element " + std::to_string(index) + " is used before the copy to it has landed"
                          : ": index " + std::to_string(index) + " of " + std::to_string(size())));
    return false;
  }

  static void set_poison([[maybe_unused]] void* begin, [[maybe_unused]] std::size_t size,
                         [[maybe_unused]] bool is_poisoned) {
#if defined(CUTPOINT_ASAN)
    if (is_poisoned) {
      __asan_poison_memory_region(begin, size);
    } else {
      __asan_unpoison_memory_region(begin, size);
    }
#endif
  }

  std::string name_;
  std::size_t element_bytes_;
  std::size_t size_bytes_;
  fault_log& log_;
  std::unique_ptr<std::byte[]> memory_;
  std::vector<bytes16> scratch_;
  std::vector<std::uint8_t> pending_;  // for each element: 1 while a copy to it is in flight
};

/// The view of a region for kernels: `device_shared_array` with checks.
template <class T>
class host_shared_array {
 public:
  explicit host_shared_array(guarded_region& region) : region_(&region) {}

  [[nodiscard]] T& operator[](std::size_t index) const { return *reinterpret_cast<T*>(region_->element(index)); }
  [[nodiscard]] T& at_offset(std::size_t bytes) const {
    assert(bytes % sizeof(T) == 0);
    return (*this)[bytes / sizeof(T)];
  }
  [[nodiscard]] T* data() const { return reinterpret_cast<T*>(region_->data()); }
  [[nodiscard]] std::size_t size() const { return region_->size(); }
  [[nodiscard]] guarded_region& region() const { return *region_; }

 private:
  guarded_region* region_;
};

/// Asynchronous copies that are done as late as allowed: at the wait of the thread that started them.
template <class T>
class host_pipeline {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 16, "the sizes that the hardware copies");

 public:
  host_pipeline(std::uint32_t thread_count, fault_log& log) : threads_(thread_count), log_(log) {}

  template <class Thread>
  void copy(Thread thread, const host_shared_array<T>& array, std::size_t index, const void* source) {
    if (reinterpret_cast<std::uintptr_t>(source) % sizeof(T) != 0) {
      log_.add("an asynchronous copy of " + std::to_string(sizeof(T)) + " bytes has a misaligned source");
    }
    if (array.region().begin_copy(index)) threads_[thread.index()].open.push_back({&array.region(), index, source});
  }
  template <class Thread>
  void commit(Thread thread) {
    copies& mine = threads_[thread.index()];
    mine.closed.push_back(std::exchange(mine.open, {}));
  }
  template <std::uint32_t Newest, class Thread>
  void wait(Thread thread) {
    copies& mine = threads_[thread.index()];
    for (; mine.closed.size() > Newest; mine.closed.pop_front()) {
      for (const in_flight& each : mine.closed.front()) each.region->end_copy(each.index, each.source);
    }
  }

 private:
  struct in_flight {
    guarded_region* region;
    std::size_t index;
    const void* source;
  };
  struct copies {
    std::vector<in_flight> open;                // since the last commit
    std::deque<std::vector<in_flight>> closed;  // groups, oldest first
  };
  std::vector<copies> threads_;
  fault_log& log_;
};

/// The order in which a phase runs its threads, and a grid its blocks. A correct kernel gives the same result in all orders.
class thread_order {
 public:
  [[nodiscard]] static thread_order forward() { return {kind::forward, 0}; }
  [[nodiscard]] static thread_order reversed() { return {kind::reversed, 0}; }
  /// Another order in every phase. The orders depend only on the seed and the standard library.
  [[nodiscard]] static thread_order shuffled(std::uint64_t seed) { return {kind::shuffled, seed}; }

  /// Returns the numbers below `count` in the order for the next phase.
  [[nodiscard]] std::vector<std::uint32_t> next(std::uint32_t count) {
    std::vector<std::uint32_t> numbers(count);
    std::iota(numbers.begin(), numbers.end(), std::uint32_t{0});
    if (kind_ == kind::reversed) std::reverse(numbers.begin(), numbers.end());
    if (kind_ == kind::shuffled) std::shuffle(numbers.begin(), numbers.end(), random_);
    return numbers;
  }

 private:
  enum class kind { forward, reversed, shuffled };
  thread_order(kind which, std::uint64_t seed) : kind_(which), random_(seed) {}

  kind kind_;
  std::mt19937_64 random_;
};

class host_thread {
 public:
  explicit host_thread(std::uint32_t index) : index_(index) {}
  [[nodiscard]] std::uint32_t index() const { return index_; }
  [[nodiscard]] std::uint32_t lane() const { return index_ % warp_size; }

 private:
  std::uint32_t index_;
};

template <class T>
class host_per_thread {
 public:
  host_per_thread(std::uint32_t thread_count, T value) : values_(thread_count, value) {}
  [[nodiscard]] T& operator[](host_thread thread) { return values_[thread.index()]; }

 private:
  std::vector<T> values_;
};

template <class T>
class host_per_lane {
 public:
  explicit host_per_lane(T value) { values_.fill(value); }
  [[nodiscard]] T& operator[](std::uint32_t lane) { return values_[lane]; }

 private:
  std::array<T, warp_size> values_;
};

class host_warp {
 public:
  host_warp(std::uint32_t index, const std::vector<std::uint32_t>& lanes) : index_(index), lanes_(lanes) {}
  [[nodiscard]] std::uint32_t index() const { return index_; }

  template <class LaneFunction>
  void for_each_lane(LaneFunction f) const {
    for (const std::uint32_t lane : lanes_) f(lane);
  }
  template <class LaneFunction>
  [[nodiscard]] std::uint32_t ballot(LaneFunction f) const {
    std::uint32_t bits = 0;
    for_each_lane([&](std::uint32_t lane) { bits |= (f(lane) ? std::uint32_t{1} : std::uint32_t{0}) << lane; });
    return bits;
  }
  template <class LaneFunction>
  [[nodiscard]] bool any(LaneFunction f) const {
    return ballot(f) != 0;
  }
  template <class LaneFunction>
  [[nodiscard]] auto broadcast(std::uint32_t source, LaneFunction f) const {
    return values_of(f)[source % warp_size];
  }
  template <class LaneFunction, class SourceFunction, class Consumer>
  void shuffle(LaneFunction f, SourceFunction source_of, Consumer consume) const {
    const auto values = values_of(f);
    for_each_lane([&](std::uint32_t lane) { consume(lane, values[source_of(lane) % warp_size]); });
  }
  template <class T>
  [[nodiscard]] host_per_lane<T> per_lane(T value) const {
    return host_per_lane<T>(value);
  }
  void sync() const {}  // all lanes have finished when an operation returns

 private:
  template <class LaneFunction>
  [[nodiscard]] auto values_of(LaneFunction f) const {
    std::array<decltype(f(std::uint32_t{0})), warp_size> values{};
    for_each_lane([&](std::uint32_t lane) { values[lane] = f(lane); });
    return values;
  }

  std::uint32_t index_;
  const std::vector<std::uint32_t>& lanes_;
};

/// The shape of a grid on the host, and the order of its blocks and threads.
struct host_launch {
  std::uint32_t block_count = 1;
  /// A multiple of warp_size.
  std::uint32_t thread_count = 128;
  /// Bytes of shared memory of one block. A kernel that takes more has a fault.
  std::size_t shared_bytes = 0;
  thread_order order = thread_order::forward();
};

class host_block {
 public:
  /// `order` and `log` belong to the grid and outlive the block.
  host_block(std::uint32_t index, const host_launch& launch, thread_order& order, fault_log& log)
      : index_(index), launch_(launch), order_(order), log_(log) {}

  [[nodiscard]] std::uint32_t index() const { return index_; }
  [[nodiscard]] std::uint32_t count() const { return launch_.block_count; }
  [[nodiscard]] std::uint32_t thread_count() const { return launch_.thread_count; }

  template <class T>
  [[nodiscard]] host_shared_array<T> shared(std::size_t count) {
    shared_bytes_ += shared_size<T>(count);
    if (shared_bytes_ > launch_.shared_bytes) {
      log_.add("shared memory of " + std::to_string(shared_bytes_) + " bytes, launched with " +
               std::to_string(launch_.shared_bytes));
    }
    const std::string name = "shared array " + std::to_string(regions_.size());
    return host_shared_array<T>(regions_.emplace_back(name, count, sizeof(T), log_));
  }
  template <class T>
  [[nodiscard]] host_per_thread<T> per_thread(T value) const {
    return host_per_thread<T>(thread_count(), value);
  }
  template <class T>
  [[nodiscard]] host_pipeline<T> pipeline() {
    return host_pipeline<T>(thread_count(), log_);
  }

  template <class Body>
  void for_each_thread(Body body) {
    begin_phase();
    for (const std::uint32_t index : order_.next(thread_count())) body(host_thread(index));
    end_phase();
  }
  template <class Body>
  void for_each_warp(Body body) {
    begin_phase();
    for (const std::uint32_t index : order_.next(thread_count() / warp_size)) {
      const auto lanes = order_.next(warp_size);
      body(host_warp(index, lanes));
    }
    end_phase();
  }

 private:
  void begin_phase() {
    if (in_phase_) log_.add("a phase begins inside a phase");
    in_phase_ = true;
  }
  void end_phase() {
    for (guarded_region& region : regions_) region.check_red_zones();
    in_phase_ = false;
  }

  std::uint32_t index_;
  const host_launch& launch_;
  thread_order& order_;
  fault_log& log_;
  std::deque<guarded_region> regions_;
  std::size_t shared_bytes_ = 0;
  bool in_phase_ = false;
};

/// Runs `body(block)` for every block of the grid, in the launch's order, and returns the faults of the body. Throws
/// std::bad_alloc.
template <class Body>
[[nodiscard]] std::vector<std::string> run_on_host(const host_launch& launch, Body body) {
  assert(launch.thread_count > 0 && launch.thread_count % warp_size == 0);
  thread_order order = launch.order;
  fault_log log;
  for (const std::uint32_t index : order.next(launch.block_count)) {
    host_block block(index, launch, order, log);
    body(block);
  }
  return log.faults();
}

}  // namespace cutpoint::cuda
