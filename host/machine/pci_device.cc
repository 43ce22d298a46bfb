// Looks PCI devices up in hwloc's topology, whose I/O objects hang below the processors and memory that they are near to.
#include "host/machine/pci_device.h"

#include "host/machine/hwloc_machine.h"

namespace cutpoint {

int node_of_pci_device(hwloc_topology_t machine, const std::string& bus_id) {
  hwloc_obj* const device = hwloc_get_pcidev_by_busidstring(machine, bus_id.c_str());
  if (device == nullptr) return -1;
  hwloc_const_bitmap_t const nodes = hwloc_get_non_io_ancestor_obj(machine, device)->nodeset;
  return hwloc_bitmap_weight(nodes) == 1 ? hwloc_bitmap_first(nodes) : -1;
}

int node_of_pci_device(const std::string& bus_id) {
  static const result<hwloc_machine> machine = load_machine(machine_detail::pci_devices);
  return machine ? node_of_pci_device(machine->get(), bus_id) : -1;
}

}  // namespace cutpoint
