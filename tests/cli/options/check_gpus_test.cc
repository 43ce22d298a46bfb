// Devices that options name are refused if they are not there or cannot be used. Most machines have no GPU to show it with.
#include <gtest/gtest.h>

#include "cli/options/chunking_options.h"

namespace cutpoint::cli {
namespace {

TEST(check_gpus, names_the_option_the_number_and_how_many_there_are) {
  std::vector<gpu_info> two(2);
  two[1].index = 1;
  two[1].problem = "the second is too old";
  EXPECT_TRUE(check_gpus("--batch 8M", {0}, two).ok());
  EXPECT_EQ(check_gpus("--device 0,7", {0, 7}, two).message(),
            "--device 0,7: there is no GPU 7: this machine has 2, counted from 0");
  EXPECT_EQ(check_gpus("--device 1", {1}, two).message(), "--device 1: the second is too old");
  EXPECT_EQ(check_gpus("--device 0", {0}, status(status_code::unavailable, "no driver")).message(),
            "--device 0: there is no GPU to use: no driver");
}

}  // namespace
}  // namespace cutpoint::cli
