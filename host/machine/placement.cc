// Binds threads and memory with hwloc. Binding a thread changes the affinity of that thread only.
#include <algorithm>
#include <cerrno>
#include <map>
#include <utility>

#include <cutpoint/placement.h>
#include <fmt/format.h>

#include "host/machine/hwloc_machine.h"

namespace cutpoint {

namespace {

hwloc_set empty_set() {
  hwloc_set set(hwloc_bitmap_alloc(), &hwloc_bitmap_free);
  if (!set) throw std::bad_alloc();
  return set;
}

hwloc_set set_of(unsigned number) {
  hwloc_set set = empty_set();
  hwloc_bitmap_set(set.get(), number);
  return set;
}

/// Converts the return value of an hwloc call that binds `what` to a status.
status outcome(int returned, const std::string& what) {
  if (returned == 0) return {};
  const int error = errno;
  return {status_code::unavailable, system_failure(what, "bound", error).message(), error};
}

}  // namespace

std::vector<processor_place> ordered_places(hwloc_topology_t machine, hwloc_const_bitmap_t usable) {
  std::vector<processor_place> places;
  std::map<hwloc_obj_t, unsigned> seen;  // number of usable hardware threads of each core
  for (hwloc_obj_t pu = nullptr; (pu = hwloc_get_next_obj_by_type(machine, HWLOC_OBJ_PU, pu)) != nullptr;) {
    if (hwloc_bitmap_isset(usable, pu->os_index) == 0) continue;
    auto* const core = hwloc_get_ancestor_obj_by_type(machine, HWLOC_OBJ_CORE, pu);
    places.push_back({.processor = pu->os_index,
                      .node = hwloc_bitmap_first(pu->nodeset),
                      .rank = seen[core == nullptr ? pu : core]++});
  }
  std::stable_sort(places.begin(), places.end(),
                   [](const processor_place& a, const processor_place& b) { return a.rank < b.rank; });
  return places;
}

hwloc_set processors_near(const std::vector<processor_place>& places, int node) {
  hwloc_set near = empty_set();
  for (const processor_place& each : places) {
    if (each.node == node && node >= 0) hwloc_bitmap_set(near.get(), each.processor);
  }
  return near;
}

class processor_places::hwloc_places {
 public:
  hwloc_places(hwloc_machine machine, std::vector<processor_place> places)
      : machine_(std::move(machine)), places_(std::move(places)) {}

  [[nodiscard]] const std::vector<processor_place>& places() const noexcept { return places_; }

  [[nodiscard]] status bind_thread(std::uint64_t number) const {
    if (number >= places_.size()) {
      return {status_code::invalid_argument,
              fmt::format("there is no processor {}; this process may use {}, counted from 0", number, places_.size())};
    }
    return bind_to(set_of(places_[number].processor), fmt::format("a thread to processor {}", number));
  }

  [[nodiscard]] status bind_thread_to_node(int node) const {
    const hwloc_set near = processors_near(places_, node);
    if (hwloc_bitmap_iszero(near.get()) != 0) {
      return {status_code::invalid_argument, fmt::format("this process may use no processor near to node {}", node)};
    }
    return bind_to(near, fmt::format("a thread to node {}", node));
  }

  [[nodiscard]] status bind_memory(void* begin, std::uint64_t byte_count, int node) const {
    if (node < 0 || hwloc_get_numanode_obj_by_os_index(machine_.get(), static_cast<unsigned>(node)) == nullptr) {
      return {status_code::invalid_argument, fmt::format("there is no memory node {}", node)};
    }
    const hwloc_set node_set = set_of(static_cast<unsigned>(node));
    return outcome(hwloc_set_area_membind(machine_.get(), begin, byte_count, node_set.get(), HWLOC_MEMBIND_BIND,
                                          HWLOC_MEMBIND_BYNODESET | HWLOC_MEMBIND_NOCPUBIND),
                   fmt::format("memory to node {}", node));
  }

 private:
  [[nodiscard]] status bind_to(const hwloc_set& processors, const std::string& what) const {
    return outcome(hwloc_set_cpubind(machine_.get(), processors.get(), HWLOC_CPUBIND_THREAD), what);
  }

  hwloc_machine machine_;
  std::vector<processor_place> places_;
};

processor_places::processor_places(std::unique_ptr<hwloc_places> own) noexcept : implementation_(std::move(own)) {}
processor_places::processor_places(processor_places&&) noexcept = default;
processor_places& processor_places::operator=(processor_places&&) noexcept = default;
processor_places::~processor_places() = default;

result<processor_places> processor_places::discover() {
  CUTPOINT_TRY(auto machine, load_machine(machine_detail::processors));
  const hwloc_set usable = empty_set();
  if (hwloc_get_cpubind(machine.get(), usable.get(), HWLOC_CPUBIND_THREAD) != 0) {  // unknown: take all that exist
    hwloc_bitmap_copy(usable.get(), hwloc_topology_get_allowed_cpuset(machine.get()));
  }
  auto places = ordered_places(machine.get(), usable.get());
  return processor_places(std::make_unique<hwloc_places>(std::move(machine), std::move(places)));
}

std::uint64_t processor_places::processor_count() const noexcept { return implementation_->places().size(); }

std::uint64_t processor_places::core_count() const noexcept {
  const auto& all = implementation_->places();
  return static_cast<std::uint64_t>(
      std::count_if(all.begin(), all.end(), [](const processor_place& each) { return each.rank == 0; }));
}

int processor_places::node_of(std::uint64_t number) const noexcept {
  const auto& all = implementation_->places();
  return number < all.size() ? all[number].node : -1;
}

status processor_places::bind_thread(std::uint64_t number) const { return implementation_->bind_thread(number); }
status processor_places::bind_thread_to_node(int node) const { return implementation_->bind_thread_to_node(node); }
status processor_places::bind_memory(void* begin, std::uint64_t byte_count, int node) const {
  return implementation_->bind_memory(begin, byte_count, node);
}

}  // namespace cutpoint
