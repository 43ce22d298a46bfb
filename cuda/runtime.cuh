// Owners for what the CUDA runtime hands out, and its errors as statuses. Nothing here throws or prints.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <utility>

#include <cuda_runtime_api.h>
#include <cutpoint/status.h>

/// Returns the status of an expression from the enclosing function unless it is ok.
#define CUTPOINT_RETURN_IF_FAILED(expression) \
  if (::cutpoint::status failed_status = (expression); !failed_status.ok()) return failed_status

namespace cutpoint::cuda {

/// Ok, or "CUDA: <what> failed: <reason>". Out of memory is memory_limit, a device number out of range
/// invalid_argument, missing drivers, devices and code are unavailable, all else backend_failure.
[[nodiscard]] status check(cudaError_t error, std::string_view what);

/// Makes a device the calling thread's current one, and the former one again when it goes.
class device_scope {
 public:
  [[nodiscard]] static result<device_scope> enter(int device);

  device_scope(device_scope&& other) noexcept : former_(std::exchange(other.former_, none)) {}
  device_scope& operator=(device_scope&&) = delete;
  ~device_scope() {
    if (former_ != none) static_cast<void>(cudaSetDevice(former_));
  }

 private:
  static constexpr int none = -1;
  explicit device_scope(int former) : former_(former) {}

  int former_;
};

/// A stream of the current device. Its end waits for the work in it, so that no copy outlives the caller's memory.
class device_stream {
 public:
  [[nodiscard]] static result<device_stream> create();

  device_stream(device_stream&& other) noexcept : stream_(std::exchange(other.stream_, nullptr)) {}
  device_stream& operator=(device_stream&&) = delete;
  ~device_stream() {
    if (stream_ == nullptr) return;
    static_cast<void>(cudaStreamSynchronize(stream_));
    static_cast<void>(cudaStreamDestroy(stream_));
  }

  [[nodiscard]] cudaStream_t get() const { return stream_; }

 private:
  explicit device_stream(cudaStream_t stream) : stream_(stream) {}

  cudaStream_t stream_;
};

/// Untyped device memory of a stream: allocated and freed in its order, so it must go before the stream does.
class device_memory {
 public:
  /// `byte_count` may be 0. Fails with memory_limit where the device has no more.
  [[nodiscard]] static result<device_memory> allocate(std::size_t byte_count, cudaStream_t stream);

  device_memory(device_memory&& other) noexcept : data_(std::exchange(other.data_, nullptr)), stream_(other.stream_) {}
  device_memory& operator=(device_memory&&) = delete;
  ~device_memory() {
    if (data_ != nullptr) static_cast<void>(cudaFreeAsync(data_, stream_));
  }

  [[nodiscard]] void* data() const { return data_; }

 private:
  device_memory(void* data, cudaStream_t stream) : data_(data), stream_(stream) {}

  void* data_;
  cudaStream_t stream_;
};

/// `size()` uninitialised objects of a trivial type in device memory.
template <class T>
class device_array {
 public:
  [[nodiscard]] static result<device_array> allocate(std::size_t size, cudaStream_t stream) {
    auto memory = device_memory::allocate(size * sizeof(T), stream);
    if (!memory) return memory.error();
    return device_array(std::move(*memory), size);
  }

  [[nodiscard]] T* data() const { return static_cast<T*>(memory_.data()); }
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  device_array(device_memory memory, std::size_t size) : memory_(std::move(memory)), size_(size) {}

  device_memory memory_;
  std::size_t size_;
};

/// Copies to or from the device in the stream's order; the host's side stays valid until the stream has got there.
template <class T>
[[nodiscard]] status copy_async(T* to, const T* from, std::size_t count, cudaStream_t stream, std::string_view what) {
  if (count == 0) return {};
  return check(cudaMemcpyAsync(to, from, count * sizeof(T), cudaMemcpyDefault, stream), what);
}

}  // namespace cutpoint::cuda
