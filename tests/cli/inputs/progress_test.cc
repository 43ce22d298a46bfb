// The line of progress: what it says, and that it fits in 40 columns.
#include <gtest/gtest.h>

#include "cli/inputs/inputs.h"
#include "cli/store/reports.h"

namespace cutpoint::cli {
namespace {

TEST(progress, shows_the_share_and_the_time_left_where_the_total_is_known) {
  EXPECT_EQ(progress_text({.bytes = 256 * MiB, .total_bytes = 1 * GiB, .seconds = 2, .savings = 0.123}),
            "25 %, 6s left, 128 MiB/s, saves 12 %");
  EXPECT_EQ(progress_text({.bytes = 1 * GiB, .total_bytes = 1 * GiB, .seconds = 4}), "100 %, 0s left, 256 MiB/s");
  EXPECT_EQ(progress_text({.bytes = 2 * GiB, .total_bytes = 1 * GiB, .seconds = 4}), "100 %, 0s left, 512 MiB/s");
  EXPECT_EQ(progress_text({.total_bytes = 1 * GiB}), "0 %, 0 B/s");
}

TEST(progress, shows_the_bytes_where_it_is_not) {
  EXPECT_EQ(progress_text({.bytes = 256 * MiB, .seconds = 2, .savings = 1}), "256 MiB, 128 MiB/s, saves 100 %");
  EXPECT_EQ(progress_text({}), "0 B, 0 B/s");
}

TEST(progress, fits_in_40_columns) {
  for (std::uint64_t total = 1; total < std::uint64_t{1} << 55; total = total * 3 + 1) {
    for (std::uint64_t thousandths = 1; thousandths < 1000; thousandths += 7) {
      const auto bytes =
          static_cast<std::uint64_t>(static_cast<double>(total) / 1000 * static_cast<double>(thousandths));
      for (double seconds = 0.01; seconds < 1e6; seconds *= 1.7) {
        const std::string text =
            progress_text({.bytes = bytes, .total_bytes = total, .seconds = seconds, .savings = 0.99});
        const bool is_over_100_days = text.find("d left") != std::string::npos && text.find("d left") > 8;
        if (!is_over_100_days) {
          ASSERT_LE(text.size(), 40u) << text;
        }
      }
    }
  }
}

TEST(activity, shows_what_is_known) {
  EXPECT_EQ(activity_text({.activity = "reading"}, 0), "reading: 0");
  EXPECT_EQ(activity_text({.activity = "reading", .items = 2500}, 3), "reading: 2,500");
  EXPECT_EQ(activity_text({.activity = "reading", .items = 30, .total_items = 40, .name = "x\n"}, 3),
            "reading: 75 %, 1s left, 30 of 40, x\\x0a");
  EXPECT_EQ(activity_text({.activity = "restoring files",
                           .items = 3,
                           .total_items = 4,
                           .bytes = 256 * MiB,
                           .total_bytes = 1 * GiB,
                           .name = "/a"},
                          2),
            "restoring files: 25 %, 6s left, 128 MiB/s, 3 of 4, /a");
  EXPECT_EQ(activity_text({.activity = "copying", .items = 1, .bytes = 9, .total_bytes = 8}, 1),
            "copying: 100 %, 0s left, 9 B/s, 1");
}

}  // namespace
}  // namespace cutpoint::cli
