// The table that device_dedup_test.cc tests: `device_dedup` over Thrust's C++ back end, or the library's `device_digest_table`.
#pragma once

#include <cstdint>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include <cutpoint/status.h>
#include <gtest/gtest.h>

#ifdef THRUST_DEVICE_SYSTEM
#include <cutpoint/cuda_dedup.h>
#else
#include <cuda_runtime_api.h>
#include <cutpoint/cuda.h>

#include "tests/cuda/support/first_device.h"
#endif

namespace cutpoint::cuda {

using raw_digest = std::string;
using batch = std::vector<raw_digest>;
using positions = std::vector<std::uint32_t>;

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

/// The digests one after the other, `lead` bytes after an aligned address.
inline std::vector<std::uint8_t> packed(const batch& digests, std::size_t lead) {
  std::vector<std::uint8_t> bytes(lead, 0xa5);
  for (const raw_digest& each : digests) bytes.insert(bytes.end(), each.begin(), each.end());
  return bytes;
}

#ifdef THRUST_DEVICE_SYSTEM

using device_dedup_test = testing::Test;

struct counting_allocator {
  using value_type = char;

  char* allocate(std::ptrdiff_t size) {
    if (!count->add(size)) throw std::bad_alloc();
    return static_cast<char*>(::operator new(static_cast<std::size_t>(size)));
  }
  void deallocate(char* data, std::size_t size) {
    count->live_bytes -= static_cast<std::ptrdiff_t>(size);
    ::operator delete(data);
  }

  memory_count* count;
};

class tested_table {
 public:
  static result<tested_table> make(memory_count& memory, std::uint32_t digest_bytes) {
    auto allocator = std::make_unique<counting_allocator>(counting_allocator{&memory});
    auto table = device_dedup<policy>::make(thrust::device(*allocator), digest_bytes);
    if (!table) return table.error();
    return tested_table(std::move(allocator), *std::move(table));
  }
  result<positions> insert(const batch& digests, std::size_t lead = 0) {
    const std::vector<std::uint8_t> bytes = packed(digests, lead);
    positions new_chunks(digests.size(), 0xa5a5a5a5);
    const auto count =
        table_.insert(bytes.data() + lead, static_cast<std::uint32_t>(digests.size()), new_chunks.data());
    if (!count) return count.error();
    new_chunks.resize(*count);
    return new_chunks;
  }
  std::uint64_t size() const { return table_.size(); }

 private:
  using policy = decltype(thrust::device(std::declval<counting_allocator&>()));

  tested_table(std::unique_ptr<counting_allocator> allocator, device_dedup<policy> table)
      : allocator_(std::move(allocator)), table_(std::move(table)) {}

  std::unique_ptr<counting_allocator> allocator_;
  device_dedup<policy> table_;
};

#else

using device_dedup_test = on_first_device;

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

/// Memory of the device, until the end of a scope.
class device_bytes {
 public:
  explicit device_bytes(std::size_t byte_count) { expect_ok(cudaMalloc(&data_, byte_count)); }
  device_bytes(const device_bytes&) = delete;
  device_bytes& operator=(const device_bytes&) = delete;
  ~device_bytes() { expect_ok(cudaFree(data_)); }
  [[nodiscard]] std::uint8_t* data() const { return static_cast<std::uint8_t*>(data_); }

 private:
  void* data_ = nullptr;
};

class tested_table {
 public:
  static result<tested_table> make(memory_count& memory, std::uint32_t digest_bytes) {
    auto allocator = std::make_unique<counting_allocator>(memory);
    auto table = device_digest_table::make(digest_bytes, nullptr, allocator.get());
    if (!table) return table.error();
    return tested_table(std::move(allocator), *std::move(table));
  }
  result<positions> insert(const batch& digests, std::size_t lead = 0) {
    const std::vector<std::uint8_t> bytes = packed(digests, lead);
    const device_bytes input(bytes.size());
    const device_bytes output(digests.size() * sizeof(std::uint32_t));
    // The copy is not waited for: the table has to wait.
    expect_ok(cudaMemcpyAsync(input.data(), bytes.data(), bytes.size(), cudaMemcpyDefault, nullptr));
    const auto count = table_.insert(input.data() + lead, static_cast<std::uint32_t>(digests.size()),
                                     reinterpret_cast<std::uint32_t*>(output.data()));
    expect_ok(cudaStreamSynchronize(nullptr));  // of an empty batch nobody waits
    if (!count) return count.error();
    positions new_chunks(*count);
    expect_ok(cudaMemcpy(new_chunks.data(), output.data(), *count * sizeof(std::uint32_t), cudaMemcpyDefault));
    return new_chunks;
  }
  std::uint64_t size() const { return table_.size(); }

 private:
  tested_table(std::unique_ptr<counting_allocator> allocator, device_digest_table table)
      : allocator_(std::move(allocator)), table_(std::move(table)) {}

  std::unique_ptr<counting_allocator> allocator_;
  device_digest_table table_;
};

#endif

}  // namespace cutpoint::cuda
