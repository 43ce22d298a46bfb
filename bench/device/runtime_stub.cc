// The functions of bench/device/runtime.h by which cutpoint_bench measures a device, in a build without a CUDA compiler.
#include "bench/device/runtime.h"
#include "cuda/device/devices.h"

namespace cutpoint::bench {

struct device_stopwatch::objects {};

result<device_stopwatch> device_stopwatch::make() { return cuda::no_cuda_in_this_build(); }
result<double> device_stopwatch::seconds(const std::function<status(CUstream_st*)>&, int) const {
  return cuda::no_cuda_in_this_build();
}
status use_device(int) { return cuda::no_cuda_in_this_build(); }
result<device_bytes> random_device_bytes(std::uint64_t) { return cuda::no_cuda_in_this_build(); }
status check_random_bytes(const device_bytes&) { return cuda::no_cuda_in_this_build(); }
result<std::vector<std::uint8_t>> copy_from_device(const std::uint8_t*, std::uint64_t) {
  return cuda::no_cuda_in_this_build();
}

}  // namespace cutpoint::bench
