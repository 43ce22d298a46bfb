#include "bench/device/random_words.cuh"

#include <algorithm>

#include "cuda/device/runtime.cuh"
#include "host/core/splitmix.h"

namespace cutpoint::bench {
namespace {

constexpr std::uint32_t threads = 256;
constexpr std::uint32_t most_blocks = 4096;

__device__ std::uint64_t random_word(std::uint64_t i) { return splitmix64::mixed((i + 1) * splitmix64::step); }

/// Calls f with each index below `count` that is this thread's.
template <class Function>
__device__ void for_each_index(std::uint64_t count, Function f) {
  const std::uint64_t stride = std::uint64_t{gridDim.x} * threads;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * threads + threadIdx.x; i < count; i += stride) f(i);
}

__global__ void write_words_kernel(std::uint64_t* words, std::uint64_t count) {
  for_each_index(count, [&](std::uint64_t i) { words[i] = random_word(i); });
}

__global__ void compare_words_kernel(const std::uint64_t* words, std::uint64_t count, std::uint32_t* has_other_words) {
  for_each_index(count, [&](std::uint64_t i) {
    if (words[i] != random_word(i)) *has_other_words = 1;
  });
}

cuda::launch_shape shape_for(std::uint64_t count) {
  const std::uint64_t blocks = std::clamp<std::uint64_t>((count + threads - 1) / threads, 1, most_blocks);
  return {.blocks = static_cast<std::uint32_t>(blocks), .threads = threads};
}

}  // namespace

status make_random_words(std::uint64_t* words, std::uint64_t count) {
  CUTPOINT_RETURN_IF_FAILED(cuda::launch_kernel(write_words_kernel, shape_for(count), nullptr, words, count));
  return cuda::check(cudaStreamSynchronize(nullptr), "making random bytes");
}

result<bool> are_random_words(const std::uint64_t* words, std::uint64_t count) {
  auto memory = cuda::device_array<std::uint32_t>::allocate(1);
  if (!memory) return memory.error();
  CUTPOINT_RETURN_IF_FAILED(
      cuda::check(cudaMemset(memory->data(), 0, memory->size() * sizeof(std::uint32_t)), "checking random bytes"));
  CUTPOINT_RETURN_IF_FAILED(
      cuda::launch_kernel(compare_words_kernel, shape_for(count), nullptr, words, count, memory->data()));
  std::uint32_t has_other_words = 0;
  CUTPOINT_RETURN_IF_FAILED(
      cuda::check(cudaMemcpy(&has_other_words, memory->data(), sizeof has_other_words, cudaMemcpyDeviceToHost),
                  "checking random bytes"));
  return has_other_words == 0;
}

}  // namespace cutpoint::bench
