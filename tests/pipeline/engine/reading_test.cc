// Tests of parts of a stream that the engine's threads read at several offsets at once.
#include "tests/host/io/reading.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

#include <cutpoint/inputs.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/host/algorithms/chunkers.h"
#include "tests/host/support/value_of.h"
#include "tests/pipeline/support/recorder.h"

namespace cutpoint::tests {
namespace {

using namespace std::chrono_literals;

constexpr const char* short_chunks = "min_bytes=64,avg_bytes=256,max_bytes=2048";

/// Bytes in memory. `before` is called before each read, on the reading thread.
class planned_reader final : public offset_reader {
 public:
  explicit planned_reader(byte_span bytes) : bytes_(bytes) {}

  std::function<void(std::uint64_t)> before = [](std::uint64_t) {};
  std::uint64_t fails_from = unlimited;
  std::size_t most_at_once = unlimited;
  mutable std::atomic<int> calls = 0;

  result<std::size_t> read_at(std::uint64_t offset, std::span<std::uint8_t> destination) const override {
    ++calls;
    before(offset);
    if (offset >= fails_from) return status(status_code::io_error, "planned");
    const std::size_t count =
        std::min<std::uint64_t>({destination.size(), bytes_.size() - offset, fails_from - offset, most_at_once});
    std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(offset), count, destination.begin());
    return count;
  }
  [[nodiscard]] shared_range readable_range(std::uint64_t offset = 0) const {
    return {.reader = this, .offset = offset, .length = bytes_.size() - offset};
  }

 private:
  byte_span bytes_;
};

/// Feeds the rest of a part as far as it is read by threads. Returns where it ends.
std::uint64_t feed_range(feed& target, shared_range rest) {
  while (rest.length != 0) {
    const byte_span bytes = value_of(target.read(rest));
    if (bytes.empty()) break;
    EXPECT_TRUE(target.commit(bytes.size()).ok());
    rest.offset += bytes.size();
    rest.length -= bytes.size();
  }
  return rest.offset;
}

class reading : public testing::Test {
 protected:
  feed open(std::uint64_t threads, const chunker& cuts) {
    engine_.emplace(value_of(engine::make({.threads = threads})));
    return value_of(engine_->open({.cuts = cuts, .fingerprint = fingerprint_kind::xxh3}, out_));
  }
  void expect_chunks_of(const chunker& cuts, byte_span bytes) {
    EXPECT_EQ(out_.fault, "");
    ASSERT_EQ(out_.streams.size(), 1u);
    EXPECT_EQ(out_.streams[0].chunks, cuts.find_cuts(bytes));
    EXPECT_TRUE(std::ranges::equal(out_.streams[0].bytes, bytes));
  }

  std::optional<engine> engine_;
  recorder out_;
  const chunker cuts_ = chunker_of("gear", short_chunks);
};

TEST_F(reading, is_done_by_two_threads_at_once) {
  const auto bytes = make_stream(content::random, 8 * MiB, 1);
  planned_reader reader(bytes);
  std::mutex mutex;
  std::condition_variable second_came;
  int reading_now = 0;
  bool were_two = false;
  reader.before = [&](std::uint64_t) {
    std::unique_lock lock(mutex);
    were_two = were_two || ++reading_now == 2;
    second_came.notify_all();
    second_came.wait_for(lock, 20s, [&] { return were_two; });
    --reading_now;
  };
  feed into = open(2, cuts_);
  ASSERT_TRUE(into.begin(0).ok());
  EXPECT_EQ(feed_range(into, reader.readable_range()), bytes.size());
  ASSERT_TRUE(into.end().ok());
  ASSERT_TRUE(into.finish().ok());
  EXPECT_TRUE(were_two);
  expect_chunks_of(cuts_, bytes);
  std::uint64_t read_bytes = 0;
  for (const lane_record& lane : into.statistics().lanes) read_bytes += lane.at(stage::reading).bytes;
  EXPECT_EQ(read_bytes, bytes.size());
}

TEST_F(reading, gives_the_sequential_cuts_where_runs_are_shortened_meanwhile) {
  for (const std::uint64_t threads : {2u, 3u, 5u}) {
    std::vector<std::uint8_t> bytes = make_stream(content::random, 12 * MiB, threads);
    for (std::uint64_t begin = 300'000; begin < bytes.size(); begin += 1'700'000) {
      const std::uint64_t length = std::min<std::uint64_t>(70'000 + begin / 7, bytes.size() - begin);
      std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(begin), length, static_cast<std::uint8_t>(begin));
    }
    planned_reader reader(bytes);
    reader.most_at_once = 100'000;
    out_ = {};
    feed into = open(threads, cuts_);
    ASSERT_TRUE(into.begin(0).ok());
    EXPECT_EQ(feed_range(into, reader.readable_range()), bytes.size());
    ASSERT_TRUE(into.end().ok());
    ASSERT_TRUE(into.finish().ok());
    EXPECT_GT(into.statistics().run_bytes, bytes.size() / 8);
    expect_chunks_of(cuts_, bytes);
  }
}

TEST_F(reading, ends_where_the_part_ends_early_or_cannot_be_read) {
  const auto bytes = make_stream(content::random, 6 * MiB, 2);
  for (const std::uint64_t end : {std::uint64_t{0}, std::uint64_t{1}, 2 * MiB, 4 * MiB - 5}) {
    planned_reader reader(bytes);
    reader.fails_from = end;
    out_ = {};
    feed into = open(2, cuts_);
    ASSERT_TRUE(into.begin(0).ok());
    EXPECT_EQ(feed_range(into, reader.readable_range()), end);
    const int calls = reader.calls;
    ASSERT_TRUE(into.write(byte_span(bytes).subspan(end)).ok());
    EXPECT_EQ(reader.calls, calls) << "of a reader that is no longer used";
    ASSERT_TRUE(into.end().ok());
    ASSERT_TRUE(into.finish().ok());
    expect_chunks_of(cuts_, bytes);
  }
}

TEST_F(reading, stops_before_the_reader_may_go) {
  const auto bytes = make_stream(content::random, 6 * MiB, 3);
  const auto after = {
      std::function<status(feed&)>([](feed& target) { return target.stop_reading(), status(); }),
      std::function<status(feed&)>([](feed& target) { return target.space().ok() ? status() : target.failure(); }),
      std::function<status(feed&)>([](feed& target) { return target.write_zeros(0); }),
      std::function<status(feed&)>([](feed& target) { return target.end(); }),
  };
  for (const auto& stop : after) {
    feed into = open(3, cuts_);
    ASSERT_TRUE(into.begin(0).ok());
    std::atomic<bool> is_gone = false;
    std::atomic<bool> was_late = false;
    {
      planned_reader reader(bytes);
      reader.before = [&](std::uint64_t) {
        std::this_thread::sleep_for(1ms);
        if (is_gone) was_late = true;
      };
      const byte_span first = value_of(into.read(reader.readable_range()));
      ASSERT_FALSE(first.empty());
      ASSERT_TRUE(into.commit(first.size()).ok());
      ASSERT_TRUE(stop(into).ok());
      is_gone = true;
    }
    ASSERT_TRUE(into.end().ok());
    ASSERT_TRUE(into.finish().ok());
    EXPECT_FALSE(was_late);
    expect_chunks_of(cuts_, byte_span(bytes).first(out_.streams[0].bytes.size()));
    out_ = {};
  }
}

TEST_F(reading, gives_the_bytes_of_the_part_that_was_asked_for) {
  const auto bytes = make_stream(content::random, 6 * MiB, 4);
  const planned_reader one(bytes);
  const planned_reader other(bytes);
  feed into = open(2, cuts_);
  ASSERT_TRUE(into.begin(0).ok());
  std::vector<std::uint8_t> expected;
  for (const shared_range& range :
       {one.readable_range(), other.readable_range(), other.readable_range(3 * MiB), one.readable_range(1)}) {
    const byte_span read = value_of(into.read(range));
    ASSERT_FALSE(read.empty());
    const auto begin = bytes.begin() + static_cast<std::ptrdiff_t>(range.offset);
    EXPECT_TRUE(std::equal(read.begin(), read.end(), begin));
    expected.insert(expected.end(), read.begin(), read.end());
    ASSERT_TRUE(into.commit(read.size()).ok());
  }
  ASSERT_TRUE(into.end().ok());
  ASSERT_TRUE(into.finish().ok());
  expect_chunks_of(cuts_, expected);
}

TEST_F(reading, ends_with_a_feed_that_fails) {
  const auto bytes = make_stream(content::random, 24 * MiB, 5);
  const planned_reader reader(bytes);
  out_.fail_at(20, {status_code::io_error, "the receiver has failed"});
  feed into = open(3, cuts_);
  ASSERT_TRUE(into.begin(0).ok());
  shared_range rest = reader.readable_range();
  status outcome;
  while (outcome.ok() && rest.length != 0) {
    const auto read = into.read(rest);
    if (!read) outcome = read.error();
    if (!read || read->empty()) break;
    outcome = into.commit(read->size());
    rest.offset += read->size();
    rest.length -= read->size();
  }
  if (outcome.ok()) outcome = into.finish();
  EXPECT_EQ(outcome.message(), "the receiver has failed");
}

TEST_F(reading, is_left_to_the_caller_by_one_thread) {
  const auto bytes = make_stream(content::random, 4 * MiB, 6);
  const planned_reader reader(bytes);
  feed into = open(1, cuts_);
  ASSERT_TRUE(into.begin(0).ok());
  EXPECT_EQ(feed_range(into, reader.readable_range()), 0u);
  EXPECT_EQ(reader.calls, 0);
}

/// A file to which something happens while two threads read it.
class changing_file final : public file_stream, public offset_reader {
 public:
  changing_file(const std::string& path, std::function<void()> change)
      : file_(value_of(file_source::open(path))), change_(std::move(change)) {}

  result<std::size_t> read(std::span<std::uint8_t> destination) override { return file_.read(destination); }
  result<std::uint64_t> skip_hole() override { return file_.skip_hole(); }
  status check_unchanged() const override { return file_.check_unchanged(); }
  shared_range readable_range() override {
    shared_range range = file_.readable_range();
    range.reader = this;
    return range;
  }
  void pass(std::uint64_t count) override { file_.pass(count); }
  result<std::size_t> read_at(std::uint64_t offset, std::span<std::uint8_t> destination) const override {
    if (++calls_ == 4) change_();
    return file_.read_at(offset, destination);
  }

 private:
  file_source file_;
  std::function<void()> change_;
  mutable std::atomic<int> calls_ = 0;
};

class failure_list final : public input_receiver {
 public:
  std::vector<std::string> failures;
  std::vector<std::uint8_t> bytes;

 private:
  status begin_input(std::uint64_t, const std::string&) override { return {}; }
  status take_chunk(const delivered_chunk& c) override {
    for (std::uint64_t i = 0; i < c.count; ++i) bytes.insert(bytes.end(), c.bytes.begin(), c.bytes.end());
    return {};
  }
  status end_input(std::uint64_t, const status&) override { return {}; }
  status input_failed(const std::string&, const status& why) override {
    failures.push_back(why.message());
    return {};
  }
};

TEST(file_changes, are_named_where_two_threads_read_the_file) {
  const temporary_folder folder;
  const auto content = make_stream(content::random, 6 * MiB, 7);
  const std::string text(content.begin(), content.end());
  const auto when = [&](const std::function<void(int)>& change) {
    const std::string path = folder.make_file("file", text);
    const held_open writing(path, O_RDWR);
    changing_file file(path, [&] { change(writing.get()); });
    engine threads = value_of(engine::make({.threads = 2}));
    failure_list receiver;
    feed_options options{.cuts = chunker_of("gear", short_chunks)};
    const cancellation cancel;
    auto reader = value_of(make_input_reader(options, file_access::pread, &cancel));
    auto into = value_of(threads.open(options, receiver));
    input_feeder feeder({.destination = into, .reader = reader, .receiver = receiver, .cancel = cancel});
    EXPECT_TRUE(feeder.feed_stream("file", file).ok());
    EXPECT_TRUE(feeder.finish().ok());
    EXPECT_EQ(receiver.failures.size(), 1u);
    return receiver.failures.empty() ? std::string() : receiver.failures[0];
  };
  EXPECT_THAT(when([](int file) { ASSERT_EQ(::ftruncate(file, 3 * MiB + 7), 0); }), testing::HasSubstr("file: "));
  EXPECT_THAT(when([&](int file) { ASSERT_EQ(::pwrite(file, text.data(), 4096, 6 * MiB), 4096); }),
              testing::HasSubstr("file: "));
  EXPECT_THAT(when([&](int file) { ASSERT_EQ(::pwrite(file, text.data(), 4096, 5 * MiB), 4096); }),
              testing::HasSubstr("file: "));
  const auto punch = [](int file) {
    constexpr int mode = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE;
    ASSERT_TRUE(::fallocate(file, mode, MiB, MiB) == 0 || ::ftruncate(file, MiB) == 0);
  };
  EXPECT_THAT(when(punch), testing::HasSubstr("file: "));
}

}  // namespace
}  // namespace cutpoint::tests
