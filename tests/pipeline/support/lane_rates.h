// What the tests of calibration expect of measured rates.
#pragma once

#include <cmath>
#include <set>
#include <string>

#include <cutpoint/cost_model.h>
#include <gtest/gtest.h>

#include "tests/host/algorithms/made.h"

namespace cutpoint::tests {

inline job_costs rated_job(const std::string& name, fingerprint_kind kind) {
  return {.cuts = made(name), .fingerprint = kind, .mean_chunk_bytes = 8192, .devices = {}};
}

/// Returns the names of the algorithms that were measured.
inline std::set<std::string> names_of(const lane_rates& rates) {
  std::set<std::string> names;
  for (const cut_rate& each : rates.cuts) names.insert(each.name);
  return names;
}

inline void expect_positive(const lane_rates& rates) {
  for (const cut_rate& each : rates.cuts) {
    EXPECT_GT(each.bytes_per_second, 0) << each.cuts;
    EXPECT_TRUE(std::isfinite(each.bytes_per_second)) << each.cuts;
    EXPECT_GE(each.mean_bytes, 1) << each.cuts;
  }
  for (const fingerprint_rate& each : rates.fingerprints) {
    EXPECT_GT(each.bytes_per_second, 0) << static_cast<int>(each.kind) << ' ' << each.chunk_bytes;
    EXPECT_TRUE(std::isfinite(each.bytes_per_second));
  }
}

}  // namespace cutpoint::tests
