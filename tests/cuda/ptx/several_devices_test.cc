// Tests batches on two interpreted devices at once, by one thread and by several. The devices' memory, streams and limits of kernels
// are apart, and a call that has the wrong one current is a fault.
#include <optional>
#include <thread>

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include "tests/cuda/ptx/device.h"
#include "tests/cuda/support/buffer_runner.h"
#include "tests/cuda/support/executor_cases.h"
#include "tests/cuda/support/first_device.h"
#include "tests/cuda/support/packed_streams.h"
#include "tests/pipeline/support/device_feed.h"

namespace cutpoint::cuda {
namespace {

using ptx::device;

/// A device's memory, in which a batch has its arrays, and a stream there. The device is current while it is made and destroyed.
class place_on {
 public:
  place_on(int number, const device_batch_chunker& batches, const host_buffers& buffers) : number_(number) {
    const current_device_until_end here(number);
    EXPECT_EQ(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), cudaSuccess);
    bounds_ = buffers.bounds();
    const std::uint64_t most = batches.max_chunks(bounds_).value();
    std::vector<std::uint64_t> addresses;
    std::vector<std::uint64_t> sizes;
    for (const auto& each : buffers.bytes) {
      auto* const bytes = static_cast<std::uint8_t*>(allocate(each.size() + 32));
      EXPECT_EQ(cudaMemcpy(bytes, each.data(), each.size(), cudaMemcpyDefault), cudaSuccess);
      addresses.push_back(reinterpret_cast<std::uint64_t>(bytes));
      sizes.push_back(each.size());
    }
    input_ = {.buffers = static_cast<const std::uint8_t* const*>(copied(addresses)),
              .byte_counts = static_cast<const std::uint64_t*>(copied(sizes))};
    output_ = {.first_chunks = static_cast<std::uint32_t*>(allocate(4 * (bounds_.max_buffers + 1))),
               .offsets = static_cast<std::uint64_t*>(allocate(8 * most)),
               .lengths = static_cast<std::uint32_t*>(allocate(4 * most)),
               .digests = static_cast<std::uint8_t*>(allocate(most * batches.digest_bytes())),
               .problem = static_cast<std::uint32_t*>(allocate(4))};
    digest_bytes_ = batches.digest_bytes();
    workspace_bytes_ = batches.workspace_bytes(bounds_).value();
    workspace_ = allocate(workspace_bytes_);
  }
  place_on(const place_on&) = delete;
  place_on& operator=(const place_on&) = delete;
  ~place_on() {
    const current_device_until_end here(number_);
    EXPECT_EQ(cudaStreamSynchronize(stream_), cudaSuccess);
    for (void* each : allocations_) EXPECT_EQ(cudaFree(each), cudaSuccess);
    EXPECT_EQ(cudaStreamDestroy(stream_), cudaSuccess);
  }

  [[nodiscard]] status enqueue(const device_batch_chunker& batches) const {
    return batches.enqueue(bounds_, input_, output_, workspace_, workspace_bytes_, stream_);
  }

  /// Waits for the batch, and expects the chunks and digests that the references make.
  void expect_chunks(const host_buffers& buffers, const chunker& cuts, const fingerprint_recipe& recipe) {
    ASSERT_EQ(cudaStreamSynchronize(stream_), cudaSuccess);
    auto fingerprint = fingerprinter::make(recipe).value();
    const auto first_chunks = read<std::uint32_t>(output_.first_chunks, buffers.bytes.size() + 1);
    const auto lengths = read<std::uint32_t>(output_.lengths, first_chunks.back());
    const auto digests = read<std::uint8_t>(output_.digests, first_chunks.back() * digest_bytes_);
    std::size_t at = 0;
    for (std::size_t i = 0; i < buffers.bytes.size(); ++i) {
      ASSERT_EQ(first_chunks[i], at);
      for (const chunk& each : cuts.find_cuts(buffers.bytes[i])) {
        ASSERT_LT(at, lengths.size());
        ASSERT_EQ(lengths[at], each.length) << "buffer " << i;
        const auto expected = fingerprint(byte_span(buffers.bytes[i]).subspan(each.offset, each.length)).value().view();
        ASSERT_TRUE(std::equal(expected.begin(), expected.end(),
                               digests.begin() + static_cast<std::ptrdiff_t>(at * expected.size())));
        ++at;
      }
    }
    ASSERT_EQ(at, lengths.size());
  }

 private:
  /// Makes a device the thread's current one, and the former again.
  class current_device_until_end {
   public:
    explicit current_device_until_end(int number) {
      EXPECT_EQ(cudaGetDevice(&former_), cudaSuccess);
      EXPECT_EQ(cudaSetDevice(number), cudaSuccess);
    }
    current_device_until_end(const current_device_until_end&) = delete;
    current_device_until_end& operator=(const current_device_until_end&) = delete;
    ~current_device_until_end() { EXPECT_EQ(cudaSetDevice(former_), cudaSuccess); }

   private:
    int former_ = 0;
  };

  void* allocate(std::size_t size) {
    allocations_.push_back(nullptr);
    EXPECT_EQ(cudaMalloc(&allocations_.back(), size), cudaSuccess);
    return allocations_.back();
  }
  void* copied(const std::vector<std::uint64_t>& numbers) {
    void* const there = allocate(8 * numbers.size());
    EXPECT_EQ(cudaMemcpy(there, numbers.data(), 8 * numbers.size(), cudaMemcpyDefault), cudaSuccess);
    return there;
  }
  template <class T>
  static std::vector<T> read(const T* source, std::size_t count) {
    std::vector<T> values(count);
    EXPECT_EQ(cudaMemcpy(values.data(), source, count * sizeof(T), cudaMemcpyDefault), cudaSuccess);
    return values;
  }

  int number_;
  std::uint32_t digest_bytes_ = 0;
  cudaStream_t stream_ = nullptr;
  device_batch_bounds bounds_;
  std::vector<void*> allocations_;
  device_batch input_;
  device_batch_chunks output_;
  void* workspace_ = nullptr;
  std::uint64_t workspace_bytes_ = 0;
};

host_buffers some_buffers(std::size_t seed) {
  host_buffers all;
  for (const std::size_t size : {5'000u, 0u, 17u, 900u}) all.add(random_bytes(size + seed, size + seed));
  return all;
}

TEST(several_devices, cut_in_turns_whichever_is_current) {
  // The scans of rabin and crc32 ask for more shared memory than a kernel may have without, on each device anew.
  for (const char* name : {"gear", "rabin", "crc32", "seqcdc-inc", "fastcdc"}) {
    const auto entry = find_entry(name);
    ASSERT_TRUE(entry.ok()) << name;
    const chunker cuts = small_chunker(**entry);
    std::vector<device_batch_chunker> batches;
    for (const int number : {0, 1})
      batches.push_back(device_batch_chunker::make(cuts, fingerprint_kind::sha256, number).value());
    const host_buffers buffers[] = {some_buffers(1), some_buffers(2)};
    place_on first(0, batches[0], buffers[0]);
    place_on second(1, batches[1], buffers[1]);
    for (int round = 0; round < 2; ++round) {
      for (const auto& [there, number] : {std::pair(&first, 0), std::pair(&second, 1)}) {
        const status enqueued = there->enqueue(batches[static_cast<std::size_t>(number)]);
        ASSERT_TRUE(enqueued.ok()) << name << ": " << enqueued.message();
      }
      ASSERT_NO_FATAL_FAILURE(first.expect_chunks(buffers[0], cuts, fingerprint_kind::sha256)) << name;
      ASSERT_NO_FATAL_FAILURE(second.expect_chunks(buffers[1], cuts, fingerprint_kind::sha256)) << name;
    }
  }
}

TEST(several_devices, are_used_by_threads_that_share_chunkers) {
  const chunker cuts = small_gear();
  std::vector<device_batch_chunker> batches;
  for (const int number : {0, 1})
    batches.push_back(device_batch_chunker::make(cuts, fingerprint_kind::blake3, number).value());
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < 6; ++t) {
    threads.emplace_back([&, t] {
      const device_batch_chunker& chosen = batches[t % 2];
      for (std::size_t round = 0; round < 3; ++round) {
        const host_buffers buffers = some_buffers(10 * t + round);
        place_on there(static_cast<int>(t % 2), chosen, buffers);
        const status enqueued = there.enqueue(chosen);
        EXPECT_TRUE(enqueued.ok()) << enqueued.message();
        there.expect_chunks(buffers, cuts, fingerprint_kind::blake3);
      }
    });
  }
  for (std::thread& each : threads) each.join();
}

TEST(several_devices, refuse_the_stream_of_another) {
  {
    const auto batches = device_batch_chunker::make(small_gear(), fingerprint_kind::none, 1);
    ASSERT_TRUE(batches.ok()) << batches.error().message();
    const place_on there(0, *batches, some_buffers(1));
    EXPECT_EQ(there.enqueue(*batches).code(), status_code::backend_failure);
  }
  const auto faults = device::instance().end_of_test();
  ASSERT_FALSE(faults.empty());
  EXPECT_EQ(faults.front(), "work is put into a stream of another device");
}

TEST(several_devices, share_the_work_of_a_feed) {
  feed_options options = tests::small_job();
  options.devices = {0, 1};
  const std::vector<std::vector<std::uint8_t>> streams = {tests::mixed_stream(300'000, 1),
                                                          tests::mixed_stream(3'000, 2)};
  const tests::device_run run = tests::run_on(std::make_shared<const device_provider>(), options, streams);
  tests::expect_sequential(run, options, streams);
  EXPECT_EQ(run.statistics.device_warning, "");
  EXPECT_GT(run.statistics.device_bytes, 100'000u);
}

}  // namespace
}  // namespace cutpoint::cuda
