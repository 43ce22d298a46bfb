// Reads the machine's topology from hwloc, its instruction sets from /proc/cpuinfo, and what this process may use of it.
#include <algorithm>
#include <array>
#include <cerrno>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <string_view>
#include <system_error>
#include <thread>

#include <cutpoint/topology.h>
#include <fmt/format.h>
#include <sched.h>

#include "host/machine/cpu_quota.h"
#include "host/machine/hwloc_machine.h"

namespace cutpoint {

result<hwloc_machine> load_machine(machine_detail detail) {
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0) {
    return status{status_code::backend_failure, "hwloc cannot be initialised", errno};
  }
  hwloc_machine loaded(raw, &hwloc_topology_destroy);
  if (detail == machine_detail::all) {
    hwloc_topology_set_io_types_filter(raw, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
  } else {
    hwloc_topology_set_cache_types_filter(raw, HWLOC_TYPE_FILTER_KEEP_NONE);
    hwloc_topology_set_flags(raw, HWLOC_TOPOLOGY_FLAG_DONT_CHANGE_BINDING);
    if (detail == machine_detail::pci_devices) {
      hwloc_topology_set_type_filter(raw, HWLOC_OBJ_PCI_DEVICE, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
    }
  }
  if (hwloc_topology_load(raw) != 0) {
    return status{status_code::backend_failure,
                  fmt::format("hwloc cannot look at this machine: {}", std::generic_category().message(errno)), errno};
  }
  return loaded;
}

namespace {

std::uint64_t count_of(hwloc_topology_t machine, hwloc_obj_type_t type) {
  return static_cast<std::uint64_t>(std::max(0, hwloc_get_nbobjs_by_type(machine, type)));
}

std::uint64_t processors_of(const hwloc_obj* object) {
  return object->cpuset == nullptr ? 0 : static_cast<std::uint64_t>(std::max(0, hwloc_bitmap_weight(object->cpuset)));
}

std::string cache_kind(hwloc_obj_cache_type_t type) {
  switch (type) {
    case HWLOC_OBJ_CACHE_DATA:
      return "data";
    case HWLOC_OBJ_CACHE_INSTRUCTION:
      return "instruction";
    case HWLOC_OBJ_CACHE_UNIFIED:
      break;
  }
  return "unified";
}

std::vector<cache_info> caches_of(hwloc_topology_t machine) {
  constexpr std::array types = {HWLOC_OBJ_L1CACHE, HWLOC_OBJ_L1ICACHE, HWLOC_OBJ_L2CACHE, HWLOC_OBJ_L3CACHE,
                                HWLOC_OBJ_L4CACHE};
  std::vector<cache_info> caches;
  for (const hwloc_obj_type_t type : types) {
    const hwloc_obj* first = hwloc_get_obj_by_type(machine, type, 0);
    if (first == nullptr) continue;
    caches.push_back({.level = static_cast<int>(first->attr->cache.depth),
                      .kind = cache_kind(first->attr->cache.type),
                      .bytes = first->attr->cache.size,
                      .line_bytes = first->attr->cache.linesize,
                      .count = count_of(machine, type),
                      .processor_count = processors_of(first)});
  }
  return caches;
}

std::vector<numa_node_info> numa_nodes_of(hwloc_topology_t machine) {
  std::vector<numa_node_info> nodes;
  for (hwloc_obj_t node = nullptr; (node = hwloc_get_next_obj_by_type(machine, HWLOC_OBJ_NUMANODE, node)) != nullptr;) {
    nodes.push_back({node->os_index, node->attr->numanode.local_memory, processors_of(node)});
  }
  return nodes;
}

std::string device_kind(hwloc_obj_osdev_type_t type) {
  switch (type) {
    case HWLOC_OBJ_OSDEV_BLOCK:
      return "block";
    case HWLOC_OBJ_OSDEV_GPU:
      return "gpu";
    case HWLOC_OBJ_OSDEV_NETWORK:
      return "network";
    case HWLOC_OBJ_OSDEV_COPROC:
      return "co-processor";
    case HWLOC_OBJ_OSDEV_OPENFABRICS:
    case HWLOC_OBJ_OSDEV_DMA:
      break;
  }
  return "other";
}

std::vector<system_device> devices_of(hwloc_topology_t machine) {
  std::vector<system_device> devices;
  for (hwloc_obj_t device = nullptr; (device = hwloc_get_next_osdev(machine, device)) != nullptr;) {
    devices.push_back({device_kind(device->attr->osdev.type), device->name == nullptr ? "" : device->name});
  }
  return devices;
}

std::string model_of(hwloc_topology_t machine) {
  hwloc_obj_t package = hwloc_get_obj_by_type(machine, HWLOC_OBJ_PACKAGE, 0);
  const char* model = package == nullptr ? nullptr : hwloc_obj_get_info_by_name(package, "CPUModel");
  return model == nullptr ? "" : model;
}

/// Returns the flags that the kernel lists for the first processor. They exclude what the kernel has turned off.
std::set<std::string> processor_flags() {
  std::ifstream cpuinfo("/proc/cpuinfo");
  for (std::string line; std::getline(cpuinfo, line);) {
    if (!line.starts_with("flags") && !line.starts_with("Features")) continue;
    std::istringstream words(line.substr(std::min(line.size(), line.find(':') + 1)));
    return {std::istream_iterator<std::string>(words), std::istream_iterator<std::string>()};
  }
  return {};
}

std::vector<std::string> instruction_sets() {
  constexpr std::array<std::string_view, 22> known = {
      "ssse3",    "sse4_1",   "sse4_2",      "avx",          "avx2",       "avx512f", "avx512bw", "avx512vl",
      "avx512dq", "avx512cd", "avx512_vbmi", "avx512_vbmi2", "avx512ifma", "gfni",    "bmi2",     "aes",
      "vaes",     "sha_ni",   "pclmulqdq",   "vpclmulqdq",   "asimd",      "sve"};
  const std::set<std::string> flags = processor_flags();
  std::vector<std::string> offered;
  for (const std::string_view name : known) {
    if (flags.contains(std::string(name))) offered.emplace_back(name);
  }
  return offered;
}

}  // namespace

result<topology> discover_topology() {
  const result<hwloc_machine> loaded = load_machine(machine_detail::all);
  if (!loaded) return loaded.error();
  hwloc_topology_t machine = loaded->get();
  return topology{.processor_model = model_of(machine),
                  .package_count = count_of(machine, HWLOC_OBJ_PACKAGE),
                  .core_count = count_of(machine, HWLOC_OBJ_CORE),
                  .processor_count = count_of(machine, HWLOC_OBJ_PU),
                  .usable_processor_count = usable_processor_count(),
                  .cpu_quota = read_cpu_quota(),
                  .caches = caches_of(machine),
                  .numa_nodes = numa_nodes_of(machine),
                  .devices = devices_of(machine),
                  .instruction_sets = instruction_sets()};
}

std::uint64_t usable_processor_count() {
  cpu_set_t affinity;
  CPU_ZERO(&affinity);
  const bool is_known = ::sched_getaffinity(0, sizeof affinity, &affinity) == 0;
  return usable_processors(
      is_known ? static_cast<std::uint64_t>(CPU_COUNT(&affinity)) : std::thread::hardware_concurrency(),
      read_cpu_quota());
}

}  // namespace cutpoint
