// The executors on which tests run whole batches: the host double and the first device. Tests on the device are
// skipped, with the reason, if there is none.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/cuda/support/first_device.h"
#include "tests/cuda/support/host_offload.h"

namespace cutpoint::cuda {

/// An executor and the amount of testing on it.
struct executor_case {
  std::string name;
  std::string (*why_not)();
  result<std::unique_ptr<offload>> (*make)(const chunker&, const fingerprint_recipe&, const batch_limits&, offload_use);
  std::uint64_t rounds = 0;   ///< random cases of each algorithm
  std::uint64_t longest = 0;  ///< bytes of the longest random stream
};

inline std::vector<executor_case> executor_cases() {
  const auto always_there = [] { return std::string(); };
  const auto on_host = [](const chunker& cuts, const fingerprint_recipe& recipe, const batch_limits& limits,
                          offload_use use) {
    return make_host_offload({.order = thread_order::shuffled(3)}, cuts, recipe, limits, use);
  };
  const auto on_first_device = [](const chunker& cuts, const fingerprint_recipe& recipe, const batch_limits& limits,
                                  offload_use use) { return make_offload(0, cuts, recipe, limits, use); };
#if defined(CUTPOINT_INTERPRETED_DEVICE)
  return {{"interpreter", always_there, on_first_device, 40, 20'000}};
#endif
  return {{"host", always_there, on_host, 40, 20'000}, {"device", why_no_device, on_first_device, 100, 300'000}};
}

inline std::string executor_case_name(const testing::TestParamInfo<executor_case>& each) { return each.param.name; }

class executor_test : public testing::TestWithParam<executor_case> {
 protected:
  void SetUp() override {
    if (const std::string why = GetParam().why_not(); !why.empty()) GTEST_SKIP() << why;
  }

  /// Makes an offload for batches of up to `limits`. Fails the test and returns null on an error.
  static std::unique_ptr<offload> make(const chunker& cuts, const fingerprint_recipe& recipe,
                                       const batch_limits& limits, offload_use use = offload_use::cut) {
    auto offload = GetParam().make(cuts, recipe, limits, use);
    if (offload) return std::move(*offload);
    ADD_FAILURE() << cuts.canonical() << ": " << offload.error().message();
    return nullptr;
  }
};

/// Returns the fingerprints that devices can make, with BLAKE3 both with and without a key.
inline std::vector<fingerprint_recipe> device_recipes() {
  fingerprint_key key;
  key.fill(7);
  return {fingerprint_kind::sha1, fingerprint_kind::sha256, fingerprint_kind::blake3, {fingerprint_kind::blake3, key}};
}

}  // namespace cutpoint::cuda
