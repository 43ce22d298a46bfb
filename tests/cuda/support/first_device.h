// The device on which tests run: number 0.
#pragma once

#include <string>

#include <cutpoint/catalog.h>
#include <cutpoint/chunk_sizes.h>
#include <gtest/gtest.h>

#include "cuda/device/devices.h"

namespace cutpoint::cuda {

/// Returns why there is no device to test on, or an empty string.
inline std::string why_no_device() {
  const status here = check_device(0);
  return here.ok() ? std::string() : here.message();
}

/// A test that is skipped, with the reason, if there is no device.
class on_first_device : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = why_no_device(); !why.empty()) GTEST_SKIP() << why;
  }
};

/// The chunker of a name of the catalog with chunks of 256 bytes to 8 KiB, or of its own sizes if it does not take these.
inline chunker small_chunker(const catalog_entry& entry) {
  const result<chunker> sized = chunker_at(entry.name, size_settings("256:1K:8K").value());
  return sized ? *sized : entry.defaults;
}

}  // namespace cutpoint::cuda
