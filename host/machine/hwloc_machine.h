// The machine's topology as hwloc reports it, the order of its processors, and the place of its PCI devices.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <cutpoint/status.h>
#include <hwloc.h>

namespace cutpoint {

using hwloc_machine = std::unique_ptr<hwloc_topology, decltype(&hwloc_topology_destroy)>;
using hwloc_set = std::unique_ptr<hwloc_bitmap_s, decltype(&hwloc_bitmap_free)>;

/// How much of the machine hwloc examines.
enum class machine_detail {
  processors,   ///< cores and memory nodes, in a few milliseconds and without moving the calling thread
  pci_devices,  ///< PCI devices too, in some tens of milliseconds
  all,          ///< caches and the devices of the operating system too
};

/// Loads the topology of this machine. Errors: backend_failure, if hwloc cannot read it.
[[nodiscard]] result<hwloc_machine> load_machine(machine_detail detail);

/// A hardware thread, with the numbers of the operating system.
struct processor_place {
  unsigned processor = 0;
  int node = -1;      ///< the nearest memory node, or -1 if unknown
  unsigned rank = 0;  ///< index among the usable hardware threads of its core

  friend bool operator==(const processor_place&, const processor_place&) = default;
};

/// Returns the usable hardware threads ordered by rank. Those of one rank are in the order in which they lie in the
/// machine.
[[nodiscard]] std::vector<processor_place> ordered_places(hwloc_topology_t machine, hwloc_const_bitmap_t usable);

/// Returns the set of those hardware threads whose node is `node`; it may be empty.
[[nodiscard]] hwloc_set processors_near(const std::vector<processor_place>& places, int node);

/// Returns the only memory node that the PCI device with this bus id is attached to. Returns -1 if it is attached to
/// several nodes, or if the machine has no such device or the topology was loaded without PCI devices.
[[nodiscard]] int node_of_pci_device(hwloc_topology_t machine, const std::string& bus_id);

}  // namespace cutpoint
