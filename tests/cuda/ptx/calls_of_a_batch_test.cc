// Tests how often a batch calls the runtime, since each call costs time beside the batch's work, and that kernels are not in
// the program many times.
#include <map>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "tests/cuda/ptx/device.h"
#include "tests/cuda/support/packed_streams.h"

namespace cutpoint::cuda {
namespace {

using ptx::device;
using ptx::device_call;

/// Fingerprints are SHA-1, and the kernels have been launched before. Beside copies, clearing and waits, 6 calls record the
/// batch's times, 5 read them, 2 record what is waited for, and 2 make the device current and the former one again.
TEST(calls, of_a_batch_are_few) {
  const auto stream = random_bytes(200'000, 1);
  packed_streams batch;
  batch.add(stream);
  const auto work = make_offload(0, small_gear(), fingerprint_kind::sha1, {.bytes = stream.size(), .stream_ranges = 1});
  ASSERT_TRUE(work.ok()) << work.error().message();
  batch_output output;
  ASSERT_TRUE((*work)->run(batch.input(), output).ok());
  std::map<device_call, int> counts;
  device::instance().plant({.lose = [&](device_call call) { return ++counts[call] == 0; }});
  ASSERT_TRUE((*work)->run(batch.input(), output).ok());
  const std::uint64_t calls = device::instance().calls;
  device::instance().plant({});
  EXPECT_EQ(counts[device_call::copy], 5);   // description and bytes in; counters, lengths and digests out
  EXPECT_EQ(counts[device_call::clear], 1);  // counters
  EXPECT_EQ(counts[device_call::wait], 2);   // for the counters, and for the results
  EXPECT_EQ(calls, 23u + 12u);               // with ten launches, a prefix sum and a sort
}

TEST(kernels, that_do_not_depend_on_the_cuts_are_in_the_program_once) {
  std::set<std::string> names;
  for (const auto& [function, code] : device::instance().kernels) {
    const bool is_for_any_cuts = code.name.find("cut_finder") == std::string::npos;
    EXPECT_TRUE(!is_for_any_cuts || names.insert(code.name).second) << code.name;
  }
  EXPECT_GT(names.size(), 10u);
}

}  // namespace
}  // namespace cutpoint::cuda
