// Lists the devices, measures their links, and orders streams, in a build with a CUDA compiler.
#include "cuda/device/devices.h"

#include <algorithm>
#include <array>
#include <utility>

#include <cutpoint/cuda.h>

#include "cuda/device/device_executor.cuh"
#include "cuda/device/measure_link.h"
#include "cuda/device/runtime.cuh"
#include "host/machine/machine_facts.h"

namespace cutpoint::cuda {
namespace {

/// The lowest compute capability that this binary has code for. Its PTX runs on all later ones.
version oldest_code() {
  constexpr std::array architectures{__CUDA_ARCH_LIST__};
  const int oldest = *std::min_element(architectures.begin(), architectures.end());
  return {oldest / 100, oldest % 100 / 10};
}

result<driver_probe> probe_driver() {
  int driver = 0;
  driver_probe probe;
  CUTPOINT_RETURN_IF_FAILED(check(cudaDriverGetVersion(&driver), "asking for the driver's version"));
  probe.driver = decode_cuda_version(driver);
  probe.runtime = decode_cuda_version(CUDART_VERSION);
  const cudaError_t counted = cudaGetDeviceCount(&probe.device_count);
  if (counted == cudaSuccess) return probe;
  static_cast<void>(cudaGetLastError());
  probe.device_count = 0;
  if (counted != cudaErrorNoDevice) probe.error = cudaGetErrorString(counted);
  return probe;
}

result<device_info> describe(int index, const driver_probe& probe) {
  cudaDeviceProp properties{};
  const std::string what = "describing device " + std::to_string(index);
  CUTPOINT_RETURN_IF_FAILED(check(cudaGetDeviceProperties(&properties, index), what));
  CUTPOINT_TRY(auto bus_id, pci_bus_id(index));

  device_info info;
  info.index = index;
  info.name = properties.name;
  info.memory_bytes = properties.totalGlobalMem;
  info.compute_capability = {properties.major, properties.minor};
  info.multiprocessor_count = properties.multiProcessorCount;
  info.l2_bytes = static_cast<std::uint64_t>(properties.l2CacheSize);
  info.link = read_pci_link("/sys/bus/pci/devices/" + bus_id);
  info.numa_node = node_of_pci_device(bus_id);
  info.pci_bus_id = std::move(bus_id);
  info.driver = probe.driver;
  info.runtime = probe.runtime;
  info.problem = reason_device_is_unsupported(info.name, info.compute_capability, oldest_code());
  return info;
}

}  // namespace

result<std::vector<device_info>> devices() {
  CUTPOINT_TRY(const auto probe, probe_driver());
  CUTPOINT_RETURN_IF_FAILED(check_driver(probe));
  std::vector<device_info> all;
  for (int index = 0; index < probe.device_count; ++index) {
    CUTPOINT_TRY(auto info, describe(index, probe));
    all.push_back(std::move(info));
  }
  return all;
}

status check_device(int device) {
  CUTPOINT_TRY(const auto probe, probe_driver());
  CUTPOINT_RETURN_IF_FAILED(check_driver(probe));
  if (device < 0 || device >= probe.device_count) {
    return {status_code::invalid_argument, "there is no CUDA device " + std::to_string(device) + "; this machine has " +
                                               std::to_string(probe.device_count) + ", counted from 0"};
  }
  CUTPOINT_TRY(const auto info, describe(device, probe));
  return info.problem.empty() ? status() : status(status_code::unavailable, info.problem);
}

// `measure_link` on a device.

result<link_rates> measure_link(int device) {
  CUTPOINT_RETURN_IF_FAILED(check_device(device));
  CUTPOINT_TRY(const auto scope, device_scope::enter(device));
  CUTPOINT_TRY(auto in, device_executor::make());
  CUTPOINT_TRY(auto out, device_executor::make());
  return link_of<device_executor>::measure(std::move(in), std::move(out));
}

}  // namespace cutpoint::cuda

namespace cutpoint {

result<bool> is_captured(CUstream_st* stream, int device) {
  if (stream == nullptr) return false;  // while another stream is captured, CUDA must not be asked
  CUTPOINT_TRY(const auto scope, cuda::device_scope::enter(device));
  cudaStreamCaptureStatus captured{};
  CUTPOINT_RETURN_IF_FAILED(cuda::check(cudaStreamIsCapturing(stream, &captured), "looking at a stream"));
  return captured != cudaStreamCaptureStatusNone;
}

status wait_for_stream(CUstream_st* stream, CUstream_st* other, int device) {
  CUTPOINT_TRY(const auto scope, cuda::device_scope::enter(device));
  CUTPOINT_TRY(const auto done, cuda::device_event::create_to_wait());
  CUTPOINT_RETURN_IF_FAILED(cuda::check(cudaEventRecord(done.get(), other), "recording an event"));
  return cuda::check(cudaStreamWaitEvent(stream, done.get(), 0), "ordering two streams");
}

}  // namespace cutpoint
