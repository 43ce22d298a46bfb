#include "cuda/device/sum_and_sort.cuh"

#include <algorithm>

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>

#include "cuda/device/runtime.cuh"

namespace cutpoint::cuda {
namespace {

cudaError_t sum(const std::uint32_t* counts, std::uint32_t* sums, std::size_t size, void* temporary,
                std::size_t& temporary_size, cudaStream_t stream) {
  return cub::DeviceScan::InclusiveSum(temporary, temporary_size, counts, sums, size, stream);
}

struct add_totals {
  __host__ __device__ buffer_totals operator()(const buffer_totals& a, const buffer_totals& b) const { return a + b; }
};

cudaError_t sum(const buffer_totals* counts, buffer_totals* sums, std::size_t size, void* temporary,
                std::size_t& temporary_size, cudaStream_t stream) {
  return cub::DeviceScan::InclusiveScan(temporary, temporary_size, counts, sums, add_totals{}, size, stream);
}

cudaError_t sort(const std::uint32_t* lengths, std::uint32_t* sorted, const std::uint32_t* indices,
                 std::uint32_t* order, std::size_t size, bit_range bits, void* temporary, std::size_t& temporary_size,
                 cudaStream_t stream) {
  return cub::DeviceRadixSort::SortPairsDescending(temporary, temporary_size, lengths, sorted, indices, order, size,
                                                   static_cast<int>(bits.first), static_cast<int>(bits.last), stream);
}

}  // namespace

result<std::size_t> temporary_storage_bytes(std::size_t size, const buffer_totals* none) {
  std::size_t for_sum = 0;
  CUTPOINT_RETURN_IF_FAILED(
      check(sum(none, static_cast<buffer_totals*>(nullptr), size, nullptr, for_sum, nullptr), "sizing a prefix sum"));
  return std::max(for_sum, std::size_t{1});
}

result<std::size_t> temporary_storage_bytes(std::size_t size, const std::uint32_t* none) {
  std::size_t for_sum = 0;
  std::size_t for_sort = 0;
  CUTPOINT_RETURN_IF_FAILED(
      check(sum(none, static_cast<std::uint32_t*>(nullptr), size, nullptr, for_sum, nullptr), "sizing a prefix sum"));
  CUTPOINT_RETURN_IF_FAILED(check(
      sort(nullptr, nullptr, nullptr, nullptr, size, bit_range{0, 32}, nullptr, for_sort, nullptr), "sizing a sort"));
  return std::max({for_sum, for_sort, std::size_t{1}});
}

status prefix_sum_async(const std::uint32_t* counts, std::uint32_t* sums, std::size_t size, void* temporary,
                        std::size_t temporary_size, cudaStream_t stream) {
  if (size == 0) return {};
  return check(sum(counts, sums + 1, size, temporary, temporary_size, stream), "summing the counts of chunks");
}

status prefix_sum_async(const buffer_totals* counts, buffer_totals* sums, std::size_t size, void* temporary,
                        std::size_t temporary_size, cudaStream_t stream) {
  if (size == 0) return {};
  return check(sum(counts, sums + 1, size, temporary, temporary_size, stream), "summing the sizes of buffers");
}

status sort_by_length_async(const std::uint32_t* lengths, std::uint32_t* sorted, const std::uint32_t* indices,
                            std::uint32_t* order, std::size_t size, bit_range bits, void* temporary,
                            std::size_t temporary_size, cudaStream_t stream) {
  if (size == 0) return {};
  return check(sort(lengths, sorted, indices, order, size, bits, temporary, temporary_size, stream),
               "sorting chunks by length");
}

}  // namespace cutpoint::cuda
