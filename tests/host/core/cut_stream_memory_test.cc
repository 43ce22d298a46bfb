// Tests that no more of a stream is held than allowed, and that an error is returned if that is too little.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/host/algorithms/chunkers.h"
#include "tests/host/core/read_sizes.h"
#include "tests/host/support/case_count.h"
#include "tests/host/support/streams.h"

namespace cutpoint::tests {
namespace {

/// Cuts a stream and records the most bytes that can have been held. At each read these are the bytes that were read
/// and not yet cut, the look-behind, and the memory to be filled.
class watched_cut {
 public:
  watched_cut(const chunker& chunker, byte_span stream, const read_sizes& sizes, stream_limits limits)
      : source_(stream, sizes) {
    source_.on_read([&](std::span<std::uint8_t> room) {
      const std::uint64_t behind = std::min(chunker.behind(), cut_);
      most_held_ = std::max(most_held_, source_.delivered_bytes() - cut_ + behind + room.size());
      note_address(room);
    });
    outcome_ = cut_stream(source_, chunker, limits, [&](const chunk& where, byte_span bytes) -> status {
      cut_ = where.offset + where.length;
      chunks_.push_back(where);
      note_address(bytes);
      return {};
    });
  }

  const status& outcome() const { return outcome_; }
  const std::vector<chunk>& chunks() const { return chunks_; }
  std::uint64_t most_held() const { return most_held_; }
  /// Returns the distance from the lowest to the highest address that was filled or passed to the sink. It is
  /// meaningless after a buffer has moved.
  std::uint64_t address_range() const { return highest_ - lowest_; }
  std::uint64_t read_count() const { return source_.read_count(); }

 private:
  void note_address(byte_span bytes) {
    const auto first = reinterpret_cast<std::uintptr_t>(bytes.data());
    lowest_ = std::min(lowest_, first);
    highest_ = std::max(highest_, first + bytes.size());
  }

  piecewise_source source_;
  status outcome_;
  std::vector<chunk> chunks_;
  std::uint64_t cut_ = 0;
  std::uint64_t most_held_ = 0;
  std::uintptr_t lowest_ = std::numeric_limits<std::uintptr_t>::max();
  std::uintptr_t highest_ = 0;
};

TEST(memory_limit, bounds_what_is_held_of_a_stream_with_a_maximum) {
  seeded_choices random(7401);
  const auto stream = make_stream(content::mixed, 3'000'000, random);
  for (const std::string_view name : {"gear", "fastcdc", "ae-max", "maxp", "ronomon", "casync"}) {
    const chunker chunker = chunker_of(name);
    const std::uint64_t least = chunker.reach() + chunker.behind();
    for (const std::uint64_t memory : {least, least + 1, least + 100'000, 256 * MiB}) {
      const watched_cut cut(chunker, stream, primes(), {.memory_bytes = memory});
      EXPECT_TRUE(cut.outcome().ok()) << name << ": " << cut.outcome().message();
      EXPECT_EQ(cut.chunks(), chunker.find_cuts(stream)) << name;
      EXPECT_LE(cut.most_held(), memory) << name;
      EXPECT_LE(cut.address_range(), memory) << name;
    }
  }
}

TEST(memory_limit, is_not_used_up_without_need) {
  seeded_choices random(7402);
  const auto stream = make_stream(content::random, 8'000'000, random);
  for (const std::string_view name : {"gear", "fastcdc", "seqcdc-inc"}) {
    const chunker chunker = chunker_of(name);
    EXPECT_LE(watched_cut(chunker, stream, whole(), {}).address_range(), 2 * chunker.reach() + 1 * MiB) << name;
  }
}

TEST(memory_limit, below_what_a_cut_depends_on_is_told_before_anything_is_read) {
  const chunker chunker = chunker_of("maxp", "half_window=100,min_bytes=1,avg_bytes=256,max_bytes=1000");
  const std::uint64_t least = chunker.reach() + chunker.behind();
  EXPECT_EQ(least, 1000u + 100u + 100u);
  const std::vector<std::uint8_t> stream(5000, 1);
  EXPECT_TRUE(check_memory(chunker, {.memory_bytes = least}).ok());
  for (const std::uint64_t memory : {std::uint64_t{0}, std::uint64_t{1}, least - 1}) {
    EXPECT_EQ(check_memory(chunker, {.memory_bytes = memory}).code(), status_code::memory_limit);
    const watched_cut cut(chunker, stream, whole(), {.memory_bytes = memory});
    EXPECT_EQ(cut.outcome().code(), status_code::memory_limit);
    EXPECT_THAT(cut.outcome().message(), testing::HasSubstr("1200"));
    EXPECT_THAT(cut.outcome().message(), testing::HasSubstr(chunker.canonical()));
    EXPECT_EQ(cut.read_count(), 0u);
  }
}

/// Without a maximum, one more byte is held, which shows whether the stream continues.
constexpr std::uint64_t one_ahead = 1;

/// A chunk without a maximum that is as long as its stream: zeros are no candidates of `crc32`.
class endless_chunk : public testing::Test {
 protected:
  static std::vector<std::uint8_t> zeros(std::uint64_t size) { return std::vector<std::uint8_t>(size, 0); }
  chunker chunker_ = chunker_of("crc32", "min_bytes=48,avg_bytes=64,max_bytes=0");
};

TEST_F(endless_chunk, is_found_up_to_the_limit) {
  for (const std::uint64_t memory : {std::uint64_t{100}, 300 * KiB, 1 * MiB, 1 * MiB + 1, 5 * MiB - 1}) {
    for (const std::uint64_t size : {memory / 2, memory - 1, memory}) {
      const auto stream = zeros(size);
      const watched_cut cut(chunker_, stream, whole(), {.memory_bytes = memory});
      EXPECT_TRUE(cut.outcome().ok()) << cut.outcome().message();
      EXPECT_EQ(cut.chunks(), (std::vector<chunk>{{0, size}}));
      EXPECT_LE(cut.most_held(), memory + one_ahead);
    }
  }
}

TEST_F(endless_chunk, past_the_limit_is_told_with_its_offset_and_the_limit) {
  seeded_choices random(7403);
  for (const std::uint64_t memory : {300 * KiB, 1 * MiB, 3 * MiB}) {
    auto stream = make_stream(content::random, 200'000, random);
    stream.resize(chunker_.find_cuts(stream).back().offset);
    stream.resize(stream.size() + memory + 1);
    const auto expected = chunker_.find_cuts(stream);
    ASSERT_EQ(expected.back().length, memory + 1);
    const watched_cut cut(chunker_, stream, random_sizes(memory), {.memory_bytes = memory});
    EXPECT_EQ(cut.outcome().code(), status_code::memory_limit);
    EXPECT_TRUE(are_first_of(cut.chunks(), expected));
    EXPECT_EQ(cut.chunks().size(), expected.size() - 1) << "all but the one that does not fit";
    EXPECT_THAT(cut.outcome().message(), testing::HasSubstr("offset " + std::to_string(expected.back().offset)));
    EXPECT_THAT(cut.outcome().message(), testing::HasSubstr("maximum"));
    EXPECT_LE(cut.most_held(), memory + one_ahead);
  }
}

TEST_F(endless_chunk, is_given_up_without_reading_on) {
  const auto stream = zeros(4 * MiB);
  piecewise_source source(stream, whole());
  EXPECT_EQ(cut_all(source, chunker_, stream, {.memory_bytes = 1 * MiB}).outcome.code(), status_code::memory_limit);
  EXPECT_LE(source.delivered_bytes(), 1 * MiB + one_ahead);
}

TEST_F(endless_chunk, in_the_middle_lets_the_buffer_grow_and_the_rest_be_right) {
  seeded_choices random(7404);
  auto stream = make_stream(content::random, 300'000, random);
  stream.resize(stream.size() + 2 * MiB);
  const auto more = make_stream(content::random, 300'000, random);
  stream.insert(stream.end(), more.begin(), more.end());
  const auto expected = chunker_.find_cuts(stream);
  for (const read_sizes& sizes : {primes(), random_sizes(7405), whole()}) {
    const watched_cut cut(chunker_, stream, sizes, {.memory_bytes = 3 * MiB});
    EXPECT_TRUE(cut.outcome().ok()) << cut.outcome().message();
    EXPECT_EQ(cut.chunks(), expected);
    EXPECT_LE(cut.most_held(), 3 * MiB + one_ahead);
  }
}

TEST(memory_limit, without_a_maximum_gives_up_only_on_chunks_that_may_not_fit) {
  seeded_choices random(7406);
  for (int round = 0; round < case_count(300); ++round) {
    const chunker chunker = tiny_chunker(random.between(0, algorithm_count - 1), random);
    if (chunker.reach() != unlimited) continue;
    const auto stream = make_stream(content::mixed, random.between(1, 3000), random);
    const auto expected = chunker.find_cuts(stream);
    const std::uint64_t memory = chunker.behind() + random.between(1, 3000);
    const watched_cut cut(chunker, stream, primes(), {.memory_bytes = memory});
    EXPECT_TRUE(are_first_of(cut.chunks(), expected)) << chunker.canonical();
    EXPECT_LE(cut.most_held(), memory + one_ahead) << chunker.canonical();
    if (cut.outcome().ok()) {
      EXPECT_EQ(cut.chunks().size(), expected.size());
      continue;
    }
    EXPECT_EQ(cut.outcome().code(), status_code::memory_limit);
    const chunk& too_large = expected[cut.chunks().size()];
    EXPECT_GE(too_large.length + chunker.behind() + chunker.lookahead() + one_ahead, memory) << chunker.canonical();
  }
}

}  // namespace
}  // namespace cutpoint::tests
