// Where threads run and where memory lies: cores, and the nodes of memory that are near to them.
#pragma once

#include <cstdint>
#include <memory>

#include <cutpoint/status.h>

namespace cutpoint {

/// The hardware threads that this process may use, numbered from 0: first one of each core, core after core as they lie
/// beside each other, then the second of each, and so on. Nodes have the numbers that the operating system gives them.
///
/// What the system refuses (a container may forbid it) is an error and changes nothing. Movable; its members may be
/// called from any thread.
class processor_places {
 public:
  /// Those that the calling thread may use now: by its affinity, and by its control group. Errors: backend_failure, when
  /// hwloc cannot look at this machine; takes milliseconds.
  [[nodiscard]] static result<processor_places> discover();

  processor_places(processor_places&&) noexcept;
  processor_places& operator=(processor_places&&) noexcept;
  ~processor_places();

  /// Hardware threads.
  [[nodiscard]] std::uint64_t processor_count() const noexcept;
  /// Cores that have some of them.
  [[nodiscard]] std::uint64_t core_count() const noexcept;
  /// The node of memory that is near to a hardware thread; -1 where unknown, and for a number that is out of range.
  [[nodiscard]] int node_of(std::uint64_t number) const noexcept;

  /// From now on the calling thread runs on one hardware thread. Errors: invalid_argument, for a number that is out of
  /// range; unavailable.
  [[nodiscard]] status bind_thread(std::uint64_t number) const;
  /// From now on the calling thread runs on those near to a node. Errors: invalid_argument, where there are none;
  /// unavailable.
  [[nodiscard]] status bind_thread_to_node(int node) const;
  /// Pages from `begin` on (at a page's beginning) that are touched from now on are taken from a node as long as it has
  /// some; those that are there already stay where they are. Errors: invalid_argument, for a node that is not there;
  /// unavailable.
  [[nodiscard]] status bind_memory(void* begin, std::uint64_t byte_count, int node) const;

 private:
  class implementation;
  explicit processor_places(std::unique_ptr<implementation> held) noexcept;

  std::unique_ptr<implementation> implementation_;
};

}  // namespace cutpoint
