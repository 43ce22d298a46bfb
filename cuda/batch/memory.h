// The two ways in which a workspace gets its arrays: each allocated apart, or all laid out in one piece of memory. Both have
// `add<T>(count)`, which returns an uninitialised array of a trivial type.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <cutpoint/status.h>

namespace cutpoint::cuda {

/// Arrays that are allocated on an executor one by one, so that a kernel that leaves its array is found. They are freed with
/// this object.
template <class Executor>
class allocated_arrays {
 public:
  /// Allocates on the executor while it exists. After a failure nothing more is allocated.
  class allocator {
   public:
    allocator(Executor& executor, allocated_arrays& all) : executor_(executor), all_(all) {}

    template <class T>
    [[nodiscard]] T* add(std::size_t count) {
      if (!outcome_.ok()) return nullptr;
      auto memory = executor_.template allocate<std::uint8_t>(count * sizeof(T));
      if (!memory) {
        static_cast<void>(outcome_ = memory.error());  // nvcc warns of the value of a nodiscard type
        return nullptr;
      }
      return reinterpret_cast<T*>(all_.arrays_.emplace_back(std::move(*memory)).data());
    }
    /// The first failure. All arrays are null from then on.
    [[nodiscard]] const status& outcome() const { return outcome_; }

   private:
    Executor& executor_;
    allocated_arrays& all_;
    status outcome_;
  };

 private:
  std::vector<typename Executor::template array<std::uint8_t>> arrays_;
};

/// Arrays that follow each other in one piece of memory, which belongs to the caller. Without memory it says how many bytes
/// they take, and all arrays are null.
class array_layout {
 public:
  /// Of the memory, and of each array.
  static constexpr std::size_t alignment = 256;

  explicit array_layout(void* memory = nullptr) : memory_(static_cast<std::uint8_t*>(memory)) {}

  template <class T>
  [[nodiscard]] T* add(std::size_t count) {
    const std::size_t begin = (byte_count_ + alignment - 1) / alignment * alignment;
    byte_count_ = begin + count * sizeof(T);
    return memory_ == nullptr ? nullptr : reinterpret_cast<T*>(memory_ + begin);
  }
  [[nodiscard]] std::size_t byte_count() const { return byte_count_; }

 private:
  std::uint8_t* memory_;
  std::size_t byte_count_ = 0;
};

}  // namespace cutpoint::cuda
