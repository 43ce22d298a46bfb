// Reads the PCI Express link of a device from Linux's sysfs. hwloc reports only the speed at which a link runs at the moment.
#pragma once

#include <filesystem>

namespace cutpoint::cuda {

/// Members are 0 if unknown: on another bus or system, or in a container that hides sysfs.
struct pci_link {
  /// The fastest generation that the device supports, for example 5 for PCI Express 5.0. An idle link often runs slower.
  int generation = 0;
  /// Lanes in use.
  int width = 0;

  friend bool operator==(const pci_link&, const pci_link&) = default;
};

/// Reads the link of the device with this sysfs folder, such as /sys/bus/pci/devices/0000:17:00.0. Never fails: members that
/// cannot be read are 0.
[[nodiscard]] pci_link read_pci_link(const std::filesystem::path& device_folder);

}  // namespace cutpoint::cuda
