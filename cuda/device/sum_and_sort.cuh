// Device-wide operations by CUB, in a stream. The host double has the same operations as members of host_executor.
#pragma once

#include <cstddef>
#include <cstdint>

#include <cuda_runtime_api.h>
#include <cutpoint/status.h>

#include "cuda/batch/buffer_totals.h"
#include "cuda/kernel/words.h"

namespace cutpoint::cuda {

/// Bytes of temporary memory that a sum and a sort of up to `size` numbers need, or a sum of totals. The pointer says which.
[[nodiscard]] result<std::size_t> temporary_storage_bytes(std::size_t size, const std::uint32_t*);
[[nodiscard]] result<std::size_t> temporary_storage_bytes(std::size_t size, const buffer_totals*);

/// `sums[i]` becomes the sum of the first i counts, i = 1 to `size`. All in device memory.
[[nodiscard]] status prefix_sum_async(const std::uint32_t* counts, std::uint32_t* sums, std::size_t size,
                                      void* temporary, std::size_t temporary_size, cudaStream_t stream);
[[nodiscard]] status prefix_sum_async(const buffer_totals* counts, buffer_totals* sums, std::size_t size,
                                      void* temporary, std::size_t temporary_size, cudaStream_t stream);

/// Sorts the `indices` 0, 1, … `size` - 1 into `order` by these bits of the lengths, descending, the lower index first among
/// equals. `sorted` receives the lengths. All arrays are in device memory.
[[nodiscard]] status sort_by_length_async(const std::uint32_t* lengths, std::uint32_t* sorted,
                                          const std::uint32_t* indices, std::uint32_t* order, std::size_t size,
                                          bit_range bits, void* temporary, std::size_t temporary_size,
                                          cudaStream_t stream);

}  // namespace cutpoint::cuda
