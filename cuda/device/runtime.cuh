// Owners of the CUDA runtime's objects, and its errors as statuses. No function throws or prints.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <cuda_runtime_api.h>
#include <cutpoint/status.h>

namespace cutpoint::cuda {

/// Ok, or "CUDA: <what> failed: <reason>". The code is memory_limit for too little memory, invalid_argument for a device
/// number out of range, unavailable for missing drivers, devices and code, else backend_failure.
[[nodiscard]] status check(cudaError_t error, std::string_view what);

/// Drops the outcome of a call that a destructor makes. The runtime would report a failure to the next caller otherwise.
inline void discard(cudaError_t error) {
  if (error != cudaSuccess) static_cast<void>(cudaGetLastError());
}

/// Makes a device the calling thread's current one. The destructor restores the former context, or none if there was none:
/// cudaSetDevice would create one.
class device_scope {
 public:
  [[nodiscard]] static result<device_scope> enter(int device);

  device_scope(device_scope&& other) noexcept : is_entered_(std::exchange(other.is_entered_, false)) {}
  device_scope& operator=(device_scope&&) = delete;
  ~device_scope();

 private:
  device_scope() = default;

  bool is_entered_ = true;
};

/// Returns the PCI bus id of a device in lower case, such as "0000:17:00.0".
[[nodiscard]] result<std::string> pci_bus_id(int device);

/// Returns how many blocks of a kernel, each with these threads and bytes of dynamic shared memory, fit on a multiprocessor
/// of the current device at once, at least 1. It raises the kernel's limit of dynamic shared memory if necessary.
/// Thread-safe.
[[nodiscard]] result<std::uint64_t> resident_blocks_of(const void* kernel, std::uint32_t threads,
                                                       std::size_t shared_bytes);

/// An event in a stream of the current device.
class device_event {
 public:
  [[nodiscard]] static result<device_event> create();
  /// An event without a time. A thread that waits for it sleeps.
  [[nodiscard]] static result<device_event> create_to_wait();

  device_event(device_event&& other) noexcept : event_(std::exchange(other.event_, nullptr)) {}
  device_event& operator=(device_event&&) = delete;
  ~device_event() {
    if (event_ != nullptr) discard(cudaEventDestroy(event_));
  }

  [[nodiscard]] cudaEvent_t get() const { return event_; }

 private:
  explicit device_event(cudaEvent_t event) : event_(event) {}

  cudaEvent_t event_;
};

/// Seconds from one event to another. The stream has reached both.
[[nodiscard]] result<double> seconds_between(const device_event& first, const device_event& second);

/// A stream of the current device. The destructor waits for its work, so that no copy outlives the caller's memory.
class device_stream {
 public:
  [[nodiscard]] static result<device_stream> create();

  device_stream(device_stream&& other) noexcept : stream_(std::exchange(other.stream_, nullptr)) {}
  device_stream& operator=(device_stream&&) = delete;
  ~device_stream() {
    if (stream_ == nullptr) return;
    discard(cudaStreamSynchronize(stream_));
    discard(cudaStreamDestroy(stream_));
  }

  [[nodiscard]] cudaStream_t get() const { return stream_; }

 private:
  explicit device_stream(cudaStream_t stream) : stream_(stream) {}

  cudaStream_t stream_;
};

enum class memory_place {
  device,
  pinned,  ///< locked, on the host, so that copies are fast and asynchronous
};

/// Untyped memory on the current device, or pinned memory for it.
template <memory_place Place>
class cuda_memory {
 public:
  /// `byte_count` may be 0. Errors: memory_limit.
  [[nodiscard]] static result<cuda_memory> allocate(std::size_t byte_count);

  cuda_memory() = default;
  cuda_memory(cuda_memory&& other) noexcept : data_(std::exchange(other.data_, nullptr)) {}
  cuda_memory& operator=(cuda_memory&& other) noexcept {
    std::swap(data_, other.data_);
    return *this;
  }
  ~cuda_memory();

  [[nodiscard]] void* data() const { return data_; }

 private:
  explicit cuda_memory(void* data) : data_(data) {}

  void* data_ = nullptr;
};

/// An array of uninitialised objects of a trivial type.
template <class T, memory_place Place>
class cuda_array {
 public:
  [[nodiscard]] static result<cuda_array> allocate(std::size_t size) {
    CUTPOINT_TRY(auto memory, cuda_memory<Place>::allocate(size * sizeof(T)));
    return cuda_array(std::move(memory), size);
  }

  cuda_array() = default;
  [[nodiscard]] T* data() const { return static_cast<T*>(memory_.data()); }
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  cuda_array(cuda_memory<Place> memory, std::size_t size) : memory_(std::move(memory)), size_(size) {}

  cuda_memory<Place> memory_;
  std::size_t size_ = 0;
};
template <class T>
using device_array = cuda_array<T, memory_place::device>;
template <class T>
using pinned_array = cuda_array<T, memory_place::pinned>;

struct launch_shape {
  std::uint32_t blocks = 1;
  std::uint32_t threads = 1;  ///< of each block
  std::size_t shared_bytes = 0;
};

/// Launches a kernel. Unlike cudaGetLastError after a launch, it never returns an error that an earlier call left behind.
template <class... Parameters>
[[nodiscard]] status launch_kernel(void (*kernel)(Parameters...), const launch_shape& shape, cudaStream_t stream,
                                   std::type_identity_t<Parameters>... arguments) {
  void* addresses[] = {&arguments...};
  return check(cudaLaunchKernel(reinterpret_cast<const void*>(kernel), dim3(shape.blocks), dim3(shape.threads),
                                addresses, shape.shared_bytes, stream),
               "launching a kernel");
}

/// Copies to or from the device in the stream's order. Host memory must stay valid until the stream has done the copy.
template <class T>
[[nodiscard]] status copy_async(T* destination, const T* source, std::size_t count, cudaStream_t stream,
                                std::string_view what) {
  if (count == 0) return {};
  return check(cudaMemcpyAsync(destination, source, count * sizeof(T), cudaMemcpyDefault, stream), what);
}

}  // namespace cutpoint::cuda
