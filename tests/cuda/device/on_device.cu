// Kernel launches and copies on device 0, for the tests.
#include "tests/cuda/device/on_device.h"

#include <utility>

#include "cuda/device/device_block.cuh"
#include "cuda/device/runtime.cuh"
#include "tests/cuda/kernel/block_kernels.h"

namespace cutpoint::cuda {
namespace {

template <class Example>
__global__ void example_kernel(const std::uint32_t* in, std::uint32_t* out) {
  device_block<example_threads> block;
  Example{}(block, in, out);
}

template <class T>
result<std::vector<T>> copy_out(const device_array<T>& source, cudaStream_t stream) {
  std::vector<T> values(source.size());
  CUTPOINT_RETURN_IF_FAILED(copy_async(values.data(), source.data(), source.size(), stream, "copying results out"));
  CUTPOINT_RETURN_IF_FAILED(check(cudaStreamSynchronize(stream), "running a test kernel"));
  return values;
}

}  // namespace

result<std::vector<std::uint32_t>> run_on_device(example which, std::span<const std::uint32_t, example_threads> in) {
  const auto stream = device_stream::create();
  if (!stream) return stream.error();
  const auto device_in = device_array<std::uint32_t>::allocate(in.size());
  if (!device_in) return device_in.error();
  const auto device_out = device_array<std::uint32_t>::allocate(in.size());
  if (!device_out) return device_out.error();
  CUTPOINT_RETURN_IF_FAILED(copy_async(device_in->data(), in.data(), in.size(), stream->get(), "copying in"));

  constexpr std::size_t shared_bytes = shared_size<std::uint32_t>(2 * example_threads);
  const auto kernel = which == example::reverse  ? example_kernel<reverse_kernel>
                      : which == example::rotate ? example_kernel<rotate_kernel>
                                                 : example_kernel<warp_kernel>;
  CUTPOINT_RETURN_IF_FAILED(launch_kernel(kernel, {.threads = example_threads, .shared_bytes = shared_bytes},
                                          stream->get(), device_in->data(), device_out->data()));
  return copy_out(*device_out, stream->get());
}

result<std::shared_ptr<const std::uint8_t>> copy_to_device(byte_span bytes, std::size_t lead) {
  const std::size_t size = lead + bytes.size() + sizeof(bytes16);
  auto memory = device_array<std::uint8_t>::allocate(size);
  if (!memory) return memory.error();
  std::uint8_t* const begin = memory->data() + lead;
  CUTPOINT_RETURN_IF_FAILED(check(cudaMemset(memory->data(), 0xa5, size), "filling memory"));
  CUTPOINT_RETURN_IF_FAILED(check(cudaMemcpy(begin, bytes.data(), bytes.size(), cudaMemcpyHostToDevice), "copying in"));
  const auto owner = std::make_shared<device_array<std::uint8_t>>(std::move(*memory));
  return std::shared_ptr<const std::uint8_t>(owner, begin);
}

result<std::shared_ptr<std::uint8_t>> allocate_on_device(std::size_t size) {
  auto memory = device_array<std::uint8_t>::allocate(size);
  if (!memory) return memory.error();
  if (size != 0) CUTPOINT_RETURN_IF_FAILED(check(cudaMemset(memory->data(), 0xa5, size), "filling memory"));
  const auto owner = std::make_shared<device_array<std::uint8_t>>(std::move(*memory));
  return std::shared_ptr<std::uint8_t>(owner, owner->data());
}

status write_to_device(std::uint8_t* destination, byte_span bytes) {
  if (bytes.empty()) return {};
  return check(cudaMemcpy(destination, bytes.data(), bytes.size(), cudaMemcpyHostToDevice), "copying in");
}

result<std::vector<std::uint8_t>> copy_from_device(const std::uint8_t* source, std::size_t size) {
  std::vector<std::uint8_t> bytes(size);
  if (size == 0) return bytes;
  CUTPOINT_RETURN_IF_FAILED(check(cudaDeviceSynchronize(), "waiting for the device"));
  CUTPOINT_RETURN_IF_FAILED(check(cudaMemcpy(bytes.data(), source, size, cudaMemcpyDeviceToHost), "copying out"));
  return bytes;
}

}  // namespace cutpoint::cuda
