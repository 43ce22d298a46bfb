// Simulates a lack of memory in a program that is linked with this, for `operator new` and, if it was taken over,
// OpenSSL.
#pragma once

#include <cstdint>
#include <limits>

namespace cutpoint::tests {

/// While an object of this type lives, allocations on any thread are refused after the first `granted_count`: the next
/// `refused_count` of them, or all.
///
/// Only one object may live at a time.
class short_memory {
 public:
  explicit short_memory(std::uint64_t granted_count,
                        std::uint64_t refused_count = std::numeric_limits<std::uint64_t>::max());
  ~short_memory();
  short_memory(const short_memory&) = delete;
  short_memory& operator=(const short_memory&) = delete;

  /// Returns whether an allocation was refused since the last object was made.
  [[nodiscard]] static bool has_refused();

  /// Makes OpenSSL allocate through this too. Returns false if OpenSSL has already allocated memory.
  [[nodiscard]] static bool take_over_openssl();
};

}  // namespace cutpoint::tests
