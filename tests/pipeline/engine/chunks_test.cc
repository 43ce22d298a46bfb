// Tests of chunks as values: all interfaces return the chunks of the sequential algorithm, and report a failure after
// the last chunk.
#include <cutpoint/chunks.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/host/algorithms/chunkers.h"
#include "tests/host/core/read_sizes.h"
#include "tests/host/support/streams.h"
#include "tests/host/support/value_of.h"

namespace cutpoint::tests {
namespace {

engine two_threads() { return *engine::make({.threads = 2}); }

feed_options job(std::string_view name = "fastcdc") {
  return {.cuts = chunker_of(std::string(name)), .fingerprint = fingerprint_kind::sha1, .segment_bytes = 100'000};
}

std::vector<std::uint8_t> random_bytes(std::size_t size) { return make_stream(content::random, size, 78); }

/// Returns random bytes with a run of zeros in their middle, which is delivered as several equal chunks.
std::vector<std::uint8_t> stream_with_run() {
  seeded_choices random(77);
  std::vector<std::uint8_t> bytes = make_stream(content::random, 500'000, random);
  const std::vector<std::uint8_t> rest = make_stream(content::random, 300'000, random);
  bytes.resize(bytes.size() + 5 * MiB);
  bytes.insert(bytes.end(), rest.begin(), rest.end());
  return bytes;
}

std::vector<chunk> unrolled(const std::vector<chunk_record>& records) {
  std::vector<chunk> all;
  for (const chunk_record& each : records) {
    for (std::uint64_t i = 0; i < each.count; ++i) all.push_back({each.offset + i * each.length, each.length});
  }
  return all;
}

void expect_digests_of(byte_span bytes, const std::vector<chunk_record>& records) {
  auto digest_of = *fingerprinter::make(fingerprint_kind::sha1);
  for (const chunk_record& each : records) {
    EXPECT_EQ(each.fingerprint, *digest_of(bytes.subspan(each.offset, each.length))) << each.offset;
  }
}

/// Returns all chunks of a reader, read `at_a_time` at once, and the status that followed the last.
std::pair<std::vector<chunk_record>, status> all_of(chunk_reader& reader, std::size_t at_a_time) {
  std::vector<chunk_record> all;
  std::vector<chunk_record> room(at_a_time);
  for (;;) {
    const auto count = reader.read(room);
    if (!count) return {all, count.error()};
    if (*count == 0) return {all, status()};
    all.insert(all.end(), room.begin(), room.begin() + static_cast<std::ptrdiff_t>(*count));
  }
}

TEST(chunk_list_digest, is_the_same_for_equal_lists_alone) {
  auto digest_of = *fingerprinter::make(fingerprint_kind::sha1);
  const std::uint8_t byte = 1;
  const digest one = *digest_of(byte_span(&byte, 1)), none = *digest_of({});
  struct record {
    std::uint64_t length, count;
    digest fingerprint;
  };
  const auto list = [](const std::vector<record>& records) {
    chunk_list_digest sum;
    for (const record& each : records) sum.add(each.length, each.count, each.fingerprint);
    return sum;
  };
  const std::vector<record> records = {{5, 1, one}, {7, 3, none}, {5, 1, one}};
  const auto is_same = [&](const std::vector<record>& other) {
    chunk_list_digest sum = list(other);
    return list(records).is_same_content(sum);
  };
  EXPECT_TRUE(is_same(records));
  EXPECT_TRUE(is_same({{5, 1, one}, {7, 1, none}, {7, 2, none}, {5, 1, one}}));
  for (const auto& other : std::vector<std::vector<record>>{{},
                                                            {{5, 1, one}, {7, 3, none}},
                                                            {{5, 1, one}, {7, 2, none}, {5, 1, one}},
                                                            {{5, 1, one}, {7, 3, none}, {6, 1, one}},
                                                            {{5, 1, one}, {7, 3, none}, {5, 1, none}},
                                                            {{5, 1, one}, {5, 1, one}, {7, 3, none}}}) {
    EXPECT_FALSE(is_same(other));
  }
  chunk_list_digest lacking = list({{5, 1, {}}}), empty;
  EXPECT_FALSE(list({{5, 1, {}}}).is_same_content(lacking)) << "lengths alone prove nothing";
  EXPECT_TRUE(list({}).is_same_content(empty));
}

TEST(chunk_columns, have_the_chunks_of_runs_one_by_one) {
  engine threads = two_threads();
  const auto bytes = stream_with_run();
  chunk_columns records;
  ASSERT_TRUE(feed_buffer(threads, job(), bytes, records).ok());
  const std::vector<chunk> expected = job().cuts.find_cuts(bytes);
  ASSERT_EQ(records.offsets.size(), expected.size());
  ASSERT_EQ(records.lengths.size(), expected.size());
  ASSERT_EQ(records.digests.size(), 20 * expected.size());
  auto digest_of = *fingerprinter::make(fingerprint_kind::sha1);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ((chunk{records.offsets[i], records.lengths[i]}), expected[i]);
    const digest whole = *digest_of(byte_span(bytes).subspan(expected[i].offset, expected[i].length));
    EXPECT_TRUE(
        std::equal(whole.view().begin(), whole.view().end(), records.digests.begin() + static_cast<long>(20 * i)));
  }
}

/// Returns the bytes of the delivered chunks that lie in `bytes`.
std::uint64_t delivered_in_place(engine& threads, const feed_options& options, byte_span bytes) {
  std::uint64_t in_place = 0;
  chunk_callback look([&](const delivered_chunk& chunk) {
    if (chunk.bytes.data() == bytes.data() + chunk.offset) in_place += chunk.length;
    return status();
  });
  EXPECT_TRUE(feed_buffer(threads, options, bytes, look).ok());
  return in_place;
}

TEST(feed_buffer, copies_only_bytes_with_many_runs) {
  engine threads = two_threads();
  engine one = *engine::make({.threads = 1});
  const auto bytes = random_bytes(30'000'000);
  for (engine* each : {&threads, &one}) {
    EXPECT_EQ(delivered_in_place(*each, job(), bytes), bytes.size());
    EXPECT_EQ(delivered_in_place(*each, job("ae-max"), byte_span(bytes).subspan(3, 1'000'000)), 1'000'000u);
    EXPECT_EQ(delivered_in_place(*each, job(), byte_span(bytes).first(1)), 1u);
  }
  const auto with_run = stream_with_run();
  EXPECT_EQ(delivered_in_place(threads, job(), with_run), 0u);
}

TEST(chunk_buffer, has_the_sequential_cuts_and_runs_as_one) {
  engine threads = two_threads();
  auto in_place = random_bytes(3'000'000);
  std::fill_n(in_place.begin() + 1'000'000, 300'000, std::uint8_t{0});  // too few zeros to copy
  const auto with_run = stream_with_run();
  for (const char* name : {"fastcdc", "ae-max", "casync", "rabin", "seqcdc-inc", "fixed", "maxp"}) {
    for (const map_kind map : {map_kind::cuts, map_kind::candidates}) {
      for (const std::vector<std::uint8_t>* const bytes : {&std::as_const(in_place), &with_run}) {
        feed_options options = job(name);
        options.map = map;
        const auto records = value_of(chunk_buffer(threads, options, *bytes));
        EXPECT_EQ(unrolled(records), chunker_of(name).find_cuts(*bytes)) << name;
        if (bytes == &with_run) {
          EXPECT_LT(records.size(), unrolled(records).size()) << name;
        }
        expect_digests_of(*bytes, records);
      }
    }
  }
  EXPECT_THAT(*chunk_buffer(threads, job(), {}), testing::IsEmpty());
}

TEST(feed_buffer, fails_if_a_chunk_outgrows_the_memory) {
  engine threads = two_threads();
  feed_options options{.cuts = chunker_of("gear", "max_bytes=0"), .memory_bytes = 8 * MiB};
  const std::vector<std::uint8_t> zeros(40 * MiB, 1);
  chunk_columns records;
  EXPECT_EQ(feed_buffer(threads, options, zeros, records).code(), status_code::memory_limit);
}

TEST(feed_buffer, ends_with_the_functions_failure) {
  engine threads = two_threads();
  std::uint64_t count = 0;
  chunk_callback third([&count](const delivered_chunk& chunk) {
    EXPECT_EQ(chunk.bytes.size(), chunk.length);
    return ++count == 3 ? status(status_code::io_error, "the disk is full") : status();
  });
  const status outcome = feed_buffer(threads, job(), stream_with_run(), third);
  EXPECT_EQ(outcome.message(), "the disk is full");
  EXPECT_EQ(count, 3u);
}

TEST(chunk_queue, returns_the_chunks_in_order_a_few_at_a_time) {
  engine threads = two_threads();
  const auto bytes = stream_with_run();
  chunk_queue queue;
  feed feed = *threads.open(job(), queue);
  ASSERT_TRUE(feed.begin(9).ok());
  std::vector<chunk_record> all;
  std::vector<chunk_record> room(7);
  const auto drain = [&] {
    while (const std::size_t count = queue.take(room)) {
      all.insert(all.end(), room.begin(), room.begin() + static_cast<std::ptrdiff_t>(count));
    }
  };
  for (std::size_t position = 0; position < bytes.size(); position += 65'536) {
    ASSERT_TRUE(
        feed.write(byte_span(bytes).subspan(position, std::min<std::size_t>(65'536, bytes.size() - position))).ok());
    drain();
  }
  ASSERT_TRUE(feed.end().ok());
  ASSERT_TRUE(feed.finish().ok());
  const std::vector<chunk_record> rest = queue.take_all();
  all.insert(all.end(), rest.begin(), rest.end());
  EXPECT_EQ(queue.waiting(), 0u);
  EXPECT_EQ(unrolled(all), job().cuts.find_cuts(bytes));
  EXPECT_EQ(all.front().stream, 9u);
}

TEST(chunk_reader, gives_the_chunks_of_a_source_as_they_are_asked_for) {
  engine threads = two_threads();
  const auto bytes = stream_with_run();
  for (const std::size_t at_a_time : {std::size_t{1}, std::size_t{13}, std::size_t{100'000}}) {
    memory_source source(bytes);
    auto reader = value_of(chunk_reader::open(threads, job(), source));
    const auto [records, outcome] = all_of(reader, at_a_time);
    EXPECT_TRUE(outcome.ok()) << outcome.message();
    EXPECT_EQ(unrolled(records), job().cuts.find_cuts(bytes));
    expect_digests_of(bytes, records);
    EXPECT_EQ(reader.statistics().fed_bytes, bytes.size());
    chunk_record one;
    EXPECT_EQ(*reader.read({&one, 1}), 0u) << "after the last";
  }
}

TEST(chunk_reader, returns_the_failure_of_its_source_after_all_decided_chunks) {
  engine threads = two_threads();
  const auto bytes = random_bytes(1 * MiB);
  piecewise_source source(bytes, random_sizes(5));
  source.fail_after(400'000, {status_code::io_error, "tape: cannot be read: it is torn", EIO});
  auto reader = value_of(chunk_reader::open(threads, job(), source));
  const auto [records, outcome] = all_of(reader, 10);
  EXPECT_EQ(outcome.code(), status_code::io_error);
  EXPECT_EQ(outcome.system_error(), EIO);
  ASSERT_FALSE(records.empty());
  EXPECT_GE(records.back().offset + records.back().length + 65'536, 400'000u) << "at most a chunk is undecided";
  chunk_record one;
  EXPECT_EQ(reader.read({&one, 1}).error().message(), outcome.message()) << "again";
}

TEST(chunk_reader, holds_no_more_chunks_than_the_memory_has_bytes_for) {
  engine threads = two_threads();
  const auto bytes = random_bytes(32 * MiB);
  memory_source source(bytes);
  feed_options small = job();
  small.memory_bytes = 4 * MiB;
  auto reader = value_of(chunk_reader::open(threads, small, source));
  chunk_record one;
  ASSERT_EQ(*reader.read({&one, 1}), 1u);
  EXPECT_LE(reader.statistics().fed_bytes, 8 * MiB) << "it reads no further than it has to";
}

/// A source that consists of one hole.
class hole_source final : public source {
 public:
  explicit hole_source(std::uint64_t length) : left_(length) {}
  [[nodiscard]] result<std::uint64_t> skip_hole() override { return std::exchange(left_, 0); }
  [[nodiscard]] result<std::size_t> read(std::span<std::uint8_t>) override { return std::size_t{0}; }

 private:
  std::uint64_t left_;
};

TEST(chunk_reader, counts_the_chunks_of_a_hole) {
  engine threads = two_threads();
  hole_source source(64 * GiB + 5);
  auto reader = value_of(chunk_reader::open(threads, job("gear"), source));
  const auto [records, outcome] = all_of(reader, 50);
  EXPECT_TRUE(outcome.ok()) << outcome.message();
  EXPECT_LT(records.size(), 1000u);
  std::uint64_t end = 0;
  for (const chunk_record& each : records) {
    EXPECT_EQ(each.offset, end);
    end += each.length * each.count;
  }
  EXPECT_EQ(end, 64 * GiB + 5);
}

TEST(chunk_reader, stops_when_it_is_cancelled) {
  engine threads = two_threads();
  const auto bytes = random_bytes(32 * MiB);
  memory_source source(bytes);
  cancellation cancel;
  feed_options options = job();
  options.cancel = &cancel;
  auto reader = value_of(chunk_reader::open(threads, options, source));
  chunk_record one;
  ASSERT_EQ(*reader.read({&one, 1}), 1u);
  cancel.request();
  const auto [records, outcome] = all_of(reader, 100);
  EXPECT_EQ(outcome.code(), status_code::cancelled);
}

}  // namespace
}  // namespace cutpoint::tests
