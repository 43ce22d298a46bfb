// Compaction with CUB: count the bits, then select the positions whose bit is set.
#include "cuda/compact.cuh"

#include <cub/device/device_reduce.cuh>
#include <cub/device/device_select.cuh>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/iterator/transform_output_iterator.h>

namespace cutpoint::cuda {
namespace {

struct bit_count {
  __host__ __device__ std::uint64_t operator()(std::uint64_t word) const {
    std::uint64_t count = 0;
    for (; word != 0; word &= word - 1) ++count;  // candidates are rare
    return count;
  }
};

struct bit_is_set {
  const std::uint64_t* words;
  __host__ __device__ bool operator()(std::uint64_t i) const { return (words[i / 64] >> (i % 64) & 1) != 0; }
};

struct plus_base {
  std::uint64_t base;
  __host__ __device__ std::uint64_t operator()(std::uint64_t i) const { return base + i; }
};

/// CUB's way: `step(nullptr, size)` says how much temporary memory it needs, the second call does the work.
template <class Step>
status run(Step step, cudaStream_t stream, std::string_view what) {
  std::size_t temporary_bytes = 0;
  CUTPOINT_RETURN_IF_FAILED(check(step(nullptr, temporary_bytes), what));
  const auto temporary = device_memory::allocate(temporary_bytes, stream);
  if (!temporary) return temporary.error();
  return check(step(temporary->data(), temporary_bytes), what);
}

}  // namespace

result<device_array<std::uint64_t>> set_bit_positions(std::span<const std::uint64_t> words, std::uint64_t base,
                                                      cudaStream_t stream) {
  auto device_count = device_array<std::uint64_t>::allocate(1, stream);
  if (!device_count) return device_count.error();
  const auto counts = thrust::make_transform_iterator(words.data(), bit_count{});
  const auto reduce = [&](void* temporary, std::size_t& size) {
    return cub::DeviceReduce::Sum(temporary, size, counts, device_count->data(), words.size(), stream);
  };
  CUTPOINT_RETURN_IF_FAILED(run(reduce, stream, "counting candidates"));
  std::uint64_t count = 0;
  CUTPOINT_RETURN_IF_FAILED(copy_async(&count, device_count->data(), 1, stream, "copying the number of candidates"));
  CUTPOINT_RETURN_IF_FAILED(check(cudaStreamSynchronize(stream), "counting candidates"));

  auto positions = device_array<std::uint64_t>::allocate(count, stream);
  if (!positions || count == 0) return positions;
  const auto bits = thrust::make_counting_iterator(std::uint64_t{0});
  const auto out = thrust::make_transform_output_iterator(positions->data(), plus_base{base});
  const auto select = [&](void* temporary, std::size_t& size) {
    return cub::DeviceSelect::If(temporary, size, bits, out, device_count->data(),
                                 static_cast<std::int64_t>(64 * words.size()), bit_is_set{words.data()}, stream);
  };
  CUTPOINT_RETURN_IF_FAILED(run(select, stream, "compacting candidates"));
  return positions;
}

}  // namespace cutpoint::cuda
