// Tests that a stream stops at an error of its source or sink or at a cancellation, with that status, after the right
// chunks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/host/algorithms/chunkers.h"
#include "tests/host/core/read_sizes.h"
#include "tests/host/support/streams.h"

namespace cutpoint::tests {
namespace {

class cut_stream_failure : public testing::Test {
 protected:
  seeded_choices random_{7301};
  chunker chunker_ = chunker_of("gear", "min_bytes=64,avg_bytes=256,max_bytes=1024");
  std::vector<std::uint8_t> stream_ = make_stream(content::random, 700'000, random_);
  std::vector<chunk> expected_ = chunker_.find_cuts(stream_);
};

TEST_F(cut_stream_failure, of_the_source_comes_back_after_right_chunks) {
  for (const std::uint64_t count : {0u, 1u, 63u, 1023u, 1024u, 1025u, 200'000u, 650'000u, 700'000u}) {
    for (const read_sizes& sizes : {always(1000), primes(), whole()}) {
      piecewise_source source(stream_, sizes);
      source.fail_after(count, system_failure("tape", "read", EIO));
      const cut_outcome cut = cut_all(source, chunker_, stream_);
      EXPECT_EQ(cut.outcome.code(), status_code::io_error);
      EXPECT_EQ(cut.outcome.system_error(), EIO);
      EXPECT_EQ(cut.outcome.message(), "tape: cannot be read: Input/output error");
      EXPECT_TRUE(are_first_of(cut.chunks, expected_)) << "after " << count << " bytes";
      EXPECT_TRUE(cut.are_bytes_right);
      EXPECT_EQ(source.delivered_bytes(), count);
    }
  }
}

TEST_F(cut_stream_failure, of_the_source_comes_after_every_chunk_that_was_decided) {
  for (const std::uint64_t count : {0u, 1u, 64u, 65u, 1024u, 5000u, 400'000u, 699'999u}) {
    for (const std::uint64_t memory : {1024u, 2048u, 1u << 28}) {
      piecewise_source source(stream_, primes());
      source.fail_after(count, system_failure("tape", "read", EIO));
      const cut_outcome cut = cut_all(source, chunker_, stream_, {.memory_bytes = memory});
      const auto decided = std::count_if(expected_.begin(), expected_.end(), [&](const chunk& c) {
        return c.offset + c.length + chunker_.lookahead() < count;
      });
      EXPECT_GE(cut.chunks.size(), static_cast<std::size_t>(decided)) << "after " << count << " bytes";
    }
  }
}

TEST_F(cut_stream_failure, of_the_source_is_not_asked_for_twice) {
  piecewise_source source(stream_, always(1000));
  source.fail_after(5000, system_failure("tape", "read", EIO));
  EXPECT_FALSE(cut_all(source, chunker_, stream_).outcome.ok());
  EXPECT_EQ(source.read_count(), 6u);
}

TEST_F(cut_stream_failure, of_the_sink_comes_back_at_once) {
  for (const std::size_t last : {std::size_t{0}, std::size_t{1}, std::size_t{1000}, expected_.size() - 1}) {
    piecewise_source source(stream_, primes());
    std::vector<chunk> chunks_taken;
    const status outcome = cut_stream(source, chunker_, {}, [&](const chunk& where, byte_span) -> status {
      chunks_taken.push_back(where);
      return chunks_taken.size() <= last ? status() : status(status_code::backend_failure, "the store is full", 28);
    });
    EXPECT_EQ(outcome.code(), status_code::backend_failure);
    EXPECT_EQ(outcome.message(), "the store is full");
    EXPECT_EQ(outcome.system_error(), 28);
    EXPECT_EQ(chunks_taken.size(), last + 1) << "the sink is not called after its failure";
    EXPECT_TRUE(are_first_of(chunks_taken, expected_));
  }
}

TEST_F(cut_stream_failure, of_the_last_chunk_is_a_failure_too) {
  memory_source source(byte_span(stream_).first(10));
  const status outcome = cut_stream(source, chunker_, {},
                                    [](const chunk&, byte_span) { return status(status_code::cancelled, "enough"); });
  EXPECT_EQ(outcome.code(), status_code::cancelled);
}

TEST_F(cut_stream_failure, of_the_sink_leaves_the_source_where_it_is) {
  piecewise_source source(stream_, whole());
  const stream_limits limits = {.memory_bytes = 4096};
  EXPECT_FALSE(cut_stream(source, chunker_, limits, [](const chunk&, byte_span) {
                 return status(status_code::cancelled, "enough");
               }).ok());
  EXPECT_LE(source.delivered_bytes(), limits.memory_bytes);
}

TEST_F(cut_stream_failure, thrown_by_the_sink_goes_through) {
  memory_source source(stream_);
  EXPECT_THROW(static_cast<void>(
                   cut_stream(source, chunker_, {}, [](const chunk&, byte_span) -> status { throw std::bad_alloc(); })),
               std::bad_alloc);
}

}  // namespace
}  // namespace cutpoint::tests
