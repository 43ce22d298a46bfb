// The PCI Express link of a device and what is near to it, as Linux's sysfs describes them.
#pragma once

#include <filesystem>

namespace cutpoint::cuda {

/// Zero where it is not known: another bus, another system, or a container that hides sysfs.
struct pci_link {
  /// 5 for PCI Express 5.0: the fastest that the device can do, since an idle link is often slowed down.
  int generation = 0;
  /// Lanes in use.
  int width = 0;

  friend bool operator==(const pci_link&, const pci_link&) = default;
};

/// Reads the link of the device whose sysfs folder this is, such as /sys/bus/pci/devices/0000:17:00.0. Never fails:
/// what cannot be read is 0.
[[nodiscard]] pci_link read_pci_link(const std::filesystem::path& device_folder);

/// The NUMA node that the device is attached to, -1 where that is not known.
[[nodiscard]] int read_numa_node(const std::filesystem::path& device_folder);

}  // namespace cutpoint::cuda
