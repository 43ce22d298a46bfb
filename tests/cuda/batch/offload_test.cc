// Tests batches in which a call of the executor fails, or whose threads run in any order, and the measurement of the
// link. Other tests of batches are in executors_test.cc and known_chunks_test.cc.
#include "cuda/batch/offload.h"

#include <gtest/gtest.h>

#include "cuda/device/devices.h"
#include "cuda/device/measure_link.h"
#include "tests/cuda/support/first_device.h"
#include "tests/cuda/support/host_offload.h"
#include "tests/cuda/support/known_chunks.h"
#include "tests/cuda/support/packed_streams.h"

namespace cutpoint::cuda {
namespace {

/// Repeats `attempt` and makes the first call of its executor fail, then the second, and so on. `attempt` gets the
/// function that the executor calls before each call, and must return the failure.
template <class Attempt>
void expect_each_failure(Attempt attempt) {
  for (int failing = 0;; ++failing) {
    int calls = 0;
    const status outcome = attempt(
        [&](executor_call) { return calls++ == failing ? status(status_code::backend_failure, "planted") : status(); });
    if (calls <= failing) {
      EXPECT_TRUE(outcome.ok()) << outcome.message();
      EXPECT_GT(calls, 20);
      return;
    }
    EXPECT_EQ(outcome.message(), "planted") << "call " << failing;
  }
}

TEST(offload, says_what_failed_whichever_call_it_is) {
  const auto stream = random_bytes(20'000, 1);
  packed_streams packed;
  packed.add(stream);
  for (const fingerprint_kind kind : {fingerprint_kind::none, fingerprint_kind::sha1, fingerprint_kind::blake3}) {
    expect_each_failure([&](const auto& before) {
      batch_output output;
      auto offload = make_host_offload({.before = before}, small_gear(), kind, {.bytes = 20'000, .stream_ranges = 1});
      const status outcome = offload ? (*offload)->run(packed.input(), output) : offload.error();
      EXPECT_EQ(output.is_complete, outcome.ok());
      return outcome;
    });
  }
}

TEST(offload, says_what_failed_when_it_fingerprints) {
  known_chunks chunks(random_bytes(20'000, 1));
  chunks.add(3, 10'000);
  chunks.add(10'100, 1'000);
  for (const fingerprint_kind kind : {fingerprint_kind::sha1, fingerprint_kind::blake3}) {
    expect_each_failure([&](const auto& before) {
      chunk_output output;
      auto offload = make_host_offload({.before = before}, small_gear(), kind, {.bytes = 20'000, .chunks = 2},
                                       offload_use::fingerprint);
      const status outcome = offload ? (*offload)->fingerprint(chunks.input(), output) : offload.error();
      EXPECT_EQ(output.digests.empty(), !outcome.ok());
      return outcome;
    });
  }
}

TEST(offload, fingerprints_in_whatever_order_threads_come) {
  tests::seeded_choices random(4);
  known_chunks chunks(random_bytes(60'000, 4));
  chunks.draw(random);
  for (const auto& order : {thread_order::forward(), thread_order::reversed(), thread_order::shuffled(5)}) {
    for (const fingerprint_kind kind : {fingerprint_kind::sha1, fingerprint_kind::sha256, fingerprint_kind::blake3}) {
      const auto host_offload = make_host_offload({.order = order, .block_count = 3, .thread_count = 96}, small_gear(),
                                                  kind, {.bytes = 60'000}, offload_use::fingerprint);
      ASSERT_TRUE(host_offload.ok());
      chunk_output output;
      ASSERT_TRUE((*host_offload)->fingerprint(chunks.input(), output).ok());
      const auto expected = chunks.digests(kind);
      EXPECT_TRUE(std::equal(output.digests.begin(), output.digests.end(), expected.begin(), expected.end()));
    }
  }
}

TEST(offload, says_which_memory_is_near_to_its_device) {
  const batch_limits limits{.bytes = 100};
  EXPECT_EQ((*make_host_offload({.numa_node = 3}, small_gear(), fingerprint_kind::none, limits))->numa_node(), 3);
  EXPECT_EQ((*make_host_offload({}, small_gear(), fingerprint_kind::none, limits))->numa_node(), -1);
}

void expect_plausible(const link_rates& rates) {
  for (const double rate : {rates.in, rates.out, rates.in_duplex, rates.out_duplex}) {
    EXPECT_GT(rate, 1e6);
    EXPECT_LT(rate, 1e15);
  }
  EXPECT_GT(rates.launch_seconds, 0);
  EXPECT_LT(rates.launch_seconds, 1);
}

TEST(link, of_a_machine_is_measured_both_ways_or_why_not_is_said) {
  const link_measurement how{.copy_bytes = 1 * MiB, .samples = 3, .launches = 3};
  expect_each_failure([&](const auto& before) {
    const host_executor_options options{.before = before};
    const auto rates = link_of<host_executor>::measure(host_executor(options), host_executor(options), how);
    if (rates) expect_plausible(*rates);
    return rates ? status() : rates.error();
  });
}

TEST(link, of_a_device_that_cannot_be_used_is_an_error) {
  const auto rates = measure_link(-1);
  ASSERT_FALSE(rates.ok());
  EXPECT_FALSE(rates.error().message().empty());
}

using device_link = on_first_device;

TEST_F(device_link, is_measured) {
  const auto rates = measure_link(0);
  ASSERT_TRUE(rates.ok()) << rates.error().message();
  expect_plausible(*rates);
}

}  // namespace
}  // namespace cutpoint::cuda
