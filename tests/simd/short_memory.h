// Memory that can be made to run out: in a program that is linked with this, all that `operator new` and OpenSSL allocate.
#pragma once

#include <cstdint>

namespace cutpoint::tests {

/// While there is one, allocations after the first `granted_count` are refused.
///
/// One at a time, in programs of one thread.
class short_memory {
 public:
  explicit short_memory(std::uint64_t granted_count);
  ~short_memory();
  short_memory(const short_memory&) = delete;
  short_memory& operator=(const short_memory&) = delete;

  /// Whether one was, since the last began.
  [[nodiscard]] static bool has_refused();

  /// Has OpenSSL allocate so too; false where it has allocated already.
  [[nodiscard]] static bool take_over_openssl();
};

}  // namespace cutpoint::tests
