// Tests that threads and memory are placed as requested or not at all, and the order of processors on synthetic
// machines.
#include <numeric>

#include <cutpoint/bytes.h>
#include <cutpoint/placement.h>
#include <gmock/gmock.h>
#include <sched.h>
#include <sys/mman.h>

#include "host/machine/hwloc_machine.h"

namespace cutpoint::tests {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// Makes a synthetic machine with hwloc.
hwloc_machine synthetic(const char* description) {
  hwloc_topology_t raw = nullptr;
  EXPECT_EQ(hwloc_topology_init(&raw), 0);
  hwloc_machine topology(raw, &hwloc_topology_destroy);
  EXPECT_EQ(hwloc_topology_set_synthetic(raw, description), 0) << description;
  EXPECT_EQ(hwloc_topology_load(raw), 0);
  return topology;
}

std::vector<processor_place> places_of(const hwloc_machine& machine) {
  return ordered_places(machine.get(), hwloc_topology_get_topology_cpuset(machine.get()));
}

/// Returns the places of the processors in a list such as "0-3,8".
std::vector<processor_place> places_of(const hwloc_machine& machine, const char* usable) {
  const hwloc_set set(hwloc_bitmap_alloc(), &hwloc_bitmap_free);
  EXPECT_EQ(hwloc_bitmap_list_sscanf(set.get(), usable), 0);
  return ordered_places(machine.get(), set.get());
}

std::vector<unsigned> processors_of(const std::vector<processor_place>& places) {
  std::vector<unsigned> all;
  for (const processor_place& each : places) all.push_back(each.processor);
  return all;
}

std::vector<unsigned> members(const hwloc_set& set) {
  std::vector<unsigned> all;
  for (int i = hwloc_bitmap_first(set.get()); i >= 0; i = hwloc_bitmap_next(set.get(), i)) {
    all.push_back(static_cast<unsigned>(i));
  }
  return all;
}

TEST(places, are_one_of_each_core_first_and_then_the_siblings) {
  EXPECT_THAT(processors_of(places_of(synthetic("node:2 core:2 pu:2"))), ElementsAre(0, 2, 4, 6, 1, 3, 5, 7));
  EXPECT_THAT(processors_of(places_of(synthetic("node:1 core:2 pu:4"))), ElementsAre(0, 4, 1, 5, 2, 6, 3, 7));
}

/// Many systems number processors like this: first one of each core, then their siblings.
TEST(places, follow_the_machine_and_not_the_numbers) {
  const auto machine = synthetic("node:2 core:2 pu:2(indexes=0,4,1,5,2,6,3,7)");
  EXPECT_THAT(places_of(machine),
              ElementsAre(processor_place{0, 0, 0}, processor_place{1, 0, 0}, processor_place{2, 1, 0},
                          processor_place{3, 1, 0}, processor_place{4, 0, 1}, processor_place{5, 0, 1},
                          processor_place{6, 1, 1}, processor_place{7, 1, 1}));
}

TEST(places, are_only_those_that_may_be_used_and_a_sibling_alone_is_a_core) {
  const auto machine = synthetic("node:2 core:2 pu:2");
  EXPECT_THAT(processors_of(places_of(machine, "1-4,7")), ElementsAre(1, 2, 4, 7, 3));
  EXPECT_THAT(places_of(machine, "5"), ElementsAre(processor_place{5, 1, 0}));
  EXPECT_THAT(places_of(machine, "100"), IsEmpty());
}

TEST(places, near_to_a_node_are_those_that_may_be_used) {
  for (const int nodes : {2, 4, 8}) {
    const auto machine = synthetic(("node:" + std::to_string(nodes) + " core:4 pu:2").c_str());
    const auto places = places_of(machine);
    for (int node = 0; node < nodes; ++node) {
      std::vector<unsigned> expected(8);
      std::iota(expected.begin(), expected.end(), 8 * static_cast<unsigned>(node));
      EXPECT_EQ(members(processors_near(places, node)), expected);
    }
    EXPECT_THAT(members(processors_near(places, nodes)), IsEmpty());
    EXPECT_THAT(members(processors_near(places, -1)), IsEmpty());
  }
  const auto places = places_of(synthetic("package:2 node:2 core:2 pu:1"), "0,3,6-7");
  EXPECT_THAT(members(processors_near(places, 0)), ElementsAre(0));
  EXPECT_THAT(members(processors_near(places, 1)), ElementsAre(3));
  EXPECT_THAT(members(processors_near(places, 2)), IsEmpty());
  EXPECT_THAT(members(processors_near(places, 3)), ElementsAre(6, 7));
}

std::set<unsigned> affinity() {
  cpu_set_t set;
  CPU_ZERO(&set);
  EXPECT_EQ(::sched_getaffinity(0, sizeof set, &set), 0);
  std::set<unsigned> all;
  for (unsigned i = 0; i < CPU_SETSIZE; ++i) {
    if (CPU_ISSET(i, &set)) all.insert(i);
  }
  return all;
}

/// Runs `body` on a new thread, whose affinity no other code shares.
template <class Body>
void on_thread(Body body) {
  std::thread(body).join();
}

processor_places here() { return processor_places::discover().value(); }

TEST(processor_places, are_as_many_as_this_process_may_use) {
  const processor_places places = here();
  EXPECT_EQ(places.processor_count(), affinity().size());
  EXPECT_GE(places.core_count(), 1u);
  EXPECT_LE(places.core_count(), places.processor_count());
  EXPECT_EQ(places.node_of(places.processor_count()), -1);
}

/// Binds a thread for each processor by `bind(places, number)`. Returns all processors to which they are bound. If
/// `is_alone`, each must be bound to one.
template <class Bind>
std::set<unsigned> bound_by(Bind bind, bool is_alone) {
  const processor_places places = here();
  const std::set<unsigned> before = affinity();
  std::set<unsigned> bound;
  for (std::uint64_t number = 0; number < places.processor_count(); ++number) {
    on_thread([&] {
      const status outcome = bind(places, number);
      const std::set<unsigned> mine = affinity();
      EXPECT_EQ(outcome.code(), outcome.ok() ? status_code::ok : status_code::unavailable) << outcome.message();
      EXPECT_TRUE(outcome.ok() ? !is_alone || mine.size() == 1 : mine == before);
      bound.insert(mine.begin(), mine.end());
    });
  }
  EXPECT_EQ(affinity(), before) << "a thread beside them is bound";
  return bound;
}

TEST(processor_places, bind_each_thread_to_another_processor_or_to_those_of_a_node) {
  const auto to_processor = [](const processor_places& places, std::uint64_t n) { return places.bind_thread(n); };
  const auto to_node = [](const processor_places& places, std::uint64_t n) {
    return places.bind_thread_to_node(places.node_of(n));
  };
  EXPECT_EQ(bound_by(to_processor, true), affinity());
  EXPECT_EQ(bound_by(to_node, false), affinity());
}

TEST(processor_places, of_a_thread_that_is_confined_are_those_left_to_it) {
  const unsigned last = *affinity().rbegin();
  on_thread([&] {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(last, &one);
    ASSERT_EQ(::sched_setaffinity(0, sizeof one, &one), 0);
    const processor_places places = here();
    EXPECT_EQ(places.processor_count(), 1u);
    ASSERT_TRUE(places.bind_thread(0).ok());
    EXPECT_EQ(affinity(), std::set<unsigned>{last});
  });
}

TEST(processor_places, refuse_what_is_not_there_and_change_nothing) {
  const processor_places places = here();
  on_thread([&] {
    const std::set<unsigned> before = affinity();
    const status beyond = places.bind_thread(places.processor_count());
    EXPECT_EQ(beyond.code(), status_code::invalid_argument);
    EXPECT_THAT(beyond.message(), testing::StartsWith("there is no processor "));
    EXPECT_EQ(places.bind_thread_to_node(1000).message(), "this process may use no processor near to node 1000");
    EXPECT_EQ(places.bind_thread_to_node(-1).code(), status_code::invalid_argument);
    EXPECT_EQ(places.bind_memory(nullptr, 0, 1000).message(), "there is no memory node 1000");
    EXPECT_EQ(places.bind_memory(nullptr, 0, -1).code(), status_code::invalid_argument);
    EXPECT_EQ(affinity(), before);
  });
}

TEST(processor_places, bind_memory_that_then_works_or_say_why_not) {
  const processor_places places = here();
  constexpr std::size_t size = 1 * MiB;
  void* const memory = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  const int node = places.node_of(0);
  if (const status bound = places.bind_memory(memory, size, node); bound.ok()) {
    static_cast<std::uint8_t*>(memory)[0] = 1;
    const hwloc_machine machine = *load_machine(machine_detail::processors);
    const hwloc_set where(hwloc_bitmap_alloc(), &hwloc_bitmap_free);
    hwloc_membind_policy_t policy{};
    ASSERT_EQ(hwloc_get_area_membind(machine.get(), memory, size, where.get(), &policy, HWLOC_MEMBIND_BYNODESET), 0);
    EXPECT_EQ(policy, HWLOC_MEMBIND_BIND);
    EXPECT_THAT(members(where), ElementsAre(static_cast<unsigned>(node)));
  } else {
    EXPECT_EQ(bound.code(), status_code::unavailable) << bound.message();
  }
  std::fill_n(static_cast<std::uint8_t*>(memory), size, std::uint8_t{1});
  ::munmap(memory, size);
}

}  // namespace
}  // namespace cutpoint::tests
