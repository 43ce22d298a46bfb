// Tests that the engine with a device finds the sequential cuts by every name of the catalog: with the host double, and with
// the first device, if there is one.
#include <gtest/gtest.h>

#include "tests/cuda/support/first_device.h"
#include "tests/host/algorithms/chunkers.h"
#include "tests/pipeline/support/device_feed.h"

namespace cutpoint::tests {
namespace {

class device_of_every_name : public testing::TestWithParam<std::string> {};

/// Feeds some streams, the first in several segments, and expects that the device cuts most of the bytes.
void expect_device_run(std::shared_ptr<const device_provider> devices, const chunker& cuts, std::uint64_t size) {
  const std::vector<std::vector<std::uint8_t>> streams = {
      mixed_stream(size, 8001), {}, mixed_stream(40'000, 8002), mixed_stream(1, 8003)};
  const feed_options options{
      .cuts = cuts, .fingerprint = fingerprint_kind::sha1, .segment_bytes = std::max(size / 5, 2 * cuts.reach())};
  const device_run run = run_on(std::move(devices), options, streams);
  expect_sequential(run, options, streams);
  EXPECT_EQ(run.statistics.device_warning, "");
  EXPECT_EQ(run.statistics.chunked_on, backend::cuda);
  EXPECT_EQ(run.statistics.fingerprinted_on == backend::cuda, cuts.reach() <= 256 * KiB);
  EXPECT_GT(run.statistics.device_bytes, size / 2);
}

#if defined(CUTPOINT_INTERPRETED_DEVICE)
/// An interpreter is slow.
TEST_P(device_of_every_name, cuts_as_sequentially_on_the_first_device) {
  const chunker cuts = cuda::small_chunker(*find_entry(GetParam()).value());
  if (cuts.reach() > 512 * KiB) return;
  expect_device_run(std::make_shared<const device_provider>(), cuts,
                    std::max<std::uint64_t>(200'000, 3 * cuts.reach()));
}
#else
TEST_P(device_of_every_name, cuts_as_sequentially) {
  const chunker cuts = chunker_of(GetParam());
  if (cuts.reach() > 256 * KiB) GTEST_SKIP() << "kernels are slow on the host; exactness is tested with small sizes";
  expect_device_run(std::make_shared<host_device>(), cuts, std::max<std::uint64_t>(1 * MiB, 2 * cuts.reach()) + 4321);
}

TEST_P(device_of_every_name, cuts_as_sequentially_on_the_first_device) {
  if (const std::string why = cuda::why_no_device(); !why.empty()) GTEST_SKIP() << why;
  const chunker cuts = chunker_of(GetParam());
  expect_device_run(std::make_shared<const device_provider>(), cuts,
                    std::max<std::uint64_t>(8 * MiB, 10 * cuts.reach()) + 4321);
}
#endif

INSTANTIATE_TEST_SUITE_P(of_the_catalog, device_of_every_name, testing::ValuesIn(catalog_names()), catalog_test_name);

}  // namespace
}  // namespace cutpoint::tests
