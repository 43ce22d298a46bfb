// A description of this machine: processors, caches, memory nodes, devices and instruction sets.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace cutpoint {

/// The caches of one level and kind.
struct cache_info {
  int level = 0;                      ///< 1 is the level nearest to the core
  std::string kind;                   ///< "data", "instruction" or "unified"
  std::uint64_t bytes = 0;            ///< size of one cache
  std::uint64_t line_bytes = 0;       ///< 0 if unknown
  std::uint64_t count = 0;            ///< number of caches of this level and kind
  std::uint64_t processor_count = 0;  ///< processors that share one cache
};

/// A memory node: memory that is nearer to some processors than to others.
struct numa_node_info {
  std::uint64_t index = 0;  ///< the operating system's number of the node
  std::uint64_t memory_bytes = 0;
  std::uint64_t processor_count = 0;
};

/// A device that the operating system lists: a disk, a network interface or a co-processor.
struct system_device {
  std::string kind;  ///< "block", "network", "gpu", "co-processor" or "other"
  std::string name;
};

/// The parts of one machine. A count is 0 if hwloc does not know it.
struct topology {
  /// Why hwloc could not look at the machine, empty if it could. Otherwise only the number of processors, the CPU quota and the
  /// instruction sets are known, which do not come from hwloc.
  std::string problem;
  std::string processor_model;  ///< empty if unknown
  std::uint64_t package_count = 0;
  std::uint64_t core_count = 0;
  std::uint64_t processor_count = 0;         ///< hardware threads
  std::uint64_t usable_processor_count = 0;  ///< as the function below returns it
  /// The processor time that the control groups of this process grant it, in processors; nullopt without a limit.
  std::optional<double> cpu_quota;
  std::vector<cache_info> caches;  ///< from the core outwards
  std::vector<numa_node_info> numa_nodes;
  std::vector<system_device> devices;
  /// The instruction sets that cutpoint's kernels can use and that both the processor and the operating system offer.
  std::vector<std::string> instruction_sets;
};

/// Describes this machine with hwloc and /proc/cpuinfo, as far as these can be read. Takes milliseconds. Thread-safe.
[[nodiscard]] topology discover_topology();

/// Returns how many processors this process can keep busy, which is the default for every number of threads: the
/// hardware threads of the calling thread's affinity, but no more than the CPU quota of the process's control groups,
/// rounded up; at least 1. Reads some files of /proc and /sys. Thread-safe.
[[nodiscard]] std::uint64_t usable_processor_count();

}  // namespace cutpoint
