// The machine as hwloc has it, for the sources that ask it.
#pragma once

#include <memory>
#include <vector>

#include <cutpoint/status.h>
#include <hwloc.h>

namespace cutpoint {

using hwloc_machine = std::unique_ptr<hwloc_topology, decltype(&hwloc_topology_destroy)>;
using hwloc_set = std::unique_ptr<hwloc_bitmap_s, decltype(&hwloc_bitmap_free)>;

/// What is looked at.
enum class machine_detail {
  processors,  ///< cores and nodes, in a millisecond or some; the calling thread stays where it is
  all,         ///< caches and devices too
};

/// This machine. Errors: backend_failure, when hwloc cannot look at it.
[[nodiscard]] result<hwloc_machine> load_machine(machine_detail detail);

/// A hardware thread, by the numbers of the operating system.
struct processor_place {
  unsigned processor = 0;
  int node = -1;      ///< of memory near to it; -1 where unknown
  unsigned rank = 0;  ///< among the usable hardware threads of its core

  friend bool operator==(const processor_place&, const processor_place&) = default;
};

/// The usable hardware threads: those of the lowest rank first, each rank in the order in which they lie in the machine.
[[nodiscard]] std::vector<processor_place> ordered_places(hwloc_topology_t machine, hwloc_const_bitmap_t usable);

/// Those of them that are near to a node, as a set; empty where there are none.
[[nodiscard]] hwloc_set processors_near(const std::vector<processor_place>& places, int node);

}  // namespace cutpoint
