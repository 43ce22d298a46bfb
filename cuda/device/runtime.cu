// Definitions of cuda/device/runtime.cuh.
#include "cuda/device/runtime.cuh"

#include <algorithm>
#include <array>
#include <mutex>
#include <string>
#include <vector>

#include <cuda.h>

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

/// Finds a function of the driver, which the program does not link.
template <class Function>
status find_driver_function(const char* name, Function*& function) {
  cudaDriverEntryPointQueryResult answer{};
  void* address = nullptr;
  CUTPOINT_RETURN_IF_FAILED(
      check(cudaGetDriverEntryPointByVersion(name, &address, CUDART_VERSION, cudaEnableDefault, &answer),
            std::string("looking for ") + name));
  if (answer != cudaDriverEntryPointSuccess) {
    return {status_code::unavailable, std::string("CUDA: the driver lacks ") + name};
  }
  function = reinterpret_cast<Function*>(address);
  return {};
}

status check_driver_call(CUresult answer, const std::string& what) {
  return answer == CUDA_SUCCESS ? status()
                                : status(status_code::backend_failure, "CUDA: " + what + " failed: driver error " +
                                                                           std::to_string(static_cast<int>(answer)));
}

/// The primary contexts of the devices, which the runtime uses too. Thread-safe. They are kept until the process ends, as
/// the runtime keeps them.
class primary_contexts {
 public:
  [[nodiscard]] status push(int device) {
    const std::lock_guard lock(finding_);
    CUTPOINT_RETURN_IF_FAILED(find_functions());
    const auto number = static_cast<std::size_t>(device);
    if (number >= contexts_.size()) contexts_.resize(number + 1);
    if (contexts_[number] == nullptr) {
      const CUresult answer = retain_(&contexts_[number], device);
      if (answer == CUDA_ERROR_DEVICE_UNAVAILABLE) {
        return {status_code::backend_failure,
                "CUDA: device " + std::to_string(device) + " is busy with another process"};
      }
      CUTPOINT_RETURN_IF_FAILED(check_driver_call(answer, "opening device " + std::to_string(device)));
    }
    return check_driver_call(push_(contexts_[number]), "choosing device " + std::to_string(device));
  }
  void pop() {
    CUcontext popped = nullptr;
    static_cast<void>(pop_(&popped));
  }

 private:
  [[nodiscard]] status find_functions() {
    if (retain_ != nullptr) return {};
    CUTPOINT_RETURN_IF_FAILED(find_driver_function("cuCtxPushCurrent", push_));
    CUTPOINT_RETURN_IF_FAILED(find_driver_function("cuCtxPopCurrent", pop_));
    return find_driver_function("cuDevicePrimaryCtxRetain", retain_);
  }

  std::mutex finding_;
  CUresult (*retain_)(CUcontext*, CUdevice) = nullptr;
  CUresult (*push_)(CUcontext) = nullptr;
  CUresult (*pop_)(CUcontext*) = nullptr;
  std::vector<CUcontext> contexts_;  ///< by device number; null if not opened
};

primary_contexts& contexts() {
  static primary_contexts all;
  return all;
}

}  // namespace

status check(cudaError_t error, std::string_view what) {
  if (error == cudaSuccess) return {};
  static_cast<void>(cudaGetLastError());  // clears the error, which the runtime would report to the next caller
  return {code_of(error), "CUDA: " + std::string(what) + " failed: " + cudaGetErrorString(error)};
}

result<device_scope> device_scope::enter(int device) {
  CUTPOINT_RETURN_IF_FAILED(contexts().push(device));
  return result<device_scope>(device_scope());
}

device_scope::~device_scope() {
  if (is_entered_) contexts().pop();
}

result<device_stream> device_stream::create() {
  cudaStream_t stream = nullptr;
  CUTPOINT_RETURN_IF_FAILED(check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "making a stream"));
  return device_stream(stream);
}

result<std::string> pci_bus_id(int device) {
  std::array<char, 32> bus_id{};
  CUTPOINT_RETURN_IF_FAILED(check(cudaDeviceGetPCIBusId(bus_id.data(), static_cast<int>(bus_id.size()), device),
                                  "asking for the bus of device " + std::to_string(device)));
  std::string lower_case = bus_id.data();
  std::transform(lower_case.begin(), lower_case.end(), lower_case.begin(),
                 [](char c) { return c >= 'A' && c <= 'F' ? static_cast<char>(c - 'A' + 'a') : c; });
  return lower_case;
}

result<std::uint64_t> resident_blocks_of(const void* kernel, std::uint32_t threads, std::size_t shared_bytes) {
  static std::mutex asking;  // a kernel's limit is one value for all threads, and must not be lowered
  const std::lock_guard lock(asking);
  cudaFuncAttributes allowed{};
  CUTPOINT_RETURN_IF_FAILED(check(cudaFuncGetAttributes(&allowed, kernel), "asking about a kernel"));
  if (allowed.maxDynamicSharedSizeBytes < static_cast<int>(shared_bytes)) {
    CUTPOINT_RETURN_IF_FAILED(
        check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared_bytes)),
              "asking for a kernel's shared memory"));
  }
  int resident = 0;
  CUTPOINT_RETURN_IF_FAILED(
      check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, static_cast<int>(threads), shared_bytes),
            "asking how many blocks of a kernel fit"));
  return static_cast<std::uint64_t>(std::max(resident, 1));
}

result<device_event> device_event::create() {
  cudaEvent_t event = nullptr;
  CUTPOINT_RETURN_IF_FAILED(check(cudaEventCreate(&event), "making an event"));
  return device_event(event);
}

result<device_event> device_event::create_to_wait() {
  cudaEvent_t event = nullptr;
  CUTPOINT_RETURN_IF_FAILED(
      check(cudaEventCreateWithFlags(&event, cudaEventBlockingSync | cudaEventDisableTiming), "making an event"));
  return device_event(event);
}

result<double> seconds_between(const device_event& first, const device_event& second) {
  float milliseconds = 0;
  CUTPOINT_RETURN_IF_FAILED(
      check(cudaEventElapsedTime(&milliseconds, first.get(), second.get()), "reading the time between events"));
  return static_cast<double>(milliseconds) / 1000;
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
  discard(Place == memory_place::device ? cudaFree(data_) : cudaFreeHost(data_));
}

template class cuda_memory<memory_place::device>;
template class cuda_memory<memory_place::pinned>;

}  // namespace cutpoint::cuda
