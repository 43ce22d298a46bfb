// The block of kernel bodies on a device. The contract is in cuda/kernel/block.h. All functions inline to the CUDA
// operations that they name.
#pragma once

#include <cuda_pipeline.h>

#include "cuda/kernel/block.h"

namespace cutpoint::cuda {

class device_thread {
 public:
  [[nodiscard]] CUTPOINT_DEVICE std::uint32_t index() const { return threadIdx.x; }
  [[nodiscard]] CUTPOINT_DEVICE std::uint32_t lane() const { return threadIdx.x % warp_size; }
};

template <class T>
class device_shared_array {
 public:
  CUTPOINT_DEVICE device_shared_array(T* data, std::size_t size) : data_(data), size_(size) {}

  [[nodiscard]] CUTPOINT_DEVICE T& operator[](std::size_t index) const { return data_[index]; }
  [[nodiscard]] CUTPOINT_DEVICE T& at_offset(std::uint32_t bytes) const {
    return *reinterpret_cast<T*>(reinterpret_cast<char*>(data_) + bytes);
  }
  [[nodiscard]] CUTPOINT_DEVICE T* data() const { return data_; }
  [[nodiscard]] CUTPOINT_DEVICE std::size_t size() const { return size_; }

 private:
  T* data_;
  std::size_t size_;
};

template <class T>
class device_per_thread {
 public:
  CUTPOINT_DEVICE explicit device_per_thread(T value) : value_(value) {}

  [[nodiscard]] CUTPOINT_DEVICE T& operator[](device_thread) { return value_; }

 private:
  T value_;
};

template <class T>
class device_pipeline {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 16, "the sizes that the hardware copies");

 public:
  CUTPOINT_DEVICE void copy(device_thread, const device_shared_array<T>& array, std::size_t index, const void* source) {
    __pipeline_memcpy_async(&array[index], source, sizeof(T));
  }
  CUTPOINT_DEVICE void commit(device_thread) { __pipeline_commit(); }
  template <std::uint32_t Newest>
  CUTPOINT_DEVICE void wait(device_thread) {
    __pipeline_wait_prior(Newest);
  }
};

template <class T>
class device_per_lane {
 public:
  CUTPOINT_DEVICE explicit device_per_lane(T value) : value_(value) {}

  [[nodiscard]] CUTPOINT_DEVICE T& operator[](std::uint32_t) { return value_; }

 private:
  T value_;
};

class device_warp {
 public:
  [[nodiscard]] CUTPOINT_DEVICE std::uint32_t index() const { return threadIdx.x / warp_size; }

  template <class LaneFunction>
  CUTPOINT_DEVICE void for_each_lane(LaneFunction f) const {
    f(lane());
  }
  template <class LaneFunction>
  [[nodiscard]] CUTPOINT_DEVICE std::uint32_t ballot(LaneFunction f) const {
    return __ballot_sync(all_lanes, f(lane()));
  }
  template <class LaneFunction>
  [[nodiscard]] CUTPOINT_DEVICE bool any(LaneFunction f) const {
    return __any_sync(all_lanes, f(lane())) != 0;
  }
  template <class LaneFunction>
  [[nodiscard]] CUTPOINT_DEVICE auto broadcast(std::uint32_t source, LaneFunction f) const {
    return __shfl_sync(all_lanes, f(lane()), static_cast<int>(source));
  }
  template <class LaneFunction, class SourceFunction, class Consumer>
  CUTPOINT_DEVICE void shuffle(LaneFunction f, SourceFunction source_of, Consumer consume) const {
    consume(lane(), __shfl_sync(all_lanes, f(lane()), static_cast<int>(source_of(lane()))));
  }
  template <class T>
  [[nodiscard]] CUTPOINT_DEVICE device_per_lane<T> per_lane(T value) const {
    return device_per_lane<T>(value);
  }
  CUTPOINT_DEVICE void sync() const { __syncwarp(all_lanes); }

 private:
  static constexpr std::uint32_t all_lanes = 0xffffffff;

  [[nodiscard]] CUTPOINT_DEVICE static std::uint32_t lane() { return threadIdx.x % warp_size; }
};

/// A block of `ThreadCount` threads in one dimension, launched with the kernel's shared bytes as dynamic shared memory.
template <std::uint32_t ThreadCount>
class device_block {
  static_assert(ThreadCount > 0 && ThreadCount % warp_size == 0 && ThreadCount <= 1024);

 public:
  [[nodiscard]] CUTPOINT_DEVICE std::uint32_t index() const { return blockIdx.x; }
  [[nodiscard]] CUTPOINT_DEVICE std::uint32_t count() const { return gridDim.x; }
  [[nodiscard]] CUTPOINT_DEVICE static constexpr std::uint32_t thread_count() { return ThreadCount; }

  template <class T>
  [[nodiscard]] CUTPOINT_DEVICE device_shared_array<T> shared(std::size_t count) {
    extern __shared__ uint4 cutpoint_shared_memory[];
    auto* const data = reinterpret_cast<T*>(reinterpret_cast<char*>(cutpoint_shared_memory) + shared_bytes_);
    shared_bytes_ += shared_size<T>(count);
    return {data, count};
  }
  template <class T>
  [[nodiscard]] CUTPOINT_DEVICE device_per_thread<T> per_thread(T value) {
    return device_per_thread<T>(value);
  }
  template <class T>
  [[nodiscard]] CUTPOINT_DEVICE device_pipeline<T> pipeline() {
    return {};
  }

  template <class Body>
  CUTPOINT_DEVICE void for_each_thread(Body body) {
    body(device_thread{});
    __syncthreads();
  }
  template <class Body>
  CUTPOINT_DEVICE void for_each_warp(Body body) {
    body(device_warp{});
    __syncthreads();
  }

 private:
  std::size_t shared_bytes_ = 0;
};

}  // namespace cutpoint::cuda
