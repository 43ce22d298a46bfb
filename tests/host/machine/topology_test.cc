// Tests the topology of this machine, CPU quotas and the memory nodes of devices.
#include <cstdio>
#include <cstdlib>

#include <cutpoint/bytes.h>
#include <cutpoint/placement.h>
#include <cutpoint/topology.h>
#include <gmock/gmock.h>

#include "host/machine/hwloc_machine.h"
#include "host/machine/machine_facts.h"
#include "tests/host/io/temporary_folder.h"

namespace cutpoint::tests {
namespace {

TEST(this_machine, is_plausible_and_looks_the_same_twice) {
  const topology machine = discover_topology();
  ASSERT_EQ(machine.problem, "");
  EXPECT_GE(machine.processor_count, 1u);
  EXPECT_GE(machine.processor_count, machine.core_count);
  EXPECT_GE(machine.core_count, machine.package_count);
  int level = 1;
  for (const cache_info& cache : machine.caches) {
    EXPECT_GE(cache.level, std::exchange(level, cache.level)) << "from the core outwards";
    EXPECT_THAT(cache.kind, testing::AnyOf("data", "instruction", "unified"));
    EXPECT_TRUE(cache.bytes >= 1 * KiB && cache.bytes <= 64 * GiB && cache.count >= 1) << cache.bytes;
    EXPECT_TRUE(cache.processor_count >= 1 && cache.processor_count <= machine.processor_count);
  }
  std::set<std::uint64_t> indices;
  for (const numa_node_info& node : machine.numa_nodes) EXPECT_TRUE(indices.insert(node.index).second) << node.index;
  for (const system_device& device : machine.devices) {
    EXPECT_THAT(device.kind, testing::AnyOf("block", "network", "gpu", "co-processor", "other"));
  }
  const std::set<std::string> sets(machine.instruction_sets.begin(), machine.instruction_sets.end());
  EXPECT_EQ(sets.size(), machine.instruction_sets.size());
  const topology again = discover_topology();
  EXPECT_EQ(again.processor_model, machine.processor_model);
  EXPECT_EQ(again.caches.size(), machine.caches.size());
  EXPECT_EQ(again.instruction_sets, machine.instruction_sets);
}

/// While it lives, a variable of the environment has this value, or is not set if that is null.
class with_variable {
 public:
  with_variable(const char* name, const char* value) : name_(name) {
    if (const char* const before = std::getenv(name)) before_ = before;
    set(value);
  }
  with_variable(const with_variable&) = delete;
  with_variable& operator=(const with_variable&) = delete;
  ~with_variable() { set(before_ ? before_->c_str() : nullptr); }

 private:
  void set(const char* value) const { value != nullptr ? ::setenv(name_, value, 1) : ::unsetenv(name_); }

  const char* name_;
  std::optional<std::string> before_;
};

TEST(this_machine, is_counted_where_hwloc_is_told_to_look_at_what_it_cannot_read) {
  const temporary_folder folder;
  const std::vector<std::string> sets = discover_topology().instruction_sets;
  const std::string truncated = "<?xml version=\"1.0\"?>\n<topology version=\"2.0\"><object type=\"Machine\"";
  const with_variable unset("HWLOC_COMPONENTS", nullptr);  // before which hwloc ignores the other
  for (const std::string& description :
       {folder.path(), folder.make_file("text.xml", "no description of a machine"),
        folder.make_file("truncated.xml", truncated), folder.make_file("empty.xml", "")}) {
    const with_variable told("HWLOC_XMLFILE", description.c_str());
    const topology machine = discover_topology();
    EXPECT_THAT(machine.problem, testing::StartsWith("hwloc cannot look at this machine by HWLOC_XMLFILE"))
        << description;
    EXPECT_GE(machine.processor_count, 1u);
    EXPECT_EQ(machine.usable_processor_count, usable_processor_count());
    EXPECT_EQ(machine.instruction_sets, sets);
    const auto places = processor_places::discover();
    ASSERT_FALSE(places.ok());
    EXPECT_EQ(places.error().message(), machine.problem);
  }
}

// The CPU quota, on made trees of control groups.

constexpr std::string_view version_one_mount =
    "30 23 0:26 / /proc rw - proc proc rw\n"
    "33 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,relatime shared:9 - cgroup cgroup rw,cpu,cpuacct\n"
    "34 31 0:30 / /sys/fs/cgroup/cpuset rw,relatime - cgroup cgroup rw,cpuset\n";
constexpr std::string_view version_two_mount = "29 23 0:26 / /sys/fs/cgroup rw shared:4 - cgroup2 cgroup2 rw\n";

class cpu_quota : public testing::Test {
 protected:
  /// Makes the files of /proc.
  void describe_process(std::string_view groups, std::string_view mounts) const {
    root_.make_file("proc/self/cgroup", groups);
    root_.make_file("proc/self/mountinfo", mounts);
  }
  void limit_version_one(const std::string& group, std::string_view quota) const {
    const std::string folder = "sys/fs/cgroup/cpu,cpuacct" + group;
    root_.make_file(folder + "/cpu.cfs_quota_us", quota);
    root_.make_file(folder + "/cpu.cfs_period_us", "100000\n");
  }
  [[nodiscard]] std::optional<double> quota() const { return read_cpu_quota(root_.path()); }

  const temporary_folder root_;
};

TEST_F(cpu_quota, is_read_in_version_one) {
  describe_process("4:cpuset:/other\n3:cpu,cpuacct:/docker/abc\n0::/\n", version_one_mount);
  EXPECT_EQ(quota(), std::nullopt);
  limit_version_one("/docker/abc", "-1\n");
  EXPECT_EQ(quota(), std::nullopt);
  limit_version_one("/docker/abc", "50000\n");
  EXPECT_EQ(quota(), 0.5);
}

TEST_F(cpu_quota, is_read_in_version_two_with_spaces_in_names) {
  describe_process("0::/user.slice/my job\n", "29 23 0:26 / /sys/my\\040groups rw - cgroup2 cgroup2 rw\n");
  EXPECT_EQ(quota(), std::nullopt);
  root_.make_file("sys/my groups/user.slice/my job/cpu.max", "max 100000\n");
  EXPECT_EQ(quota(), std::nullopt);
  root_.make_file("sys/my groups/user.slice/my job/cpu.max", "150000 100000\n");
  EXPECT_EQ(quota(), 1.5);
}

TEST_F(cpu_quota, is_the_least_of_the_groups_above) {
  describe_process("0::/a/b/c\n", version_two_mount);
  root_.make_file("sys/fs/cgroup/a/b/c/cpu.max", "400000 100000\n");
  root_.make_file("sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
  root_.make_file("sys/fs/cgroup/a/cpu.max", "25000 10000\n");
  EXPECT_EQ(quota(), 2.5);
  root_.make_file("sys/fs/cgroup/cpu.max", "200000 100000\n");
  EXPECT_EQ(quota(), 2);
}

TEST_F(cpu_quota, is_the_least_of_both_versions) {
  describe_process("3:cpu,cpuacct:/one\n0::/two\n",
                   std::string(version_one_mount) + "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n");
  limit_version_one("/one", "300000\n");
  EXPECT_EQ(quota(), 3);
  root_.make_file("sys/fs/cgroup/unified/two/cpu.max", "200000 100000\n");
  EXPECT_EQ(quota(), 2);
}

TEST_F(cpu_quota, is_read_where_only_the_own_group_is_mounted) {
  describe_process("3:cpu,cpuacct:/docker/abc/inner\n",
                   "33 31 0:29 /docker/abc /sys/fs/cgroup/cpu,cpuacct ro - cgroup cgroup rw,cpu,cpuacct\n");
  limit_version_one("", "200000\n");
  EXPECT_EQ(quota(), 2);
  limit_version_one("/inner", "100000\n");
  EXPECT_EQ(quota(), 1);
}

TEST_F(cpu_quota, is_that_of_the_mount_where_the_own_group_is_not_visible) {
  root_.make_file("sys/fs/cgroup/cpu.max", "70000 100000\n");
  describe_process("0::/../elsewhere\n", version_two_mount);
  EXPECT_EQ(quota(), 0.7);
  describe_process("0::/elsewhere\n", "29 23 0:26 /pod /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
  EXPECT_EQ(quota(), 0.7);
}

TEST_F(cpu_quota, is_unknown_without_control_groups_and_with_malformed_files) {
  EXPECT_EQ(quota(), std::nullopt);
  describe_process("0::/\nnonsense\n3:cpu", "29 23 - cgroup2\n\n-\n29 23 0:26 / /sys rw - cgroup2\n");
  EXPECT_EQ(quota(), std::nullopt);
  describe_process("0::/\n", version_two_mount);
  for (const std::string_view content : {"", "nonsense\n", "-1 100000\n", "100000\n", "100000 0\n"}) {
    root_.make_file("sys/fs/cgroup/cpu.max", content);
    EXPECT_EQ(quota(), std::nullopt) << content;
  }
}

TEST(usable_processors, are_rounded_up_and_at_least_one) {
  EXPECT_EQ(usable_processors(8, std::nullopt), 8u);
  EXPECT_EQ(usable_processors(8, 0.001), 1u);
  EXPECT_EQ(usable_processors(8, 0.5), 1u);
  EXPECT_EQ(usable_processors(8, 1), 1u);
  EXPECT_EQ(usable_processors(8, 1.1), 2u);
  EXPECT_EQ(usable_processors(8, 8), 8u);
  EXPECT_EQ(usable_processors(8, 1e30), 8u);
}

// hwloc says to which memory node a PCI device is attached, on a machine that its XML describes.

/// Two packages with a memory node each. GPU 0000:17:00.0 is attached to the first, 0000:9b:00.0 to the second, and
/// 0001:01:00.0 to no package.
constexpr std::string_view two_nodes = R"(<?xml version="1.0" encoding="UTF-8"?>
<topology version="2.0">
  <object type="Machine" os_index="0" cpuset="0x3" complete_cpuset="0x3" allowed_cpuset="0x3"
      nodeset="0x3" complete_nodeset="0x3" allowed_nodeset="0x3" gp_index="1">
    <object type="Package" os_index="0" cpuset="0x1" complete_cpuset="0x1" nodeset="0x1" complete_nodeset="0x1" gp_index="2">
      <object type="NUMANode" os_index="0" cpuset="0x1" complete_cpuset="0x1" nodeset="0x1" complete_nodeset="0x1" gp_index="3"/>
      <object type="PU" os_index="0" cpuset="0x1" complete_cpuset="0x1" nodeset="0x1" complete_nodeset="0x1" gp_index="4"/>
      <object type="PCIDev" gp_index="5" pci_busid="0000:17:00.0" pci_type="0302 [10de:2330] [10de:16c1] a1" pci_link_speed="3.94"/>
    </object>
    <object type="Package" os_index="1" cpuset="0x2" complete_cpuset="0x2" nodeset="0x2" complete_nodeset="0x2" gp_index="6">
      <object type="NUMANode" os_index="1" cpuset="0x2" complete_cpuset="0x2" nodeset="0x2" complete_nodeset="0x2" gp_index="7"/>
      <object type="PU" os_index="1" cpuset="0x2" complete_cpuset="0x2" nodeset="0x2" complete_nodeset="0x2" gp_index="8"/>
      <object type="PCIDev" gp_index="9" pci_busid="0000:9b:00.0" pci_type="0302 [10de:2330] [10de:16c1] a1" pci_link_speed="3.94"/>
    </object>
    <object type="PCIDev" gp_index="10" pci_busid="0001:01:00.0" pci_type="0302 [10de:2330] [10de:16c1] a1" pci_link_speed="3.94"/>
  </object>
</topology>)";

hwloc_machine loaded(hwloc_type_filter_e pci_filter) {
  hwloc_topology_t raw = nullptr;
  EXPECT_EQ(hwloc_topology_init(&raw), 0);
  hwloc_machine machine(raw, &hwloc_topology_destroy);
  const std::string description(two_nodes);
  EXPECT_EQ(hwloc_topology_set_xmlbuffer(raw, description.c_str(), static_cast<int>(description.size()) + 1), 0);
  hwloc_topology_set_type_filter(raw, HWLOC_OBJ_PCI_DEVICE, pci_filter);
  EXPECT_EQ(hwloc_topology_load(raw), 0);
  return machine;
}

TEST(pci_devices, are_near_to_the_memory_node_of_their_package) {
  const hwloc_machine machine = loaded(HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
  EXPECT_EQ(node_of_pci_device(machine.get(), "0000:17:00.0"), 0);
  EXPECT_EQ(node_of_pci_device(machine.get(), "0000:9b:00.0"), 1);
}

TEST(pci_devices, have_no_node_if_several_are_as_near_or_none_is_known) {
  const hwloc_machine machine = loaded(HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
  EXPECT_EQ(node_of_pci_device(machine.get(), "0001:01:00.0"), -1);
  EXPECT_EQ(node_of_pci_device(machine.get(), "0000:18:00.0"), -1);
  EXPECT_EQ(node_of_pci_device(machine.get(), "no bus"), -1);
  EXPECT_EQ(node_of_pci_device(loaded(HWLOC_TYPE_FILTER_KEEP_NONE).get(), "0000:17:00.0"), -1);
}

TEST(pci_devices, of_this_machine_are_those_that_hwloc_lists) {
  const auto machine = load_machine(machine_detail::pci_devices);
  ASSERT_TRUE(machine) << machine.error().message();
  for (hwloc_obj_t device = nullptr; (device = hwloc_get_next_pcidev(machine->get(), device)) != nullptr;) {
    char bus_id[32];
    const auto& at = device->attr->pcidev;
    std::snprintf(bus_id, sizeof bus_id, "%04x:%02x:%02x.%01x", at.domain, at.bus, at.dev, at.func);
    EXPECT_EQ(node_of_pci_device(std::string(bus_id)), node_of_pci_device(machine->get(), bus_id)) << bus_id;
  }
  EXPECT_EQ(node_of_pci_device("ffff:ff:1f.0"), -1);
}

}  // namespace
}  // namespace cutpoint::tests
