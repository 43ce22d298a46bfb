// Reads the machine's topology from hwloc, its instruction sets from /proc/cpuinfo, and what a control group leaves of it.
#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <string_view>
#include <system_error>
#include <thread>
#include <vector>

#include <cutpoint/topology.h>
#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include "host/machine/hwloc_machine.h"
#include "host/machine/machine_facts.h"

namespace cutpoint {

namespace {

/// Returns the variables that are set and tell hwloc to look at something else, or in another way, as " by NAME, NAME".
std::string by_variables() {
  std::string names;
  for (const char* const name :
       {"HWLOC_XMLFILE", "HWLOC_SYNTHETIC", "HWLOC_FSROOT", "HWLOC_CPUID_PATH", "HWLOC_COMPONENTS"}) {
    if (std::getenv(name) != nullptr) names += (names.empty() ? " by " : ", ") + std::string(name);
  }
  return names;
}

}  // namespace

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
    const int error = errno;
    return status{
        status_code::backend_failure,
        fmt::format("hwloc cannot look at this machine{}: {}", by_variables(), std::generic_category().message(error)),
        error};
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

topology discover_topology() {
  topology known{.problem = {},
                 .processor_model = {},
                 .usable_processor_count = usable_processor_count(),
                 .cpu_quota = read_cpu_quota(),
                 .caches = {},
                 .numa_nodes = {},
                 .devices = {},
                 .instruction_sets = instruction_sets()};
  const auto loaded = load_machine(machine_detail::all);
  if (!loaded) {
    known.problem = loaded.error().message();
    known.processor_count = static_cast<std::uint64_t>(std::max(1L, ::sysconf(_SC_NPROCESSORS_ONLN)));
    return known;
  }
  hwloc_topology_t machine = loaded->get();
  known.processor_model = model_of(machine);
  known.package_count = count_of(machine, HWLOC_OBJ_PACKAGE);
  known.core_count = count_of(machine, HWLOC_OBJ_CORE);
  known.processor_count = count_of(machine, HWLOC_OBJ_PU);
  known.caches = caches_of(machine);
  known.numa_nodes = numa_nodes_of(machine);
  known.devices = devices_of(machine);
  return known;
}

std::uint64_t usable_processor_count() {
  cpu_set_t affinity;
  CPU_ZERO(&affinity);
  const bool is_known = ::sched_getaffinity(0, sizeof affinity, &affinity) == 0;
  return usable_processors(
      is_known ? static_cast<std::uint64_t>(CPU_COUNT(&affinity)) : std::thread::hardware_concurrency(),
      read_cpu_quota());
}

// /proc/self/cgroup names the group of the process in each hierarchy, and /proc/self/mountinfo says where it is mounted.

namespace {

enum class cgroup_version { one, two };

/// A mount of a hierarchy of control groups that may limit processor time.
struct hierarchy {
  cgroup_version version;
  std::string top;     ///< the group at the mount point
  std::string folder;  ///< the mount point
};

/// Returns whether a list such as "rw,cpu,cpuacct" has the word "cpu".
bool has_cpu(const std::string& list) { return ("," + list + ",").find(",cpu,") != std::string::npos; }

/// Replaces the octal escapes of spaces and the like.
std::string unescaped(const std::string& text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool is_escape = text[i] == '\\' && i + 3 < text.size();
    out += is_escape ? static_cast<char>(std::stoi(text.substr(i + 1, 3), nullptr, 8)) : text[i];
    if (is_escape) i += 3;
  }
  return out;
}

std::vector<hierarchy> hierarchies(const std::string& root) {
  constexpr std::ptrdiff_t top_field = 3;
  constexpr std::ptrdiff_t folder_field = 4;
  std::vector<hierarchy> mounted;
  std::ifstream mounts(root + "/proc/self/mountinfo");
  for (std::string line; std::getline(mounts, line);) {
    std::istringstream words(line);
    const std::vector<std::string> fields{std::istream_iterator<std::string>(words), {}};
    const auto dash = std::find(fields.begin(), fields.end(), "-");  // the type, the source and the options follow it
    if (dash - fields.begin() <= folder_field || fields.end() - dash < 4) continue;
    const bool is_first = dash[1] == "cgroup" && has_cpu(dash[3]);
    if (!is_first && dash[1] != "cgroup2") continue;
    mounted.push_back({.version = is_first ? cgroup_version::one : cgroup_version::two,
                       .top = unescaped(fields[top_field]),
                       .folder = root + unescaped(fields[folder_field])});
  }
  return mounted;
}

/// Returns the path of the process's group in the hierarchies of a version, or an empty string if it has none.
std::string own_group(const std::string& root, cgroup_version version) {
  std::ifstream groups(root + "/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {  // number:controllers:path
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    if (version == cgroup_version::two ? controllers.empty() : has_cpu(controllers)) return line.substr(second + 1);
  }
  return {};
}

/// Returns the limit that one group sets, in processors.
std::optional<double> limit_of(const std::string& folder, cgroup_version version) {
  std::ifstream quota_file(folder + (version == cgroup_version::two ? "/cpu.max" : "/cpu.cfs_quota_us"));
  std::ifstream period_file(folder + "/cpu.cfs_period_us");
  double quota = 0;
  double period = 0;
  quota_file >> quota;  // "max" is no number
  (version == cgroup_version::two ? quota_file : period_file) >> period;
  return quota > 0 && period > 0 ? std::optional(quota / period) : std::nullopt;
}

}  // namespace

std::optional<double> read_cpu_quota(const std::string& root) {
  std::optional<double> least;
  for (const hierarchy& each : hierarchies(root)) {
    std::string group = own_group(root, each.version);
    if (each.top != "/") {  // the groups above it are not visible
      const bool is_below = (group + '/').starts_with(each.top + '/');
      group = is_below ? group.substr(each.top.size()) : std::string();
    }
    if (group.starts_with("/..")) group.clear();  // outside of the process's namespace
    for (std::filesystem::path below = group;; below = below.parent_path()) {
      const bool is_top = !below.has_relative_path();
      const auto limit = limit_of(each.folder + (is_top ? "" : below.string()), each.version);
      if (limit) least = std::min(*limit, least.value_or(*limit));
      if (is_top) break;
    }
  }
  return least;
}

std::uint64_t usable_processors(std::uint64_t count, std::optional<double> quota) {
  const auto most = static_cast<double>(std::max<std::uint64_t>(count, 1));
  return static_cast<std::uint64_t>(std::clamp(std::ceil(quota.value_or(most)), 1.0, most));
}

// Looks PCI devices up in hwloc's topology, whose I/O objects hang below the processors and memory that they are near to.

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
