// Placement: the processors on which threads run, and the memory nodes on which their memory lies.
#pragma once

#include <cstdint>
#include <memory>

#include <cutpoint/status.h>

namespace cutpoint {

/// The hardware threads that this process may use. They are numbered from 0: first one of each core, in the order in
/// which the cores lie in the machine, then the second of each core, and so on. Memory nodes have the numbers that the
/// operating system gives them.
///
/// A call that the system refuses, as it may in a container, returns an error and changes nothing. A processor_places
/// is movable. Any thread may call its members.
class processor_places {
 public:
  /// Finds the hardware threads that the calling thread may use now, given its affinity and its control group. Takes
  /// milliseconds. Errors: backend_failure, if hwloc cannot read the machine's topology.
  [[nodiscard]] static result<processor_places> discover();

  processor_places(processor_places&&) noexcept;
  processor_places& operator=(processor_places&&) noexcept;
  ~processor_places();

  /// Returns the number of hardware threads.
  [[nodiscard]] std::uint64_t processor_count() const noexcept;
  /// Returns the number of cores that these hardware threads belong to.
  [[nodiscard]] std::uint64_t core_count() const noexcept;
  /// Returns the memory node that is nearest to a hardware thread, or -1 if it is unknown or the number is out of
  /// range.
  [[nodiscard]] int node_of(std::uint64_t number) const noexcept;

  /// Binds the calling thread to one hardware thread. Errors: invalid_argument, if the number is out of range;
  /// unavailable, if the system refuses.
  [[nodiscard]] status bind_thread(std::uint64_t number) const;
  /// Binds the calling thread to the hardware threads near a memory node. Errors: invalid_argument, if this process may
  /// use no hardware thread near it; unavailable, if the system refuses.
  [[nodiscard]] status bind_thread_to_node(int node) const;
  /// Binds `byte_count` bytes of memory to a memory node. `begin` is at the beginning of a page. Pages that are first
  /// touched after this call come from that node as long as it has free memory. Pages that have been touched before do
  /// not move. Errors: invalid_argument, if the node does not exist; unavailable, if the system refuses.
  [[nodiscard]] status bind_memory(void* begin, std::uint64_t byte_count, int node) const;

 private:
  class hwloc_places;
  explicit processor_places(std::unique_ptr<hwloc_places> own) noexcept;

  std::unique_ptr<hwloc_places> implementation_;
};

}  // namespace cutpoint
