// Tests of what deduplication counts, against naive counts, and of the expected chunk length.
#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <thread>

#include <cutpoint/chunks.h>
#include <cutpoint/dedup.h>
#include <cutpoint/memory_index.h>
#include <gtest/gtest.h>

#include "tests/host/algorithms/chunkers.h"
#include "tests/host/support/choices.h"
#include "tests/host/support/streams.h"
#include "tests/pipeline/support/recorder.h"

namespace cutpoint::tests {
namespace {

digest numbered(std::uint64_t number) {
  digest value{.size = 20};
  for (std::size_t i = 0; i < sizeof number; ++i) value.bytes[i + 7] = static_cast<std::uint8_t>(number >> 8 * i);
  return value;
}

status give(chunk_receiver& receiver, std::uint64_t stream, const std::vector<delivered_chunk>& chunks) {
  if (status s = receiver.begin_stream(stream); !s.ok()) return s;
  for (const delivered_chunk& c : chunks) {
    if (status s = receiver.take(c); !s.ok()) return s;
  }
  return receiver.end_stream(stream, {});
}

/// Returns chunks of these lengths, one after the other. Chunks of equal length have equal fingerprints.
std::vector<delivered_chunk> of_lengths(std::uint64_t stream, const std::vector<std::uint64_t>& lengths) {
  std::vector<delivered_chunk> chunks;
  std::uint64_t offset = 0;
  for (const std::uint64_t length : lengths) {
    chunks.push_back({.stream = stream, .offset = offset, .length = length, .fingerprint = numbered(length)});
    offset += length;
  }
  return chunks;
}

// --- The tally -------------------------------------------------------------------------------------------------------

TEST(dedup_tally, counts_each_fingerprint_once) {
  dedup_tally tally(fingerprint_kind::sha1);
  ASSERT_TRUE(give(tally, 0, of_lengths(0, {10, 20, 10})).ok());
  ASSERT_TRUE(give(tally, 1, of_lengths(1, {20, 30})).ok());
  EXPECT_EQ(tally.total().stream_count, 2u);
  EXPECT_EQ(tally.total().bytes, 90u);
  EXPECT_EQ(tally.total().chunk_count, 5u);
  EXPECT_EQ(tally.total().unique_bytes, 60u);
  EXPECT_EQ(tally.total().unique_chunk_count, 3u);
  EXPECT_EQ(tally.total().duplicate_bytes(), 30u);
  EXPECT_DOUBLE_EQ(*tally.total().savings(), 1.0 / 3);
  EXPECT_DOUBLE_EQ(*tally.total().elimination_ratio(), 1.5);
  EXPECT_EQ(tally.index().size(), 3u);
}

/// An index in memory that records the sizes of batches, and may fail.
class watched_index final : public fingerprint_index {
 public:
  struct record {
    std::vector<std::size_t> batches;
    std::size_t fails_at = ~std::size_t{0};  ///< the number of batches before the failure
    bool throws = false;                     ///< whether the failure is std::bad_alloc
  };
  explicit watched_index(record& watched) : watched_(watched) {}

  status look_up(std::span<const digest> digests, std::span<index_answer> answers) override {
    return index_.look_up(digests, answers);
  }
  status insert(std::span<const digest> digests, std::span<index_answer> answers) override {
    if (watched_.batches.size() == watched_.fails_at) {
      if (watched_.throws) throw std::bad_alloc();
      return {status_code::io_error, "the index cannot be read"};
    }
    watched_.batches.push_back(digests.size());
    return index_.insert(digests, answers);
  }
  std::uint64_t size() const noexcept override { return index_.size(); }
  std::uint64_t memory_bytes() const noexcept override { return index_.memory_bytes(); }

 private:
  record& watched_;
  memory_index index_{fingerprint_kind::sha1};
};

/// Has no `select`, so that its tally inserts digests one by one.
class unselecting_tally final : public chunk_receiver {
 public:
  status begin_stream(std::uint64_t stream) override { return tally.begin_stream(stream); }
  status take(const delivered_chunk& chunk) override { return tally.take(chunk); }
  status end_stream(std::uint64_t stream, const status& outcome) override { return tally.end_stream(stream, outcome); }

  dedup_tally tally{fingerprint_kind::sha1};
};

/// A stream with duplicates near to each other and far from each other.
std::vector<std::uint8_t> repetitive_stream() {
  seeded_choices random(9300);
  std::vector<std::uint8_t> stream = make_stream(content::random, 300'000, random);
  for (int i = 0; i < 3; ++i) stream.insert(stream.end(), stream.begin(), stream.begin() + 200'000);
  return stream;
}

status tally_stream(byte_span stream, chunk_receiver& receiver, std::uint64_t thread_count) {
  auto threads = engine::make({.threads = thread_count});
  if (!threads) return threads.error();
  return feed_buffer(*threads,
                     {.cuts = chunker_of("gear", "min_bytes=256,avg_bytes=1024,max_bytes=4096"),
                      .fingerprint = fingerprint_kind::sha1,
                      .segment_bytes = 128 * KiB},
                     stream, receiver);
}

TEST(dedup_tally, counts_the_same_in_batches_as_one_by_one) {
  const auto stream = repetitive_stream();
  unselecting_tally single;
  ASSERT_TRUE(tally_stream(stream, single, 1).ok());
  ASSERT_GT(single.tally.total().duplicate_bytes(), 400'000u);
  for (const std::uint64_t thread_count : {1u, 3u}) {
    watched_index::record watched;
    dedup_tally tally(std::make_unique<watched_index>(watched));
    ASSERT_TRUE(tally_stream(stream, tally, thread_count).ok());
    EXPECT_EQ(tally.total().chunk_count, single.tally.total().chunk_count);
    EXPECT_EQ(tally.total().bytes, stream.size());
    EXPECT_EQ(tally.total().unique_bytes, single.tally.total().unique_bytes);
    EXPECT_EQ(tally.total().unique_chunk_count, single.tally.total().unique_chunk_count);
    EXPECT_EQ(tally.index().size(), tally.total().unique_chunk_count);
    EXPECT_EQ(std::accumulate(watched.batches.begin(), watched.batches.end(), std::size_t{0}),
              tally.total().chunk_count);
    EXPECT_LT(watched.batches.size(), tally.total().chunk_count / 20) << "digests are not inserted in batches";
  }
}

TEST(dedup_tally, ends_the_feed_with_the_failure_of_its_index) {
  const auto stream = repetitive_stream();
  for (const std::uint64_t thread_count : {1u, 3u}) {
    watched_index::record watched{.batches = {}, .fails_at = 2};
    dedup_tally tally(std::make_unique<watched_index>(watched));
    const status outcome = tally_stream(stream, tally, thread_count);
    EXPECT_EQ(outcome.code(), status_code::io_error);
    EXPECT_EQ(outcome.message(), "the index cannot be read");
  }
}

TEST(dedup_tally, forgets_a_selection_that_failed) {
  for (const bool throws : {false, true}) {
    watched_index::record watched{.batches = {}, .fails_at = 1, .throws = throws};
    dedup_tally tally(std::make_unique<watched_index>(watched));
    const auto chunks = of_lengths(0, {10, 10, 20, 30});
    ASSERT_TRUE(tally.begin_stream(0).ok());
    ASSERT_TRUE(tally.select(std::span(chunks).first(2), {}).ok());
    ASSERT_TRUE(tally.take(chunks[0]).ok());
    try {
      EXPECT_EQ(tally.select(std::span(chunks).subspan(2), {}).code(), status_code::io_error);
    } catch (const std::bad_alloc&) {
      EXPECT_TRUE(throws);
    }
    watched.fails_at = ~std::size_t{0};
    ASSERT_TRUE(tally.take(chunks[1]).ok());  // as selected before the failure
    for (const delivered_chunk& chunk : of_lengths(0, {10, 10, 30, 30})) ASSERT_TRUE(tally.take(chunk).ok());
    EXPECT_EQ(tally.total().unique_bytes, 40u);
    EXPECT_EQ(tally.total().duplicate_bytes(), 60u);
  }
}

TEST(dedup_tally, counts_digests_that_its_index_has_already_as_duplicates) {
  auto index = std::make_unique<memory_index>(fingerprint_kind::sha1);
  const digest known = numbered(20);
  index_answer answer;
  ASSERT_TRUE(index->insert({&known, 1}, {&answer, 1}).ok());
  dedup_tally tally(std::move(index));
  ASSERT_TRUE(give(tally, 0, of_lengths(0, {10, 20, 10})).ok());
  EXPECT_EQ(tally.total().unique_bytes, 10u);
  EXPECT_EQ(tally.total().duplicate_bytes(), 30u);
}

TEST(dedup_tally, of_nothing_has_no_shares) {
  dedup_tally tally(fingerprint_kind::sha1);
  EXPECT_FALSE(tally.total().savings());
  EXPECT_FALSE(tally.total().elimination_ratio());
  EXPECT_FALSE(tally.lengths().mean());
  EXPECT_FALSE(tally.lengths().percentile(50));
  EXPECT_TRUE(tally.lengths().buckets(3).empty());
  ASSERT_TRUE(give(tally, 0, {}).ok());
  EXPECT_EQ(tally.total().stream_count, 1u);
  EXPECT_FALSE(tally.total().savings());
  EXPECT_FALSE(cut_comparison(100).differences().dirty_bytes_per_boundary());
}

TEST(dedup_tally, counts_a_run_as_its_chunks) {
  const std::uint64_t count = std::uint64_t{1} << 40;
  dedup_tally tally(fingerprint_kind::sha1);
  const delivered_chunk run{.length = 4096, .count = count, .fingerprint = numbered(1)};
  ASSERT_TRUE(give(tally, 0, {run}).ok());
  EXPECT_EQ(tally.total().bytes, 4096 * count);
  EXPECT_EQ(tally.total().chunk_count, count);
  EXPECT_EQ(tally.total().unique_bytes, 4096u);
  EXPECT_EQ(tally.total().unique_chunk_count, 1u);
  EXPECT_EQ(tally.lengths().chunk_count(), count);
  ASSERT_TRUE(give(tally, 1, {run}).ok());
  EXPECT_EQ(tally.total().unique_chunk_count, 1u);
}

TEST(dedup_tally, keeps_kinds_apart) {
  dedup_tally tally(fingerprint_kind::sha1, [](std::uint64_t stream) { return stream == 7 ? std::size_t{2} : 0; });
  ASSERT_TRUE(give(tally, 7, of_lengths(7, {10, 20})).ok());
  ASSERT_TRUE(give(tally, 8, of_lengths(8, {20, 30})).ok());
  ASSERT_EQ(tally.kinds().size(), 3u);
  EXPECT_EQ(tally.kinds()[2].bytes, 30u);
  EXPECT_EQ(tally.kinds()[2].unique_bytes, 30u);
  EXPECT_EQ(tally.kinds()[1].bytes, 0u);
  EXPECT_EQ(tally.kinds()[1].stream_count, 0u);
  EXPECT_EQ(tally.kinds()[0].bytes, 50u);
  EXPECT_EQ(tally.kinds()[0].unique_bytes, 30u) << "20 was seen in the other kind";
}

// --- Lengths ---------------------------------------------------------------------------------------------------------

/// Returns the nearest-rank percentile of all lengths.
std::uint64_t percentile_of(std::vector<std::uint64_t> lengths, double percent) {
  std::sort(lengths.begin(), lengths.end());
  const double rank = std::ceil(percent / 100 * static_cast<double>(lengths.size()));
  return lengths[static_cast<std::size_t>(std::max(1.0, rank)) - 1];
}

std::vector<std::uint64_t> many_lengths(std::uint64_t seed, std::size_t count) {
  seeded_choices random(seed);
  std::vector<std::uint64_t> lengths;
  for (std::size_t i = 0; i < count; ++i) {
    lengths.push_back(random.between(1, std::uint64_t{1} << random.between(1, 40)));
  }
  return lengths;
}

length_distribution distribution_of(const std::vector<std::uint64_t>& lengths) {
  length_distribution distribution;
  for (const std::uint64_t length : lengths) distribution.add(length, 1);
  return distribution;
}

TEST(length_distribution, has_percentiles_to_within_one_percent_and_the_exact_ends_and_mean) {
  const auto lengths = many_lengths(1, 30'000);
  const length_distribution distribution = distribution_of(lengths);
  EXPECT_EQ(distribution.min(), *std::min_element(lengths.begin(), lengths.end()));
  EXPECT_EQ(distribution.max(), *std::max_element(lengths.begin(), lengths.end()));
  const std::uint64_t sum = std::accumulate(lengths.begin(), lengths.end(), std::uint64_t{0});
  EXPECT_DOUBLE_EQ(*distribution.mean(), static_cast<double>(sum) / 30'000);
  for (const double percent : {0.0, 0.01, 1.0, 5.0, 25.0, 50.0, 75.0, 95.0, 99.0, 99.99, 100.0}) {
    const auto expected = static_cast<double>(percentile_of(lengths, percent));
    EXPECT_NEAR(static_cast<double>(*distribution.percentile(percent)), expected, expected / 100) << percent;
  }
}

TEST(length_distribution, of_one_length_is_that_length) {
  for (const std::uint64_t length : std::initializer_list<std::uint64_t>{1, 127, 128, 65'537, ~std::uint64_t{0}}) {
    length_distribution distribution;
    distribution.add(length, 3);
    for (const double percent : {0.0, 50.0, 100.0}) EXPECT_EQ(distribution.percentile(percent), length);
    ASSERT_EQ(distribution.buckets(3).size(), 1u);
    EXPECT_LE(distribution.buckets(3)[0].least, length);
    EXPECT_GE(distribution.buckets(3)[0].most, length);
  }
}

TEST(length_distribution, merges_to_the_distribution_of_all) {
  const auto first = many_lengths(3, 3000);
  const auto second = many_lengths(4, 20);
  auto all = first;
  all.insert(all.end(), second.begin(), second.end());
  length_distribution merged;
  merged.merge(distribution_of(first));
  merged.merge(distribution_of(second));
  merged.merge({});
  const length_distribution expected = distribution_of(all);
  EXPECT_EQ(merged.min(), expected.min());
  EXPECT_EQ(merged.max(), expected.max());
  EXPECT_EQ(merged.byte_count(), expected.byte_count());
  for (const double percent : {1.0, 50.0, 99.0}) EXPECT_EQ(merged.percentile(percent), expected.percentile(percent));
}

TEST(length_distribution, has_adjacent_buckets_with_all_chunks_in_their_own) {
  const auto lengths = many_lengths(5, 4000);
  const length_distribution distribution = distribution_of(lengths);
  for (unsigned fineness = 0; fineness <= 8; ++fineness) {
    const auto buckets = distribution.buckets(fineness);
    ASSERT_FALSE(buckets.empty());
    for (std::size_t i = 0; i < buckets.size(); ++i) {
      if (i != 0) {
        EXPECT_EQ(buckets[i].least, buckets[i - 1].most + 1);
      }
      const auto expected = std::count_if(lengths.begin(), lengths.end(), [&](std::uint64_t length) {
        return buckets[i].least <= length && length <= buckets[i].most;
      });
      EXPECT_EQ(buckets[i].chunk_count, static_cast<std::uint64_t>(expected));
    }
    EXPECT_GT(buckets.front().chunk_count, 0u);
    EXPECT_GT(buckets.back().chunk_count, 0u);
  }
}

// --- The comparison --------------------------------------------------------------------------------------------------

using cuts_of_streams = std::vector<std::vector<std::uint64_t>>;

/// Returns the calls that one side gets, one function for each.
std::vector<std::function<void()>> calls_of(chunk_receiver& receiver, const cuts_of_streams& streams) {
  std::vector<std::function<void()>> calls;
  for (std::size_t s = 0; s < streams.size(); ++s) {
    calls.emplace_back([&receiver, s] { EXPECT_TRUE(receiver.begin_stream(s).ok()); });
    for (const delivered_chunk& c : of_lengths(s, streams[s])) {
      calls.emplace_back([&receiver, c] { EXPECT_TRUE(receiver.take(c).ok()); });
    }
    calls.emplace_back([&receiver, s] { EXPECT_TRUE(receiver.end_stream(s, {}).ok()); });
  }
  return calls;
}

/// Counts the differences naively, by the definition.
cut_differences naive_differences(const cuts_of_streams& exact, const cuts_of_streams& other, std::uint64_t segment) {
  cut_differences differences;
  for (std::size_t s = 0; s < other.size(); ++s) {
    std::map<std::uint64_t, std::uint64_t> true_chunks;
    for (const delivered_chunk& c : of_lengths(s, exact[s])) true_chunks[c.offset] = c.length;
    std::uint64_t bytes = 0;
    for (const delivered_chunk& c : of_lengths(s, other[s])) {
      const auto expected = true_chunks.find(c.offset);
      const bool is_dirty = expected == true_chunks.end() || expected->second != c.length;
      ++differences.chunk_count;
      differences.bytes += c.length;
      differences.dirty_chunk_count += is_dirty ? 1 : 0;
      differences.dirty_bytes += is_dirty ? c.length : 0;
      bytes += c.length;
    }
    for (std::uint64_t boundary = segment; boundary < bytes; boundary += segment) ++differences.boundary_count;
  }
  return differences;
}

void expect_equal(const cut_differences& actual, const cut_differences& expected) {
  EXPECT_EQ(actual.chunk_count, expected.chunk_count);
  EXPECT_EQ(actual.bytes, expected.bytes);
  EXPECT_EQ(actual.dirty_chunk_count, expected.dirty_chunk_count);
  EXPECT_EQ(actual.dirty_bytes, expected.dirty_bytes);
  EXPECT_EQ(actual.boundary_count, expected.boundary_count);
}

/// Returns lengths with the sum `bytes`. They are at most four, so that equal chunks in a row and accidental meetings
/// are frequent.
std::vector<std::uint64_t> random_cuts(choices& random, std::uint64_t bytes) {
  std::vector<std::uint64_t> lengths;
  const std::uint64_t most = random.between(1, 4);
  while (bytes != 0) {
    lengths.push_back(std::min(bytes, random.between(1, most)));
    bytes -= lengths.back();
  }
  return lengths;
}

TEST(cut_comparison, finds_the_dirty_chunks_at_any_pace) {
  for (std::uint64_t seed = 0; seed < case_count(2000u); ++seed) {
    seeded_choices random(seed);
    cuts_of_streams exact;
    cuts_of_streams other;
    for (std::uint64_t left = random.between(1, 3); left != 0; --left) {
      const std::uint64_t bytes = random.between(0, 29);
      exact.push_back(random_cuts(random, bytes));
      other.push_back(random_cuts(random, bytes));
    }
    const std::uint64_t segment = random.between(1, 10);
    cut_comparison compared(segment);
    const auto exact_calls = calls_of(compared.exact(), exact);
    const auto other_calls = calls_of(compared.other(), other);
    for (std::size_t e = 0, o = 0; e < exact_calls.size() || o < other_calls.size();) {
      const bool is_exact = o == other_calls.size() || (e < exact_calls.size() && random.once_in(2));
      const auto& call = is_exact ? exact_calls[e++] : other_calls[o++];
      call();
    }
    expect_equal(compared.differences(), naive_differences(exact, other, segment));
    if (HasFailure()) FAIL() << "seed " << seed;
  }
}

TEST(cut_comparison, compares_runs_without_unrolling_them) {
  const std::uint64_t count = std::uint64_t{1} << 40;
  cut_comparison compared(4096);
  ASSERT_TRUE(give(compared.exact(), 0, {{.length = 1024, .count = count}}).ok());
  ASSERT_TRUE(give(compared.other(), 0,
                   {{.offset = 0, .length = 512, .count = 3},
                    {.offset = 1536, .length = 1024, .count = 10},
                    {.offset = 11'776, .length = 512},
                    {.offset = 12'288, .length = 1024, .count = count - 12}})
                  .ok());
  EXPECT_EQ(compared.differences().chunk_count, count + 2);
  EXPECT_EQ(compared.differences().dirty_chunk_count, 14u);
  EXPECT_EQ(compared.differences().dirty_bytes, 12'288u);
  EXPECT_EQ(compared.differences().boundary_count, count / 4 - 1);
}

TEST(cut_comparison, takes_both_sides_at_once) {
  seeded_choices random(11);
  cuts_of_streams exact;
  cuts_of_streams other;
  for (int s = 0; s < 50; ++s) {
    exact.push_back(random_cuts(random, 2000));
    other.push_back(random_cuts(random, 2000));
  }
  cut_comparison compared(100);
  std::thread first([&] {
    for (const auto& call : calls_of(compared.exact(), exact)) call();
  });
  for (const auto& call : calls_of(compared.other(), other)) call();
  first.join();
  expect_equal(compared.differences(), naive_differences(exact, other, 100));
}

}  // namespace
}  // namespace cutpoint::tests
