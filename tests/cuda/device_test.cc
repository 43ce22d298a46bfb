// The same cases on a real device. Skipped, with the reason, where there is none.
#include <array>
#include <numeric>

#include <gtest/gtest.h>

#include "cuda/backend.h"
#include "cuda/gear.h"
#include "tests/cuda/block_kernels.h"
#include "tests/cuda/examples.h"
#include "tests/cuda/gear_cases.h"
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

TEST_F(device, finds_the_candidates_of_the_scalar_loop) {
  constexpr gear_tuning tuned{};
  for (const std::size_t size : edge_lengths(gear_tile_bytes(tuned, tuned.threads_per_block))) {
    for (const content what : all_contents) {
      const test_stream stream(what, size, 1);
      const auto found = find_candidates({stream.bytes(), tables::fastcdc2020_gear64, top(5)}, 0);
      ASSERT_TRUE(found.ok()) << found.error().message();
      EXPECT_EQ(*found, scalar_candidates(stream.bytes(), top(5)))
          << size << " bytes of kind " << static_cast<int>(what);
    }
  }
}

TEST_F(device, ignores_alignment) {
  for (std::size_t offset = 0; offset <= 17; ++offset) {
    const test_stream stream(content::random, 300'000, offset);
    const auto found = gear_on_device(stream.bytes(), offset, top(8));
    ASSERT_TRUE(found.ok()) << found.error().message();
    EXPECT_EQ(*found, scalar_candidates(stream.bytes(), top(8))) << "offset " << offset;
  }
}

TEST_F(device, strides_over_more_tiles_than_fit_at_once) {
  const test_stream stream(content::random, 200'000'001, 0);
  const auto found = find_candidates({stream.bytes(), tables::fastcdc2020_gear64, top(13)}, 0);
  ASSERT_TRUE(found.ok()) << found.error().message();
  EXPECT_TRUE(*found == scalar_candidates(stream.bytes(), top(13)));
}

TEST_F(device, with_a_number_out_of_range_is_refused_by_name) {
  const auto found = find_candidates({{}, tables::fastcdc2020_gear64, top(13)}, 1000);
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.error().code(), status_code::invalid_argument);
  EXPECT_NE(found.error().message().find("1000"), std::string::npos) << found.error().message();
}

}  // namespace
}  // namespace cutpoint::cuda
