// The same functions for builds without a CUDA compiler. They fail.
#include "cuda/device/devices.h"
#include "tests/cuda/device/on_device.h"

namespace cutpoint::cuda {

result<std::vector<std::uint32_t>> run_on_device(example, std::span<const std::uint32_t, example_threads>) {
  return no_cuda_in_this_build();
}
result<std::shared_ptr<const std::uint8_t>> copy_to_device(byte_span, std::size_t) { return no_cuda_in_this_build(); }
result<std::shared_ptr<std::uint8_t>> allocate_on_device(std::size_t) { return no_cuda_in_this_build(); }
status write_to_device(std::uint8_t*, byte_span) { return no_cuda_in_this_build(); }
result<std::vector<std::uint8_t>> copy_from_device(const std::uint8_t*, std::size_t) { return no_cuda_in_this_build(); }

}  // namespace cutpoint::cuda
