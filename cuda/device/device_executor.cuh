// The executor of a batch (cuda/batch/batch_offload.h) on a device: one stream, and the memory that its work needs. The host
// double is cuda/host_double/host_executor.h.
#pragma once

#include <algorithm>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "cuda/device/device_block.cuh"
#include "cuda/device/runtime.cuh"
#include "cuda/device/sum_and_sort.cuh"
#include "host/machine/machine_facts.h"

namespace cutpoint::cuda {

/// Blocks of a kernel that must fit on a multiprocessor at once: its `resident_blocks`, or 1 without that member.
template <class Kernel>
constexpr std::uint32_t resident_blocks() {
  if constexpr (requires { Kernel::resident_blocks; }) {
    return Kernel::resident_blocks;
  } else {
    return 1;
  }
}

template <class Kernel>
__global__ void __launch_bounds__(Kernel::threads_per_block, resident_blocks<Kernel>())
    run_kernel(const __grid_constant__ Kernel kernel) {
  device_block<Kernel::threads_per_block> block;
  kernel(block);
}

/// Kernels that were launched before, and how many of their blocks a device holds at once. Thread-safe.
class launched_kernels {
 public:
  /// Asks the runtime the first time.
  [[nodiscard]] result<std::uint64_t> max_resident_blocks(const void* kernel, std::uint32_t threads,
                                                          std::size_t shared_bytes, int multiprocessors) {
    const std::lock_guard lock(asking_);
    for (const launched_kernel& each : all_) {
      if (each.kernel == kernel && each.shared_bytes == shared_bytes) return each.blocks;
    }
    CUTPOINT_TRY(const auto resident, resident_blocks_of(kernel, threads, shared_bytes));
    const std::uint64_t blocks = resident * static_cast<std::uint64_t>(multiprocessors);
    all_.push_back({kernel, shared_bytes, blocks});
    return blocks;
  }

 private:
  struct launched_kernel {
    const void* kernel = nullptr;
    std::size_t shared_bytes = 0;
    std::uint64_t blocks = 0;
  };

  std::mutex asking_;
  std::vector<launched_kernel> all_;  ///< about a dozen
};

/// One thread at a time may use it, and the executor's device must be that thread's current one.
class device_executor {
 public:
  template <class T>
  using array = device_array<T>;
  template <class T>
  using host_array = pinned_array<T>;

  /// An executor of the current device, with a stream of its own.
  [[nodiscard]] static result<device_executor> make() {
    int device = 0;
    int multiprocessors = 0;
    int block_bytes = 0;
    CUTPOINT_RETURN_IF_FAILED(check(cudaGetDevice(&device), "asking for the current device"));
    CUTPOINT_RETURN_IF_FAILED(check(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device),
                                    "counting multiprocessors"));
    CUTPOINT_RETURN_IF_FAILED(
        check(cudaDeviceGetAttribute(&block_bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device),
              "asking for the shared memory of a block"));
    CUTPOINT_TRY(const auto bus_id, pci_bus_id(device));
    CUTPOINT_TRY(auto stream, device_stream::create());
    CUTPOINT_TRY(auto done, device_event::create_to_wait());
    return result<device_executor>(device_executor(std::move(stream), std::move(done), multiprocessors,
                                                   static_cast<std::size_t>(block_bytes), node_of_pci_device(bus_id)));
  }

  /// An executor of the same device that puts its work into a caller's stream, which may be captured. It neither waits nor
  /// records events. Thread-safe.
  [[nodiscard]] device_executor for_stream(cudaStream_t stream) const {
    device_executor other(std::nullopt, std::nullopt, multiprocessors_, block_bytes_, numa_node_);
    other.stream_ = stream;
    other.launched_ = launched_;
    return other;
  }

  [[nodiscard]] cudaStream_t stream() const { return stream_; }
  /// Puts later work into a stream that the caller owns, after the earlier work; until `leave_stream`.
  [[nodiscard]] status enter_stream(cudaStream_t stream) {
    CUTPOINT_RETURN_IF_FAILED(check(cudaStreamWaitEvent(stream, done_->get(), 0), "ordering two streams"));
    stream_ = stream;
    return {};
  }
  /// Puts later work into the executor's own stream again, after the earlier work. The caller's stream is not used any more.
  [[nodiscard]] status leave_stream() {
    const cudaStream_t entered = std::exchange(stream_, own_stream_->get());
    CUTPOINT_RETURN_IF_FAILED(check(cudaEventRecord(done_->get(), entered), "recording an event"));
    return check(cudaStreamWaitEvent(stream_, done_->get(), 0), "ordering two streams");
  }

  template <class T>
  [[nodiscard]] result<array<T>> allocate(std::size_t size) {
    allocated_bytes_ += size * sizeof(T);
    return device_array<T>::allocate(size);
  }
  template <class T>
  [[nodiscard]] result<host_array<T>> allocate_on_host(std::size_t size) {
    return pinned_array<T>::allocate(size);
  }
  /// Bytes of device memory allocated since it was made.
  [[nodiscard]] std::uint64_t allocated_bytes() const noexcept { return allocated_bytes_; }
  [[nodiscard]] bool is_pinned(const void* memory, std::size_t size) {
    const auto* const first = static_cast<const std::uint8_t*>(memory);
    return is_byte_pinned(first) && is_byte_pinned(first + size - 1);
  }
  /// Devices only read the memory. Without saying so, memory that is mapped for reading only would be refused.
  [[nodiscard]] status pin(const void* memory, std::size_t size) {
    int device = 0;
    int can_only_read = 0;
    CUTPOINT_RETURN_IF_FAILED(check(cudaGetDevice(&device), "asking for the current device"));
    discard(cudaDeviceGetAttribute(&can_only_read, cudaDevAttrHostRegisterReadOnlySupported, device));
    const unsigned flags = cudaHostRegisterPortable | (can_only_read != 0 ? cudaHostRegisterReadOnly : 0u);
    return check(cudaHostRegister(const_cast<void*>(memory), size, flags), "locking host memory");
  }
  void unpin(const void* memory) { discard(cudaHostUnregister(const_cast<void*>(memory))); }

  [[nodiscard]] int numa_node() const noexcept { return numa_node_; }

  template <class T>
  [[nodiscard]] status copy_in(T* destination, const T* source, std::size_t count) {
    return copy_async(destination, source, count, stream_, "copying to the device");
  }
  template <class T>
  [[nodiscard]] status copy_out(T* destination, const T* source, std::size_t count) {
    return copy_async(destination, source, count, stream_, "copying from the device");
  }
  template <class T>
  [[nodiscard]] status clear(T* destination, std::size_t count) {
    return count == 0 ? status()
                      : check(cudaMemsetAsync(destination, 0, count * sizeof(T), stream_), "clearing memory");
  }

  /// Clears memory that nothing uses any more, before it is freed.
  template <class T>
  static void erase(array<T>& memory) {
    discard(cudaMemset(memory.data(), 0, memory.size() * sizeof(T)));
    discard(cudaStreamSynchronize(nullptr));
  }

  template <class Kernel>
  [[nodiscard]] status launch(const Kernel& kernel) {
    constexpr std::uint32_t threads = Kernel::threads_per_block;
    const std::uint64_t wanted = kernel.blocks(threads);
    if (wanted == 0) return {};
    std::size_t shared_bytes = 0;
    if constexpr (requires { kernel.shared_bytes(threads); }) shared_bytes = kernel.shared_bytes(threads);
    if constexpr (requires { kernel.for_small_blocks(); }) {
      if (shared_bytes > block_bytes_) return launch(kernel.for_small_blocks());
    }
    CUTPOINT_TRY(const auto fitting, launched_->max_resident_blocks(reinterpret_cast<const void*>(&run_kernel<Kernel>),
                                                                    threads, shared_bytes, multiprocessors_));
    return launch_kernel(&run_kernel<Kernel>,
                         {static_cast<std::uint32_t>(std::min(wanted, fitting)), threads, shared_bytes}, stream_,
                         kernel);
  }

  /// For counts of the types that cuda/device/sum_and_sort.cuh sums.
  template <class T>
  [[nodiscard]] status prefix_sum(const T* counts, T* sums, std::size_t size) {
    return prefix_sum_async(counts, sums, size, temporary_.data(), temporary_.size(), stream_);
  }
  [[nodiscard]] status sort_by_length(const std::uint32_t* lengths, std::uint32_t* sorted, const std::uint32_t* indices,
                                      std::uint32_t* order, std::size_t size, bit_range bits) {
    return sort_by_length_async(lengths, sorted, indices, order, size, bits, temporary_.data(), temporary_.size(),
                                stream_);
  }
  template <class T = std::uint32_t>
  [[nodiscard]] result<std::size_t> temporary_storage_bytes(std::size_t size) {
    return cuda::temporary_storage_bytes(size, static_cast<const T*>(nullptr));
  }
  void use_temporary_storage(std::span<std::uint8_t> memory) { temporary_ = memory; }

  /// Waits for all earlier work. The thread sleeps meanwhile.
  [[nodiscard]] status wait() {
    CUTPOINT_RETURN_IF_FAILED(check(cudaEventRecord(done_->get(), stream_), "recording an event"));
    return check(cudaEventSynchronize(done_->get()), "working on a batch");
  }

  [[nodiscard]] status reserve_events(std::size_t count) {
    while (events_.size() < count) {
      CUTPOINT_TRY(auto event, device_event::create());
      events_.push_back(std::move(event));
    }
    return {};
  }
  [[nodiscard]] status record_event(std::size_t number) {
    return check(cudaEventRecord(events_[number].get(), stream_), "recording an event");
  }
  [[nodiscard]] result<double> seconds_between(std::size_t first, std::size_t second) {
    return cuda::seconds_between(events_[first], events_[second]);
  }

 private:
  [[nodiscard]] static bool is_byte_pinned(const std::uint8_t* byte) {
    cudaPointerAttributes attributes = {};
    const cudaError_t error = cudaPointerGetAttributes(&attributes, byte);
    discard(error);
    return error == cudaSuccess && attributes.type == cudaMemoryTypeHost;
  }

  device_executor(std::optional<device_stream> stream, std::optional<device_event> done, int multiprocessors,
                  std::size_t block_bytes, int numa_node)
      : own_stream_(std::move(stream)),
        stream_(own_stream_ ? own_stream_->get() : nullptr),
        done_(std::move(done)),
        multiprocessors_(multiprocessors),
        block_bytes_(block_bytes),
        numa_node_(numa_node) {}

  std::optional<device_stream> own_stream_;  ///< none if all work goes into a caller's stream
  cudaStream_t stream_;                      ///< the executor's or, from `enter_stream` to `leave_stream`, the caller's
  std::optional<device_event> done_;         ///< the last work that was waited for or put into a caller's stream
  int multiprocessors_;
  std::size_t block_bytes_;  ///< the most shared memory of a block
  int numa_node_;
  std::uint64_t allocated_bytes_ = 0;
  std::shared_ptr<launched_kernels> launched_ = std::make_shared<launched_kernels>();
  std::vector<device_event> events_;
  std::span<std::uint8_t> temporary_;  ///< of CUB
};

}  // namespace cutpoint::cuda
