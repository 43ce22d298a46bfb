// The same cases on a real device. Skipped, with the reason, where there is none.
#include <gtest/gtest.h>

#include "cuda/backend.h"
#include "tests/cuda/block_kernels.h"
#include "tests/cuda/examples.h"
#include "tests/cuda/on_device.h"

namespace cutpoint::cuda {
namespace {

class device : public testing::Test {
 protected:
  void SetUp() override {
    const auto found = devices();
    if (!found) GTEST_SKIP() << found.error().message();
    if (!found->front().problem.empty()) GTEST_SKIP() << found->front().problem;
  }
};

TEST_F(device, runs_kernel_bodies_as_the_host_does) {
  const auto in = example_input();
  for (const example which : {example::reverse, example::rotate, example::warp}) {
    const auto out = run_on_device(which, in);
    ASSERT_TRUE(out.ok()) << out.error().message();
    EXPECT_EQ(*out, example_expected(which, in)) << "example " << static_cast<int>(which);
  }
}

}  // namespace
}  // namespace cutpoint::cuda
