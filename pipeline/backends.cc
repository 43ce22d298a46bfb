// Back ends and GPUs, gathered from the layers below.
#include <cutpoint/backends.h>
#include <fmt/format.h>

#include "cuda/backend.h"

namespace cutpoint {

namespace {

std::string described(const cuda::pci_link& link) {
  return link.generation == 0 ? "" : fmt::format("PCIe {}.0 x{}", link.generation, link.width);
}

gpu_info described(const cuda::device_info& device) {
  return {.index = device.index,
          .name = device.name,
          .memory_bytes = device.memory_bytes,
          .l2_bytes = device.l2_bytes,
          .multiprocessor_count = device.multiprocessor_count,
          .compute_capability = to_string(device.compute_capability),
          .pci_bus_id = device.pci_bus_id,
          .link = described(device.link),
          .driver_version = to_string(device.driver),
          .runtime_version = to_string(device.runtime),
          .problem = device.problem};
}

}  // namespace

std::vector<backend_info> backends() { return {{"scalar", "the reference: one core, one chunk after the other"}}; }

result<std::vector<gpu_info>> gpus() {
  const auto devices = cuda::devices();
  if (!devices) return devices.error();
  std::vector<gpu_info> found;
  for (const cuda::device_info& device : *devices) found.push_back(described(device));
  return found;
}

}  // namespace cutpoint
