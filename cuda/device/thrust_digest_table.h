// A digest table by `device_dedup`, with the calls of the CUDA runtime around it. A test has Thrust's C++ back end do the work of
// an interpreted device by it.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <optional>
#include <utility>

#include <cutpoint/cuda_dedup.h>

#include "cuda/device/devices.h"
#include "cuda/device/digest_table.h"
#include "cuda/device/runtime.cuh"

namespace cutpoint::cuda {

/// Memory of the current device's default pool.
class pool_allocator final : public device_allocator {
 public:
  void* allocate(std::size_t byte_count, CUstream_st* stream) override {
    void* memory = nullptr;
    if (const cudaError_t error = cudaMallocAsync(&memory, byte_count, stream); error != cudaSuccess) {
      discard(error);
      return nullptr;
    }
    return memory;
  }
  void deallocate(void* memory, std::size_t, CUstream_st* stream) override { discard(cudaFreeAsync(memory, stream)); }
};

/// Memory of an allocator in the order of a stream, for Thrust's policies.
class stream_memory {
 public:
  using value_type = char;

  stream_memory(device_allocator& allocator, CUstream_st* stream) : allocator_(&allocator), stream_(stream) {}

  char* allocate(std::ptrdiff_t byte_count) {
    void* const data = allocator_->allocate(static_cast<std::size_t>(byte_count), stream_);
    if (data == nullptr) throw std::bad_alloc();
    return static_cast<char*>(data);
  }
  void deallocate(char* data, std::size_t byte_count) { allocator_->deallocate(data, byte_count, stream_); }

 private:
  device_allocator* allocator_;
  CUstream_st* stream_;
};

/// `System` says how Thrust works on the device:
///
///     System::memory                     `stream_memory`, or what makes other addresses of its own
///     System::policy(memory&, stream)    a policy of Thrust
///     System::array(T* data, count)      an array of the device, for Thrust
template <class System>
class thrust_digest_table final : public digest_table {
 public:
  [[nodiscard]] static result<std::unique_ptr<digest_table>> make(std::uint32_t digest_bytes, CUstream_st* stream,
                                                                  device_allocator* allocator, int device) {
    CUTPOINT_RETURN_IF_FAILED(check_device(device));
    std::unique_ptr<thrust_digest_table> own(new thrust_digest_table(stream, allocator, device));
    CUTPOINT_TRY(auto known, device_dedup<policy>::make(System::policy(own->memory_, stream), digest_bytes));
    own->digest_bytes_ = digest_bytes;
    own->known_.emplace(std::move(known));
    return std::unique_ptr<digest_table>(std::move(own));
  }
  ~thrust_digest_table() override {
    const auto scope = device_scope::enter(device_);
    known_.reset();
  }

  [[nodiscard]] result<std::uint32_t> insert(const std::uint8_t* digests, std::uint32_t count,
                                             std::uint32_t* new_chunks) override {
    if (count == 0) return std::uint32_t{0};
    if (digests == nullptr || new_chunks == nullptr) {
      return status(status_code::invalid_argument, digests == nullptr ? "digests is null" : "new_chunks is null");
    }
    CUTPOINT_TRY(const auto scope, device_scope::enter(device_));
    cudaStreamCaptureStatus captured{};
    CUTPOINT_RETURN_IF_FAILED(check(cudaStreamIsCapturing(stream_, &captured), "looking at a stream"));
    if (captured != cudaStreamCaptureStatusNone) {
      return status(status_code::invalid_argument,
                    "the stream is captured, and inserting digests waits for it; insert them after the capture");
    }
    // Failures of earlier work in the stream are reported as such.
    CUTPOINT_RETURN_IF_FAILED(check(cudaStreamSynchronize(stream_), "the work before inserting digests"));
    return known_->insert(System::array(digests, std::size_t{count} * digest_bytes_), count,
                          System::array(new_chunks, count));
  }

  [[nodiscard]] std::uint64_t size() const noexcept override { return known_->size(); }

 private:
  using policy = decltype(System::policy(std::declval<typename System::memory&>(), nullptr));

  thrust_digest_table(CUstream_st* stream, device_allocator* allocator, int device)
      : stream_(stream), device_(device), memory_(allocator != nullptr ? *allocator : pool_, stream) {}

  CUstream_st* stream_;
  int device_;
  std::uint32_t digest_bytes_ = 0;
  pool_allocator pool_;
  typename System::memory memory_;
  std::optional<device_dedup<policy>> known_;
};

}  // namespace cutpoint::cuda
