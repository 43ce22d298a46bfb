// The operations of cuda/device/sum_and_sort.cuh by the host double, in the order of a stream. They stand for CUB.
#include "cuda/device/sum_and_sort.cuh"

#include "cuda/device/runtime.cuh"
#include "cuda/host_double/host_executor.h"
#include "tests/cuda/ptx/device.h"

namespace cutpoint::cuda {
namespace {

/// A host double with the temporary memory of an operation.
host_executor executor_with(ptx::device_memory& memory, void* temporary, std::size_t temporary_size) {
  host_executor executor;
  executor.use_temporary_storage({memory.array(static_cast<std::uint8_t*>(temporary), temporary_size), temporary_size});
  return executor;
}

/// The operation fails as the host double's does.
void expect_done(const status& done) {
  if (!done.ok()) throw ptx::fault("CUB: " + done.message());
}

template <class Work>
status enqueue(cudaStream_t stream, Work work) {
  return check(ptx::call([&](ptx::device& there) { there.enqueue(stream, work); }), "summing or sorting");
}

template <class T>
status sum(const T* counts, T* sums, std::size_t size, void* temporary, std::size_t temporary_size,
           cudaStream_t stream) {
  if (size == 0) return {};
  return enqueue(stream, [=](ptx::device_memory& memory) {
    expect_done(executor_with(memory, temporary, temporary_size)
                    .prefix_sum(memory.array(counts, size), memory.array(sums, size + 1), size));
  });
}

}  // namespace

result<std::size_t> temporary_storage_bytes(std::size_t size, const std::uint32_t*) {
  return host_executor().temporary_storage_bytes(size);
}
result<std::size_t> temporary_storage_bytes(std::size_t size, const buffer_totals*) {
  return host_executor().temporary_storage_bytes<buffer_totals>(size);
}

status prefix_sum_async(const std::uint32_t* counts, std::uint32_t* sums, std::size_t size, void* temporary,
                        std::size_t temporary_size, cudaStream_t stream) {
  return sum(counts, sums, size, temporary, temporary_size, stream);
}
status prefix_sum_async(const buffer_totals* counts, buffer_totals* sums, std::size_t size, void* temporary,
                        std::size_t temporary_size, cudaStream_t stream) {
  return sum(counts, sums, size, temporary, temporary_size, stream);
}

status sort_by_length_async(const std::uint32_t* lengths, std::uint32_t* sorted, const std::uint32_t* indices,
                            std::uint32_t* order, std::size_t size, bit_range bits, void* temporary,
                            std::size_t temporary_size, cudaStream_t stream) {
  if (size == 0) return {};
  return enqueue(stream, [=](ptx::device_memory& memory) {
    expect_done(executor_with(memory, temporary, temporary_size)
                    .sort_by_length(memory.array(lengths, size), memory.array(sorted, size),
                                    memory.array(indices, size), memory.array(order, size), size, bits));
  });
}

}  // namespace cutpoint::cuda
