// Tests of inputs: they are delivered in the order of the walk, each failure in its place. Also observers, copies and
// cancellation.
#include <functional>
#include <utility>

#include <cutpoint/algorithms.h>
#include <cutpoint/input_tally.h>
#include <cutpoint/inputs.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/host/io/reading.h"
#include "tests/host/io/temporary_folder.h"
#include "tests/host/support/value_of.h"

namespace cutpoint::tests {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// Records "PATH: BYTES" or "PATH: failed" for each input.
class recording_receiver : public input_receiver {
 public:
  status take_chunk(const delivered_chunk& c) override {
    bytes_ += c.length * c.count;
    return {};
  }

  std::vector<std::string> lines;
  std::vector<std::string> messages;

 private:
  status begin_input(std::uint64_t, const std::string& path) override {
    path_ = path;
    bytes_ = 0;
    return {};
  }
  status end_input(std::uint64_t, const status& outcome) override {
    if (outcome.ok()) lines.push_back(path_ + ": " + std::to_string(bytes_));
    return {};
  }
  status input_failed(const std::string& path, const status& why) override {
    lines.push_back(path + ": failed");
    messages.push_back(why.message());
    return {};
  }

  std::string path_;
  std::uint64_t bytes_ = 0;
};

class recording_observer final : public input_observer {
 public:
  bool takes(const tree_entry& entry) override {
    if (on_entry) on_entry(entry);
    return !entry.path.ends_with("untaken");
  }
  void passed_over(const std::string& path, file_kind kind) override {
    told.push_back(path + ": " + std::string(to_string(kind)));
  }
  void repeated(const std::string& path) override { told.push_back(path + ": repeated"); }
  void left_out(const std::string& path, omission) override { told.push_back(path + ": left out"); }
  void progressed(const reading_record& record) override {
    if (on_progress) on_progress(record);
  }

  std::vector<std::string> told;
  std::function<void(const tree_entry&)> on_entry;
  std::function<void(const reading_record&)> on_progress;
};

class inputs : public testing::Test {
 protected:
  inputs() {
    EXPECT_EQ(::chdir(folder_.path().c_str()), 0);
    reader_.emplace(*make_input_reader(options_, file_access::automatic, &cancel_));
    into_.emplace(*threads_.open(options_, receiver_));
  }
  ~inputs() override { EXPECT_EQ(::chdir("/"), 0); }

  [[nodiscard]] input_feeder_options feeding() {
    return {
        .destination = *into_, .reader = *reader_, .receiver = receiver_, .cancel = cancel_, .observer = &observer_};
  }

  const temporary_folder folder_;
  cancellation cancel_;
  recording_receiver receiver_;
  recording_observer observer_;
  feed_options options_ = {.cuts = *chunker::make(fixed_parameters{.avg_bytes = 1000}),
                           .fingerprint = fingerprint_kind::none};
  engine threads_ = *engine::make({.threads = 1});
  std::optional<file_reader> reader_;
  std::optional<feed> into_;
};

TEST_F(inputs, come_out_in_the_order_of_the_walk_with_failures_in_their_place) {
  folder_.make_file("tree/a", std::string(1, 'a'));
  folder_.make_link("nowhere", "tree/b");
  folder_.make_file("tree/c", std::string(5000, 'c'));
  folder_.make_file("z", "");
  input_feeder feeder(feeding());
  EXPECT_TRUE(feeder.feed_tree("missing", {}).ok());
  EXPECT_TRUE(feeder.feed_tree("tree", {.links = symlinks::follow}).ok());
  EXPECT_TRUE(feeder.feed_tree("z", {}).ok());
  EXPECT_TRUE(feeder.finish().ok());
  EXPECT_THAT(receiver_.lines, ElementsAre("missing: failed", "tree/a: 1", "tree/b: failed", "tree/c: 5000", "z: 0"));
  EXPECT_THAT(receiver_.messages, ElementsAre("missing: cannot be found: No such file or directory",
                                              "tree/b: cannot be found: No such file or directory"));
  EXPECT_EQ(receiver_.done_count(), 3u);
  EXPECT_EQ(receiver_.failed_count(), 2u);
  EXPECT_EQ(feeder.record().input_count, 3u);
  EXPECT_EQ(feeder.record().fed_bytes, 5001u);
}

TEST_F(inputs, that_are_passed_over_are_reported) {
  for (const std::string_view name : {"tree/a", "tree/b.o", "tree/untaken"}) folder_.make_file(name);
  folder_.make_fifo("tree/fifo");
  input_feeder feeder(feeding());
  EXPECT_TRUE(feeder.feed_tree("tree", {.exclude = {*path_pattern::make("*.o")}}).ok());
  EXPECT_TRUE(feeder.finish().ok());
  EXPECT_THAT(receiver_.lines, ElementsAre("tree/a: 7"));
  EXPECT_THAT(observer_.told, ElementsAre("tree/b.o: left out", "tree/fifo: FIFO", "tree/untaken: regular file"));
}

TEST_F(inputs, are_fed_once_where_a_filter_finds_further_names) {
  folder_.make_file("tree/a");
  folder_.make_file("tree/inner/b");
  folder_.make_file("tree/inner/deeper/c");
  folder_.make_file("other/d");
  folder_.make_fifo("fifo");
  ASSERT_EQ(::link("tree/a", "tree/link"), 0);
  ASSERT_EQ(::link("tree/a", "other/link"), 0);
  folder_.make_link("tree/inner/deeper", "inside");
  const std::vector<std::string> paths = {"other", "./other/d", "inside", "tree", "tree/inner", "tree/a", "missing"};
  repeated_file_filter repeats(paths, symlinks::skip);
  input_feeder_options once = feeding();
  once.repeats = &repeats;
  input_feeder feeder(once);
  for (const std::string& path : paths) EXPECT_TRUE(feeder.feed_tree(path, {}).ok());
  EXPECT_TRUE(feeder.finish().ok());
  EXPECT_THAT(receiver_.lines,
              ElementsAre("other/d: 7", "other/link: 7", "inside/c: 7", "tree/inner/b: 7", "missing: failed"));
  EXPECT_THAT(observer_.told, ElementsAre("./other/d: repeated", "tree/a: repeated", "tree/inner/deeper/c: repeated",
                                          "tree/link: repeated", "tree/inner/b: repeated",
                                          "tree/inner/deeper/c: repeated", "tree/a: repeated"));
  EXPECT_EQ(feeder.record().repeated_count, 7u);
  EXPECT_EQ(receiver_.done_count(), 4u);
}

TEST(repeated_file_filter, finds_what_followed_links_lead_to_twice) {
  const temporary_folder folder;
  folder.make_file("tree/a");
  folder.make_file("elsewhere/b");
  for (const std::string_view name : {"tree/one", "tree/two"}) folder.make_link("../elsewhere", name);
  repeated_file_filter repeats({folder / "tree"}, symlinks::follow);
  std::vector<std::string> repeated;
  const walk_callbacks callbacks = {.entry =
                                        [&](const tree_entry& entry) {
                                          if (repeats.is_repeated(entry)) repeated.push_back(entry.path);
                                          return status();
                                        },
                                    .problem = [](const std::string&, const status& why) { return why; }};
  EXPECT_TRUE(walk(folder / "tree", {.links = symlinks::follow}, callbacks).ok());
  EXPECT_THAT(repeated, ElementsAre(folder / "tree/two/b"));
}

TEST_F(inputs, that_change_while_they_are_read_are_reported_after_their_chunks) {
  const std::string path = folder_.make_file("a", std::string(300'000, 'a'));
  bool is_changed = false;
  observer_.on_progress = [&](const reading_record&) {
    if (is_changed) return;
    is_changed = true;
    EXPECT_EQ(::truncate(path.c_str(), 400'000), 0);
  };
  input_feeder feeder(feeding());
  EXPECT_TRUE(feeder.feed_tree("a", {}).ok());
  EXPECT_TRUE(feeder.finish().ok());
  ASSERT_EQ(receiver_.lines.size(), 2u);
  EXPECT_EQ(receiver_.lines.back(), "a: failed");
  EXPECT_EQ(receiver_.done_count(), 0u);
  EXPECT_EQ(receiver_.failed_count(), 1u);
}

/// Feeds two files with a fingerprint, and changes the first one after its first bytes.
class changed_inputs : public inputs {
 protected:
  changed_inputs() { options_.fingerprint = fingerprint_kind::sha1; }

  void feed_while(const std::function<void()>& change) {
    into_.emplace(*threads_.open(options_, receiver_));
    await_next_tick(path_);
    observer_.on_progress = [&, is_changed = false](const reading_record& record) mutable {
      if (record.fed_bytes != 0 && !std::exchange(is_changed, true)) change();
    };
    input_feeder feeder(feeding());
    EXPECT_TRUE(feeder.feed_tree("a", {}).ok());
    EXPECT_TRUE(feeder.feed_tree("b", {}).ok());
    EXPECT_TRUE(feeder.finish().ok());
  }

  const std::string path_ = folder_.make_file("a", std::string(300'000, 'a') + std::string(3 * MiB, '\0') + "end");
  const std::string other_ = folder_.make_file("b", "other");
};

TEST_F(changed_inputs, are_good_if_their_ctime_alone_has_changed) {
  feed_while([&] { EXPECT_EQ(::chmod(path_.c_str(), 0640), 0); });
  EXPECT_THAT(receiver_.lines, ElementsAre("a: 3445731", "b: 5"));
  EXPECT_EQ(receiver_.done_count(), 2u);
  EXPECT_EQ(receiver_.failed_count(), 0u);
}

TEST_F(changed_inputs, fail_if_they_have_other_bytes_and_the_same_mtime) {
  feed_while([&] {
    struct stat before = {};
    ASSERT_EQ(::stat(path_.c_str(), &before), 0);
    held_open(path_, O_WRONLY).write("b");
    const std::timespec times[] = {before.st_atim, before.st_mtim};
    ASSERT_EQ(::utimensat(AT_FDCWD, path_.c_str(), times, 0), 0);
  });
  EXPECT_THAT(receiver_.lines, ElementsAre("a: 3445731", "a: failed", "b: 5"));
  EXPECT_THAT(receiver_.messages, ElementsAre("a: may have been written to while it was read: its ctime has changed"));
  EXPECT_EQ(receiver_.done_count(), 1u);
  EXPECT_EQ(receiver_.failed_count(), 1u);
}

TEST_F(changed_inputs, fail_without_fingerprints) {
  options_.fingerprint = fingerprint_kind::none;
  feed_while([&] { EXPECT_EQ(::chmod(path_.c_str(), 0640), 0); });
  EXPECT_THAT(receiver_.lines, ElementsAre("a: 3445731", "a: failed", "b: 5"));
}

TEST_F(inputs, are_all_fed_with_few_descriptors) {
  for (int i = 100; i < 200; ++i) folder_.make_file("tree/" + std::to_string(i));
  input_feeder feeder(feeding());
  const few_descriptors limit(12);
  EXPECT_TRUE(feeder.feed_tree("tree", {}).ok());
  EXPECT_TRUE(feeder.finish().ok());
  EXPECT_THAT(receiver_.messages, IsEmpty());
  EXPECT_EQ(receiver_.done_count(), 100u);
}

TEST_F(inputs, that_are_streams_come_in_their_turn) {
  folder_.make_file("a", "1");
  folder_.make_file("b", "22");
  input_feeder feeder(feeding());
  EXPECT_TRUE(feeder.feed_tree("a", {}).ok());
  file_source stream = *file_source::open("b");
  EXPECT_TRUE(feeder.feed_stream("-", stream).ok());
  EXPECT_TRUE(feeder.feed_tree("a", {}).ok());
  EXPECT_TRUE(feeder.finish().ok());
  EXPECT_THAT(receiver_.lines, ElementsAre("a: 1", "-: 2", "a: 1"));
}

TEST_F(inputs, are_copied_to_a_second_feed_with_their_holes) {
  const std::string path = folder_.make_file("tree/a", "1");
  ASSERT_EQ(::truncate(path.c_str(), 200'000'000), 0);
  folder_.make_file("tree/b", "22");
  dedup_tally copied(fingerprint_kind::sha1);
  feed_options options = options_;
  options.fingerprint = fingerprint_kind::sha1;
  auto copy = *threads_.open(options, copied);
  input_feeder_options both = feeding();
  both.copy = &copy;
  input_feeder feeder(both);
  EXPECT_TRUE(feeder.feed_tree("tree", {}).ok());
  EXPECT_TRUE(feeder.finish().ok());
  EXPECT_THAT(receiver_.lines, ElementsAre("tree/a: 200000000", "tree/b: 2"));
  EXPECT_EQ(copied.total().bytes, 200'000'002u);
  EXPECT_EQ(copied.total().stream_count, 2u);
}

TEST_F(inputs, that_were_read_before_a_stop_are_delivered) {
  for (const std::string_view name : {"tree/a", "tree/b", "tree/c"}) folder_.make_file(name);
  observer_.on_progress = [&](const reading_record& record) {
    if (record.input_count == 2) cancel_.request();
  };
  input_feeder feeder(feeding());
  const status fed = feeder.feed_tree("tree", {});
  EXPECT_TRUE(fed.ok() || fed.code() == status_code::cancelled);
  EXPECT_EQ(feeder.finish().code(), status_code::cancelled);
  EXPECT_THAT(receiver_.lines, ElementsAre("tree/a: 7"));
  EXPECT_EQ(receiver_.failed_count(), 0u);
}

TEST(input_tally, counts_by_kinds_of_files) {
  class counting_receiver final : public input_tally {
   public:
    using input_tally::input_tally;

   private:
    status input_failed(const std::string&, const status& why) override { return why; }
  };
  const temporary_folder folder;
  folder.make_file("a.c", "one");
  folder.make_file("b.o", "three");
  folder.make_file("c.c", "two");
  cancellation cancel;
  counting_receiver counted(fingerprint_kind::sha1);
  feed_options options = {.cuts = *chunker::make(fixed_parameters{.avg_bytes = 1000}),
                          .fingerprint = fingerprint_kind::sha1};
  engine threads = *engine::make({.threads = 1});
  auto into = *threads.open(options, counted);
  auto reader = *make_input_reader(options, file_access::pread, &cancel);
  input_feeder feeder({.destination = into, .reader = reader, .receiver = counted, .cancel = cancel});
  EXPECT_TRUE(feeder.feed_tree(folder.path(), {}).ok());
  EXPECT_TRUE(feeder.finish().ok());
  EXPECT_THAT(counted.kind_names(), ElementsAre(".c", ".o"));
  ASSERT_EQ(counted.tally().kinds().size(), 2u);
  EXPECT_EQ(counted.tally().kinds()[0].bytes, 6u);
  EXPECT_EQ(counted.tally().kinds()[1].bytes, 5u);
}

TEST(input_reader, leaves_the_memory_for_kept_bytes_alone) {
  feed_options options = {.cuts = *chunker::make(fixed_parameters{.avg_bytes = 1000}),
                          .memory_bytes = 64 * MiB,
                          .kept_memory_bytes = 62 * MiB};
  static_cast<void>(value_of(make_input_reader(options, file_access::automatic, nullptr)));
  EXPECT_EQ(options.memory_bytes, 64 * MiB);
}

TEST(input_reader, takes_its_memory_from_the_feed) {
  feed_options options = {.cuts = *chunker::make(fixed_parameters{.avg_bytes = 1000}), .memory_bytes = 64 * MiB};
  const auto reader = value_of(make_input_reader(options, file_access::automatic, nullptr));
  EXPECT_EQ(options.memory_bytes, reader.reads_ahead() ? 60 * MiB : 64 * MiB);
  options.memory_bytes = 15 * MiB;
  EXPECT_FALSE(make_input_reader(options, file_access::automatic, nullptr)->reads_ahead());
  EXPECT_EQ(options.memory_bytes, 15 * MiB);
  EXPECT_EQ(make_input_reader(options, file_access::uring, nullptr).error().code(), status_code::invalid_argument);
}

}  // namespace
}  // namespace cutpoint::tests
