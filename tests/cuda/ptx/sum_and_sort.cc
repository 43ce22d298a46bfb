// The operations of cuda/device/sum_and_sort.cuh by the host double, in the order of a stream. They stand for CUB.
#include "cuda/device/sum_and_sort.cuh"

#include <algorithm>
#include <cstring>

#include "cuda/device/runtime.cuh"
#include "cuda/host_double/host_executor.h"
#include "tests/cuda/ptx/device.h"

namespace cutpoint::cuda {
namespace {

/// Spoils the temporary memory of an operation, which must be as large as was asked for.
void use(ptx::device_memory& memory, void* temporary, std::size_t temporary_size, std::size_t size) {
  if (temporary_size < size + 1) throw ptx::fault("an operation of CUB has too little temporary memory");
  std::memset(memory.array(static_cast<std::uint8_t*>(temporary), temporary_size), 0xa5, temporary_size);
}

template <class Work>
status enqueue(cudaStream_t stream, Work work) {
  return check(ptx::call([&](ptx::device& there) { there.enqueue(stream, work); }), "summing or sorting");
}

}  // namespace

result<std::size_t> temporary_storage_bytes(std::size_t size) { return size + 1; }

status prefix_sum_async(const std::uint32_t* counts, std::uint32_t* sums, std::size_t size, void* temporary,
                        std::size_t temporary_size, cudaStream_t stream) {
  if (size == 0) return {};
  return enqueue(stream, [=](ptx::device_memory& memory) {
    use(memory, temporary, temporary_size, size);
    static_cast<void>(host_executor().prefix_sum(memory.array(counts, size), memory.array(sums, size + 1), size));
  });
}

status sort_by_length_async(const std::uint32_t* lengths, std::uint32_t* sorted, const std::uint32_t* indices,
                            std::uint32_t* order, std::size_t size, bit_range bits, void* temporary,
                            std::size_t temporary_size, cudaStream_t stream) {
  if (size == 0) return {};
  return enqueue(stream, [=](ptx::device_memory& memory) {
    use(memory, temporary, temporary_size, size);
    std::uint32_t* const ordered = memory.array(order, size);
    static_cast<void>(
        host_executor().sort_by_length(memory.array(lengths, size), memory.array(sorted, size), ordered, size, bits));
    const std::uint32_t* const names = memory.array(indices, size);
    std::transform(ordered, ordered + size, ordered, [&](std::uint32_t i) { return names[i]; });
  });
}

}  // namespace cutpoint::cuda
