// Tests of the engine without memory: each allocation of a job is refused in turn, alone or with all that follow.
#include <limits>
#include <memory>
#include <new>
#include <tuple>

#include <gtest/gtest.h>

#include "pipeline/schedule/ring.h"
#include "tests/host/support/streams.h"
#include "tests/pipeline/faults/checking_receiver.h"
#include "tests/pipeline/support/device_feed.h"
#include "tests/simd/support/short_memory.h"

namespace cutpoint::tests {
namespace {

constexpr std::uint64_t all_that_follow = std::numeric_limits<std::uint64_t>::max();

class engines_without_memory : public testing::TestWithParam<std::tuple<backend, std::uint64_t, selecting>> {
 protected:
  void SetUp() override {
    expected_file file{.path = {}, .content = make_stream(content::mixed, 30'000, 1), .chunks = {}, .digests = {}};
    auto fingerprint = fingerprinter::make(job_.fingerprint).value();
    file.chunks = job_.cuts.find_cuts(file.content);
    for (const chunk& c : file.chunks) {
      file.digests.push_back(fingerprint(byte_span(file.content).subspan(c.offset, c.length)).value());
    }
    files_.push_back(std::move(file));
    job_.where = std::get<0>(GetParam());
  }

  status feed_to(checking_receiver& out) const {
    auto engine = engine_factory::make({.threads = 2}, std::make_shared<host_device>());
    if (!engine) return engine.error();
    auto feed = engine->open(job_, out);
    if (!feed) return feed.error();
    // A caller that continues after a failure gets the failure again.
    const status outcomes[] = {feed->begin(0), feed->write(files_[0].content), feed->end(), feed->finish()};
    for (const status& outcome : outcomes) {
      if (!outcome.ok()) return outcome;
    }
    return {};
  }

  feed_options job_ = {.cuts = *chunker::make(gear_parameters{.avg_bytes = 256, .min_bytes = 64, .max_bytes = 1024}),
                       .fingerprint = fingerprint_kind::blake3,
                       .segment_bytes = 4'000,
                       .batch_bytes = 8'000,
                       .memory_bytes = 300'000};
  std::vector<expected_file> files_;
};

TEST_P(engines_without_memory, say_so_and_give_nothing_wrong) {
  bool was_refused = true;
  for (std::uint64_t granted = 0; was_refused; granted += 1 + granted / (is_sanitized ? 6 : 20)) {
    cancellation stop;
    checking_receiver out(files_, checking_receiver::never, checking_receiver::never, stop, std::get<2>(GetParam()));
    status outcome;
    bool has_thrown = false;
    {
      const short_memory memory(granted, std::get<1>(GetParam()));
      try {
        outcome = feed_to(out);
      } catch (const std::bad_alloc&) {
        has_thrown = true;
      }
      was_refused = short_memory::has_refused();
    }
    ASSERT_EQ(out.fault(), nullptr) << out.fault() << ", from allocation " << granted << " on";
    if (has_thrown) continue;
    if (outcome.ok()) {
      ASSERT_TRUE(out.seen()[0].has_ended) << "from allocation " << granted << " on";
    } else {
      ASSERT_EQ(outcome.code(), status_code::memory_limit) << outcome.message();
      ASSERT_TRUE(was_refused);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(of_all, engines_without_memory,
                         testing::Combine(testing::Values(backend::scalar, backend::hybrid),
                                          testing::Values(1, all_that_follow),
                                          testing::Values(selecting::no, selecting::yes)));

TEST(kept_bytes, without_memory_are_an_error_and_no_exception) {
  const std::vector<std::uint8_t> bytes(100'000, 7);
  const auto memory_of_a_feed = std::make_shared<kept_memory>(bytes.size() + 1000);
  for (kept_memory* const memory : {static_cast<kept_memory*>(nullptr), memory_of_a_feed.get()}) {
    const delivered_chunk chunk{.length = bytes.size(), .bytes = bytes, .memory = memory};
    bool was_refused = true;
    std::uint64_t granted = 0;
    for (; was_refused; ++granted) {
      const short_memory shortage(granted);
      const auto copy = chunk.keep();
      was_refused = short_memory::has_refused();
      ASSERT_EQ(copy.ok(), !was_refused) << "from allocation " << granted << " on";
      if (was_refused) {
        EXPECT_EQ(copy.error().code(), status_code::memory_limit);
      }
    }
    EXPECT_GT(granted, 1u);
    EXPECT_TRUE(chunk.keep().ok()) << "what was refused still counts";
  }
}

TEST(kept_bytes, beyond_the_limit_are_an_error_even_without_memory_for_its_message) {
  const std::vector<std::uint8_t> bytes(100, 7);
  const auto memory = std::make_shared<kept_memory>(10);
  const delivered_chunk chunk{.length = bytes.size(), .bytes = bytes, .memory = memory.get()};
  const short_memory shortage(0);
  EXPECT_EQ(chunk.keep().error().code(), status_code::memory_limit);
}

}  // namespace
}  // namespace cutpoint::tests
