// The executor of a batch (cuda/batch/batch_offload.h) on the host, for tests of kernels and of device failures. Kernels run
// as loops, device memory is host memory, and a test can make any call fail. The executor of devices is
// cuda/device/device_executor.cuh.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <functional>
#include <memory>
#include <numeric>
#include <span>
#include <vector>

#include <cutpoint/status.h>

#include "cuda/host_double/host_block.h"
#include "cuda/kernel/words.h"

namespace cutpoint::cuda {

/// The calls of an executor that a test can make fail.
enum class executor_call { allocate, pin, copy_in, launch, copy_out, wait, record_event };

struct host_executor_options {
  /// Order of the threads of every phase.
  thread_order order = thread_order::forward();
  /// Blocks of a launch, and threads of a block, a multiple of 32.
  std::uint32_t block_count = 2;
  std::uint32_t thread_count = 64;
  /// Called before each call is done. If it returns an error, the call fails with that. May be empty.
  std::function<status(executor_call)> before = {};
  int numa_node = -1;                         ///< the value of `numa_node()`
  std::span<const std::uint8_t> pinned = {};  ///< memory that the host has locked
};

/// Memory of the executor for objects of a trivial type, which are garbage at first.
template <class T>
class host_executor_array {
 public:
  host_executor_array() = default;
  explicit host_executor_array(std::size_t size) : size_(size), data_(new T[size]) {
    std::memset(static_cast<void*>(data_.get()), 0xa5, size * sizeof(T));
  }
  [[nodiscard]] T* data() const { return data_.get(); }
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  std::size_t size_ = 0;
  std::unique_ptr<T[]> data_;
};

/// One thread at a time may use it.
class host_executor {
 public:
  template <class T>
  using array = host_executor_array<T>;
  /// Stands for pinned host memory.
  template <class T>
  using host_array = host_executor_array<T>;

  explicit host_executor(host_executor_options options = {}) : options_(std::move(options)) {}

  template <class T>
  [[nodiscard]] result<array<T>> allocate(std::size_t size) {
    CUTPOINT_RETURN_IF_FAILED(before(executor_call::allocate));
    allocated_bytes_ += size * sizeof(T);
    return array<T>(size);
  }
  template <class T>
  [[nodiscard]] result<host_array<T>> allocate_on_host(std::size_t size) {
    CUTPOINT_RETURN_IF_FAILED(before(executor_call::allocate));
    return array<T>(size);
  }
  /// Bytes of its memory allocated since it was made.
  [[nodiscard]] std::uint64_t allocated_bytes() const noexcept { return allocated_bytes_; }
  [[nodiscard]] bool is_pinned(const void* memory, std::size_t size) {
    const auto* const first = static_cast<const std::uint8_t*>(memory);
    const std::span<const std::uint8_t> pinned = options_.pinned;
    return first >= pinned.data() && first + size <= pinned.data() + pinned.size();
  }
  [[nodiscard]] status pin(const void*, std::size_t) { return before(executor_call::pin); }
  void unpin(const void*) {}
  /// The NUMA node nearest to it; -1 if unknown.
  [[nodiscard]] int numa_node() const noexcept { return options_.numa_node; }

  /// Clears memory that nothing uses any more.
  template <class T>
  static void erase(array<T>& memory) {
    std::fill_n(memory.data(), memory.size(), T());
    erased_bytes += memory.size() * sizeof(T);
  }
  inline static std::atomic<std::uint64_t> erased_bytes = 0;  ///< of all executors

  template <class T>
  [[nodiscard]] status copy_in(T* destination, const T* source, std::size_t count) {
    return copy(executor_call::copy_in, destination, source, count);
  }
  template <class T>
  [[nodiscard]] status copy_out(T* destination, const T* source, std::size_t count) {
    return copy(executor_call::copy_out, destination, source, count);
  }
  template <class T>
  [[nodiscard]] status clear(T* destination, std::size_t count) {
    if (count != 0) std::memset(static_cast<void*>(destination), 0, count * sizeof(T));
    return {};
  }

  /// Runs the kernel. Errors: backend_failure, if the body has a fault.
  template <class Kernel>
  [[nodiscard]] status launch(const Kernel& kernel) {
    CUTPOINT_RETURN_IF_FAILED(before(executor_call::launch));
    host_launch how{
        .block_count = options_.block_count, .thread_count = options_.thread_count, .order = options_.order};
    if constexpr (requires { kernel.shared_bytes(how.thread_count); }) {
      how.shared_bytes = kernel.shared_bytes(how.thread_count);
    }
    const auto faults = run_on_host(how, [&](auto& block) { kernel(block); });
    return faults.empty() ? status() : status(status_code::backend_failure, "a kernel went wrong: " + faults.front());
  }

  /// `sums[i]` becomes the sum of the first i counts, i = 1 to `size`. `sums[0]` is not written.
  template <class T>
  [[nodiscard]] status prefix_sum(const T* counts, T* sums, std::size_t size) {
    CUTPOINT_RETURN_IF_FAILED(before(executor_call::launch));
    CUTPOINT_RETURN_IF_FAILED(use(size * sizeof(T)));
    std::partial_sum(counts, counts + size, sums + 1);
    return {};
  }

  /// Sorts the `indices` 0, 1, … `size` - 1 into `order` by these bits of the lengths, descending, the lower index first
  /// among equals. `sorted` receives the lengths.
  [[nodiscard]] status sort_by_length(const std::uint32_t* lengths, std::uint32_t* sorted, const std::uint32_t* indices,
                                      std::uint32_t* order, std::size_t size, bit_range bits) {
    CUTPOINT_RETURN_IF_FAILED(before(executor_call::launch));
    CUTPOINT_RETURN_IF_FAILED(use(size * sizeof(std::uint32_t)));
    if (bits.first >= bits.last || bits.last > 32) return {status_code::backend_failure, "a sort by no bits"};
    std::copy_n(indices, size, order);
    const auto key = [&](std::uint32_t i) {
      return (lengths[i] & ((std::uint64_t{1} << bits.last) - 1)) >> bits.first;
    };
    std::stable_sort(order, order + size, [&](std::uint32_t a, std::uint32_t b) { return key(a) > key(b); });
    std::transform(order, order + size, sorted, [&](std::uint32_t i) { return lengths[i]; });
    return {};
  }

  /// Bytes of memory that `prefix_sum` and `sort_by_length` of up to `size` numbers, and `prefix_sum` of so many of another
  /// type, need besides their arrays.
  template <class T = std::uint32_t>
  [[nodiscard]] result<std::size_t> temporary_storage_bytes(std::size_t size) {
    return size * sizeof(T);
  }
  /// Gives `prefix_sum` and `sort_by_length` this memory, which they fill with garbage.
  void use_temporary_storage(std::span<std::uint8_t> memory) { temporary_ = memory; }

  /// Waits for all earlier calls.
  [[nodiscard]] status wait() { return before(executor_call::wait); }

  /// Makes events with the numbers 0 to `count` - 1.
  [[nodiscard]] status reserve_events(std::size_t count) {
    CUTPOINT_RETURN_IF_FAILED(before(executor_call::allocate));
    events_.resize(count);
    return {};
  }
  /// Records when all earlier calls are done.
  [[nodiscard]] status record_event(std::size_t number) {
    CUTPOINT_RETURN_IF_FAILED(before(executor_call::record_event));
    events_[number] = std::chrono::steady_clock::now();
    return {};
  }
  /// Seconds from one event to a later one. Both have been waited for.
  [[nodiscard]] result<double> seconds_between(std::size_t first, std::size_t second) {
    CUTPOINT_RETURN_IF_FAILED(before(executor_call::record_event));
    return std::chrono::duration<double>(events_[second] - events_[first]).count();
  }

 private:
  /// Spoils the temporary memory of an operation.
  [[nodiscard]] status use(std::size_t size) {
    if (temporary_.size() < size) return {status_code::backend_failure, "an operation has too little temporary memory"};
    if (size != 0) std::memset(temporary_.data(), 0xa5, size);
    return {};
  }
  [[nodiscard]] status before(executor_call call) { return options_.before ? options_.before(call) : status(); }

  template <class T>
  [[nodiscard]] status copy(executor_call call, T* destination, const T* source, std::size_t count) {
    CUTPOINT_RETURN_IF_FAILED(before(call));
    if (count != 0) std::memcpy(destination, source, count * sizeof(T));
    return {};
  }

  host_executor_options options_;
  std::uint64_t allocated_bytes_ = 0;
  std::span<std::uint8_t> temporary_;
  std::vector<std::chrono::steady_clock::time_point> events_;
};

}  // namespace cutpoint::cuda
