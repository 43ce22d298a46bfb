// An allocator of device memory that counts what it has given, and may have no more.
#pragma once

#include <cstdint>

#include <gtest/gtest.h>

#ifndef THRUST_DEVICE_SYSTEM
#include <cuda_runtime_api.h>
#include <cutpoint/cuda.h>
#endif

namespace cutpoint::cuda {

/// What an allocator has given, and how often it will give memory yet.
struct memory_count {
  std::int64_t allocations_left = -1;  ///< less than 0: any number
  std::int64_t live_bytes = 0;

  bool add(std::int64_t byte_count) {
    if (allocations_left-- == 0) return false;
    live_bytes += byte_count;
    return true;
  }
};

#ifndef THRUST_DEVICE_SYSTEM

inline void expect_ok(cudaError_t outcome) { EXPECT_EQ(outcome, cudaSuccess) << cudaGetErrorString(outcome); }

class counting_allocator final : public device_allocator {
 public:
  explicit counting_allocator(memory_count& count) : count_(count) {}

  void* allocate(std::size_t byte_count, CUstream_st*) override {
    if (!count_.add(static_cast<std::int64_t>(byte_count))) return nullptr;
    void* memory = nullptr;
    expect_ok(cudaMalloc(&memory, byte_count));
    return memory;
  }
  void deallocate(void* memory, std::size_t byte_count, CUstream_st* stream) override {
    count_.live_bytes -= static_cast<std::int64_t>(byte_count);
    expect_ok(cudaStreamSynchronize(stream));
    expect_ok(cudaFree(memory));
  }

 private:
  memory_count& count_;
};

#endif

}  // namespace cutpoint::cuda
