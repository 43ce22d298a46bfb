// Tests that the topology of this machine is plausible.
#include <algorithm>
#include <set>

#include <cutpoint/bytes.h>
#include <cutpoint/topology.h>
#include <gtest/gtest.h>

namespace cutpoint::tests {
namespace {

class this_machine : public testing::Test {
 protected:
  void SetUp() override {
    auto machine = discover_topology();
    ASSERT_TRUE(machine.ok()) << machine.error().message();
    machine_ = *std::move(machine);
  }
  topology machine_;
};

TEST_F(this_machine, has_processors_in_cores_in_packages) {
  EXPECT_GE(machine_.processor_count, 1u);
  EXPECT_GE(machine_.processor_count, machine_.core_count);
  EXPECT_GE(machine_.core_count, machine_.package_count);
}

TEST_F(this_machine, has_caches_from_the_core_outwards) {
  int level = 1;
  for (const cache_info& cache : machine_.caches) {
    EXPECT_GE(cache.level, level);
    level = cache.level;
    EXPECT_LE(level, 5);
    EXPECT_TRUE(cache.kind == "data" || cache.kind == "instruction" || cache.kind == "unified") << cache.kind;
    EXPECT_GE(cache.bytes, 1 * KiB);
    EXPECT_LE(cache.bytes, 64 * GiB);
    EXPECT_GE(cache.count, 1u);
    EXPECT_GE(cache.processor_count, 1u);
    EXPECT_LE(cache.processor_count, machine_.processor_count);
  }
}

TEST_F(this_machine, has_memory_nodes_with_numbers_of_their_own) {
  std::set<std::uint64_t> indices;
  for (const numa_node_info& node : machine_.numa_nodes) {
    EXPECT_TRUE(indices.insert(node.index).second) << node.index;
    EXPECT_LE(node.processor_count, machine_.processor_count);
  }
}

TEST_F(this_machine, has_devices_of_known_kinds_and_instruction_sets_named_once) {
  const std::set<std::string> kinds = {"block", "network", "gpu", "co-processor", "other"};
  for (const system_device& device : machine_.devices) EXPECT_TRUE(kinds.contains(device.kind)) << device.kind;
  const std::set<std::string> sets(machine_.instruction_sets.begin(), machine_.instruction_sets.end());
  EXPECT_EQ(sets.size(), machine_.instruction_sets.size());
}

TEST_F(this_machine, looks_the_same_twice) {
  const auto again = discover_topology();
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(again->processor_model, machine_.processor_model);
  EXPECT_EQ(again->core_count, machine_.core_count);
  EXPECT_EQ(again->caches.size(), machine_.caches.size());
  EXPECT_EQ(again->instruction_sets, machine_.instruction_sets);
}

}  // namespace
}  // namespace cutpoint::tests
