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

inline constexpr std::uint64_t all_others = std::numeric_limits<std::uint64_t>::max();

/// Runs `call` with more allocations granted each time, until it succeeds; gives the number of the granted ones. After
/// them the next `refused` ones fail. Each time one more is granted, and `growth` percent of those that were.
template <class Call>
int failures_of(Call&& call, std::uint64_t refused = all_others, int growth = 0) {
  for (int granted = 0;; granted += 1 + granted * growth / 100) {
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
    if (granted > 20'000) {
      ADD_FAILURE() << "it never succeeds";
      return granted;
    }
  }
}

}  // namespace cutpoint::tests
