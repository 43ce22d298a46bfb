// Memory that can be made to run out: in a program that is linked with this, all that `operator new` and, where it was
// taken over, OpenSSL allocate.
#pragma once

#include <cstdint>
#include <limits>

namespace cutpoint::tests {

/// While there is one, allocations after the first `granted_count` are refused: `refused_count` of them, or all. Those of
/// every thread count.
///
/// One at a time.
class short_memory {
 public:
  explicit short_memory(std::uint64_t granted_count,
                        std::uint64_t refused_count = std::numeric_limits<std::uint64_t>::max());
  ~short_memory();
  short_memory(const short_memory&) = delete;
  short_memory& operator=(const short_memory&) = delete;

  /// Whether one was, since the last began.
  [[nodiscard]] static bool has_refused();

  /// Has OpenSSL allocate so too; false where it has allocated already.
  [[nodiscard]] static bool take_over_openssl();
};

}  // namespace cutpoint::tests
