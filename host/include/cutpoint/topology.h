// What this machine is made of, as far as chunking cares: processors, caches, memory nodes, devices, instruction sets.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <cutpoint/status.h>

namespace cutpoint {

/// Caches of one level and kind.
struct cache_info {
  int level = 0;                      ///< 1 is nearest to the core
  std::string kind;                   ///< "data", "instruction" or "unified"
  std::uint64_t bytes = 0;            ///< of one
  std::uint64_t line_bytes = 0;       ///< 0 where unknown
  std::uint64_t count = 0;            ///< how many there are
  std::uint64_t processor_count = 0;  ///< processors that share one
};

/// Memory that is near to some processors.
struct numa_node_info {
  std::uint64_t index = 0;
  std::uint64_t memory_bytes = 0;
  std::uint64_t processor_count = 0;
};

/// A device that the operating system shows: a disk, a network interface, a co-processor.
struct system_device {
  std::string kind;  ///< "block", "network", "gpu", "co-processor" or "other"
  std::string name;
};

struct topology {
  std::string processor_model;  ///< empty where unknown
  std::uint64_t package_count = 0;
  std::uint64_t core_count = 0;
  std::uint64_t processor_count = 0;  ///< hardware threads
  std::vector<cache_info> caches;     ///< from the core outwards
  std::vector<numa_node_info> numa_nodes;
  std::vector<system_device> devices;
  /// The instruction sets that our kernels may use, of those that the processor and the kernel both offer.
  std::vector<std::string> instruction_sets;
};

/// Asks hwloc and the kernel. Errors: backend_failure, when hwloc cannot look at this machine. Thread-safe; takes
/// milliseconds.
[[nodiscard]] result<topology> discover_topology();

}  // namespace cutpoint
