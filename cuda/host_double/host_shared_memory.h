// Shared memory and asynchronous copies of the host's block. They detect faults that a device would not report.
//
// Each array lies between two red zones and is garbage at first. Indices are checked. Writes through a raw pointer into a
// red zone are found at the end of the phase, or at once under AddressSanitizer. The destination of an asynchronous copy is
// garbage, and poisoned, until its wait; only then is the source read. Not thread-safe.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
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

}  // namespace cutpoint::cuda
