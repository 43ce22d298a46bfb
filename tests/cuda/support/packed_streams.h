// Streams packed into a batch, and the chunks that the references find in them.
#pragma once

#include <algorithm>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "cuda/batch/offload.h"
#include "tests/cuda/support/cut_harness.h"
#include "tests/host/support/streams.h"

namespace cutpoint::cuda {

inline std::vector<std::uint8_t> random_bytes(std::size_t size, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::uint8_t> bytes(size);
  for (std::uint8_t& b : bytes) b = static_cast<std::uint8_t>(random());
  return bytes;
}

/// Makes many chunks in few bytes, but none so short that a batch may be refused.
inline chunker small_gear() {
  return *chunker::make(gear_parameters{.avg_bytes = 256, .min_bytes = 64, .max_bytes = 1024});
}

/// Whole streams, one after the other in a batch. Streams may be empty.
struct packed_streams {
  std::vector<byte_span> streams;
  std::vector<stream_range> stream_ranges;

  void add(byte_span stream) {
    const std::uint64_t begin = stream_ranges.empty() ? 0 : stream_ranges.back().end;
    streams.push_back(stream);
    stream_ranges.push_back(
        {.begin = begin, .start = begin, .stop = begin + stream.size(), .end = begin + stream.size(), .ends = 1});
  }
  [[nodiscard]] std::uint64_t byte_count() const { return stream_ranges.empty() ? 0 : stream_ranges.back().end; }
  [[nodiscard]] batch_input input() const { return {.buffers = streams, .stream_ranges = stream_ranges}; }
};

/// Expects the lengths and digests of one stream that the references give.
inline void expect_stream(const batch_output& output, const stream_range_chunks& range, byte_span stream,
                          const chunker& cuts, const fingerprint_recipe& recipe) {
  auto print = *fingerprinter::make(recipe);
  const std::vector<chunk> expected = cuts.find_cuts(stream);
  ASSERT_EQ(range.count, expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    ASSERT_EQ(output.lengths[range.first + i], expected[i].length) << "chunk " << i;
    const digest value = *print(stream.subspan(expected[i].offset, expected[i].length));
    const auto digests = output.digests.subspan((range.first + i) * value.size, value.size);
    ASSERT_TRUE(std::equal(digests.begin(), digests.end(), value.bytes.begin())) << "chunk " << i;
  }
}

/// Expects the same for every stream of a batch.
inline void expect_streams(const batch_output& output, const packed_streams& packed, const chunker& cuts,
                           const fingerprint_recipe& recipe) {
  ASSERT_EQ(output.stream_ranges.size(), packed.stream_ranges.size());
  for (std::size_t i = 0; i < packed.stream_ranges.size(); ++i) {
    SCOPED_TRACE(testing::Message() << "stream " << i << " of " << packed.streams[i].size() << " bytes");
    EXPECT_EQ(output.stream_ranges[i].next, packed.stream_ranges[i].end);
    ASSERT_NO_FATAL_FAILURE(expect_stream(output, output.stream_ranges[i], packed.streams[i], cuts, recipe));
  }
}

/// Random streams of up to `longest` bytes: whole, without their end, or without their first chunks.
class drawn_streams {
 public:
  drawn_streams(std::uint64_t longest, tests::choices& random) {
    for (std::uint64_t count = random.between(1, 5); count != 0; --count) {
      const auto what = random.one_of(tests::content::mixed);
      const auto& stream = streams_.emplace_back(tests::make_stream(what, random.between(1, longest), random));
      shown_.push_back({.stream = stream,
                        .shown = random.once_in(2) ? stream.size() : random.between(1, stream.size()),
                        .first_chunk = random.once_in(2) ? 0 : random.between(0, 5)});
    }
  }
  [[nodiscard]] const std::vector<shown_stream>& shown() const { return shown_; }

 private:
  std::vector<std::vector<std::uint8_t>> streams_;
  std::vector<shown_stream> shown_;
};

inline partitioning random_partitioning(tests::choices& random) {
  return {.partition_bytes = std::uint64_t{1} << random.between(6, 13),
          .rounds = static_cast<std::uint32_t>(random.between(1, 3)),
          .threads = static_cast<std::uint32_t>(32 * random.between(1, 3)),
          .blocks = static_cast<std::uint32_t>(random.between(1, 3)),
          .order = random.once_in(3)   ? thread_order::forward()
                   : random.once_in(2) ? thread_order::reversed()
                                       : thread_order::shuffled(random.word())};
}

}  // namespace cutpoint::cuda
