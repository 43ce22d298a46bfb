// Tests that hwloc says to which memory node a PCI device is attached, on a machine that its XML describes.
#include "host/machine/pci_device.h"

#include <cstdio>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "host/machine/hwloc_machine.h"

namespace cutpoint::tests {
namespace {

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
