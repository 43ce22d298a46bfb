// The device that tests use where there is one: number 0.
#pragma once

#include <string>

#include <gtest/gtest.h>

#include "cuda/device/devices.h"

namespace cutpoint::cuda {

/// Empty, or the sentence that says why there is no device to test on.
inline std::string why_no_device() {
  const status here = check_device(0);
  return here.ok() ? std::string() : here.message();
}

/// Tests that are skipped, with that sentence, where there is none.
class on_first_device : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = why_no_device(); !why.empty()) GTEST_SKIP() << why;
  }
};

}  // namespace cutpoint::cuda
