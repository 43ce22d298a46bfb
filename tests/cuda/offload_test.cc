// What a batch gives where a call of its machine fails. What it finds where none does is in machines_test.cc.
#include "cuda/offload.h"

#include <gtest/gtest.h>

#include "tests/cuda/support/host_offload.h"
#include "tests/cuda/support/packed_streams.h"

namespace cutpoint::cuda {
namespace {

/// Every call of the machine fails once, the first, the second and so on: the error comes out, and nothing is found.
TEST(offload, says_what_failed_whichever_call_it_is) {
  const auto stream = random_bytes(20'000, 1);
  packed_streams packed;
  packed.add(stream);
  for (const fingerprint_kind kind : {fingerprint_kind::none, fingerprint_kind::sha1, fingerprint_kind::blake3}) {
    for (int failing = 0;; ++failing) {
      int calls = 0;
      const auto fail_once = [&](machine_call) {
        return calls++ == failing ? status(status_code::backend_failure, "planted") : status();
      };
      status outcome;
      batch_output found;
      auto made = make_host_offload({.before = fail_once}, small_gear(), kind, {.bytes = 20'000, .pieces = 1});
      outcome = made ? (*made)->run(packed.input(), found) : made.error();
      if (calls <= failing) {
        EXPECT_TRUE(outcome.ok());
        EXPECT_GT(calls, 20);
        break;
      }
      EXPECT_EQ(outcome.message(), "planted") << "call " << failing;
      EXPECT_FALSE(found.is_complete);
    }
  }
}

}  // namespace
}  // namespace cutpoint::cuda
