// The place of a PCI device in this machine.
#pragma once

#include <string>

namespace cutpoint {

/// Returns the number of the memory node that the PCI device with this bus id, such as "0000:17:00.0", is attached to, or
/// -1 if it is unknown. The first call examines the machine, in some tens of milliseconds. Thread-safe. Throws
/// std::bad_alloc.
[[nodiscard]] int node_of_pci_device(const std::string& bus_id);

}  // namespace cutpoint
