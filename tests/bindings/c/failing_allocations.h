// Calls whose allocations fail in turn.
#pragma once

#include <cstdint>
#include <limits>

#include <cutpoint/cutpoint.h>
#include <gtest/gtest.h>

#include "tests/simd/support/short_memory.h"

namespace cutpoint::tests {

inline bool says_no_memory(cutpoint_status code) {
  return code == CUTPOINT_OUT_OF_MEMORY || code == CUTPOINT_MEMORY_LIMIT;
}

/// Runs `call` with one more allocation granted each time, until it succeeds; gives how often it did not. After the
/// granted allocations the next `refused` ones fail.
template <class Call>
int failures_of(Call&& call, std::uint64_t refused = std::numeric_limits<std::uint64_t>::max()) {
  for (int granted = 0;; ++granted) {
    cutpoint_status code;
    {
      const short_memory memory(static_cast<std::uint64_t>(granted), refused);
      code = call();
    }
    if (!short_memory::has_refused()) {
      EXPECT_EQ(code, CUTPOINT_OK);
      return granted;
    }
    EXPECT_TRUE(code == CUTPOINT_OK || says_no_memory(code)) << code << " after " << granted;
    if (granted > 5000) {
      ADD_FAILURE() << "it never succeeds";
      return granted;
    }
  }
}

}  // namespace cutpoint::tests
