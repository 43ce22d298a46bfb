// The block of kernel bodies on the host, for tests. Phases are loops over threads in a chosen order, shared memory has red
// zones (cuda/host_double/host_shared_memory.h), and faults of a kernel body are reported. The contract is in
// cuda/kernel/block.h.
#pragma once

#include <algorithm>
#include <array>
#include <cassert>
#include <cstdint>
#include <deque>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "cuda/host_double/host_shared_memory.h"
#include "cuda/kernel/block.h"

namespace cutpoint::cuda {

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
