// The gear kernel: cuda/gear.h on a grid that fills the device and strides over the stream.
#include "cuda/gear.cuh"

#include <algorithm>

#include "cuda/device_block.cuh"
#include "cuda/runtime.cuh"

namespace cutpoint::cuda {
namespace {

constexpr gear_tuning tuning{};

__global__ void __launch_bounds__(tuning.threads_per_block)
    gear_candidates_kernel(const __grid_constant__ gear_args args) {
  device_block<tuning.threads_per_block> block;
  gear_candidates<tuning>(block, args);
}

result<int> multiprocessors_of_current_device() {
  int device = 0;
  int count = 0;
  CUTPOINT_RETURN_IF_FAILED(check(cudaGetDevice(&device), "asking for the current device"));
  CUTPOINT_RETURN_IF_FAILED(
      check(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device), "counting the multiprocessors"));
  return count;
}

}  // namespace

status find_gear_candidates_async(const gear_args& args, cudaStream_t stream) {
  if (args.byte_count == 0) return {};
  constexpr std::size_t shared_bytes = gear_shared_bytes(tuning, tuning.threads_per_block);
  const auto multiprocessors = multiprocessors_of_current_device();
  if (!multiprocessors) return multiprocessors.error();

  CUTPOINT_RETURN_IF_FAILED(
      check(cudaFuncSetAttribute(gear_candidates_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                 static_cast<int>(shared_bytes)),
            "asking for the gear kernel's shared memory"));
  int blocks_each = 0;
  CUTPOINT_RETURN_IF_FAILED(
      check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks_each, gear_candidates_kernel,
                                                          static_cast<int>(tuning.threads_per_block), shared_bytes),
            "asking how many blocks of the gear kernel fit"));

  const std::uint64_t tile_bytes = gear_tile_bytes(tuning, tuning.threads_per_block);
  const std::uint64_t tiles = (gear_lead(args.bytes) + args.byte_count + tile_bytes - 1) / tile_bytes;
  const auto resident =
      static_cast<std::uint64_t>(*multiprocessors) * static_cast<std::uint64_t>(std::max(blocks_each, 1));
  const auto grid = static_cast<std::uint32_t>(std::min(tiles, resident));
  gear_candidates_kernel<<<grid, tuning.threads_per_block, shared_bytes, stream>>>(args);
  return check(cudaGetLastError(), "launching the gear kernel");
}

}  // namespace cutpoint::cuda
