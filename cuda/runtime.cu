// What of cuda/runtime.cuh is no template.
#include "cuda/runtime.cuh"

#include <string>

namespace cutpoint::cuda {
namespace {

status_code code_of(cudaError_t error) {
  switch (error) {
    case cudaErrorMemoryAllocation:
      return status_code::memory_limit;
    case cudaErrorInvalidDevice:
      return status_code::invalid_argument;
    case cudaErrorInsufficientDriver:
    case cudaErrorNoDevice:
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorUnsupportedPtxVersion:
    case cudaErrorDevicesUnavailable:
      return status_code::unavailable;
    default:
      return status_code::backend_failure;
  }
}

}  // namespace

status check(cudaError_t error, std::string_view what) {
  if (error == cudaSuccess) return {};
  static_cast<void>(cudaGetLastError());  // the runtime keeps the error for the next caller; it has been told here
  return {code_of(error), "CUDA: " + std::string(what) + " failed: " + cudaGetErrorString(error)};
}

result<device_scope> device_scope::enter(int device) {
  int former = none;
  CUTPOINT_RETURN_IF_FAILED(check(cudaGetDevice(&former), "asking for the current device"));
  device_scope scope(former);
  CUTPOINT_RETURN_IF_FAILED(check(cudaSetDevice(device), "choosing device " + std::to_string(device)));
  return result<device_scope>(std::move(scope));
}

result<device_stream> device_stream::create() {
  cudaStream_t stream = nullptr;
  CUTPOINT_RETURN_IF_FAILED(check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "making a stream"));
  return device_stream(stream);
}

template <memory_place Place>
result<cuda_memory<Place>> cuda_memory<Place>::allocate(std::size_t byte_count) {
  constexpr bool is_device = Place == memory_place::device;
  void* data = nullptr;
  if (byte_count > 0) {
    const cudaError_t got = is_device ? cudaMalloc(&data, byte_count) : cudaMallocHost(&data, byte_count);
    CUTPOINT_RETURN_IF_FAILED(check(got, "allocating " + std::to_string(byte_count) + " bytes of " +
                                             (is_device ? "device memory" : "locked host memory")));
  }
  return cuda_memory(data);
}

template <memory_place Place>
cuda_memory<Place>::~cuda_memory() {
  if (data_ == nullptr) return;
  const cudaError_t gone = Place == memory_place::device ? cudaFree(data_) : cudaFreeHost(data_);
  if (gone != cudaSuccess) static_cast<void>(cudaGetLastError());  // of a device that has failed before
}

template class cuda_memory<memory_place::device>;
template class cuda_memory<memory_place::pinned>;

}  // namespace cutpoint::cuda
