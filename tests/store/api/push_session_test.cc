// Streams that are pushed are stored as a backup stores files. What failed never looks whole, and what was abandoned leaves a
// store that is clean.
#include <algorithm>
#include <cstring>
#include <filesystem>
#include <list>
#include <map>
#include <thread>

#include <cutpoint/store_diff.h>
#include <cutpoint/store_push.h>
#include <cutpoint/text.h>
#include <gtest/gtest.h>

#include "tests/host/io/temporary_folder.h"
#include "tests/host/support/streams.h"
#include "tests/host/support/value_of.h"
#include "tests/store/support/stored_files.h"

namespace cutpoint::tests {
namespace {

using file_texts = std::map<std::string, std::string>;

/// Returns a text as it is, or what shows whether two long texts are equal.
std::string summary_of(const std::string& text) {
  if (text.size() < 100) return text;
  return std::to_string(text.size()) + " bytes with the hash " + std::to_string(std::hash<std::string>()(text));
}

byte_span bytes_of(std::string_view text) { return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}; }

/// A store in a folder of its own, with small containers.
class pushed_store {
 public:
  explicit pushed_store(const store_secret& secret = {}, std::uint64_t thread_count = 2)
      : threads_(*engine::make({.threads = thread_count})) {
    EXPECT_TRUE(backup_store::create(folder_ / "store", {.cuts = {}, .container_bytes = 256 * KiB}, secret).ok());
    store_.emplace(*backup_store::open(folder_ / "store", secret));
  }

  [[nodiscard]] backup_store& store() { return *store_; }
  [[nodiscard]] engine& threads() { return threads_; }
  [[nodiscard]] const temporary_folder& folder() const { return folder_; }
  [[nodiscard]] result<push_session> begin(const store_push_options& options = {}) {
    return push_session::begin(*store_, threads_, options);
  }
  /// Returns the summaries of the regular files of a snapshot, and "/" for folders.
  [[nodiscard]] file_texts read(const std::string& id) {
    file_texts files;
    EXPECT_TRUE(store_
                    ->list_files(id, "",
                                 [&](const stored_file& file) {
                                   if (!file.path.empty())
                                     files[file.path] = file.kind == file_kind::directory ? "/" : "";
                                   return status();
                                 })
                    .ok());
    for (auto& [path, text] : files) {
      if (text.empty()) text = summary_of(read_file(*store_, id, path));
    }
    return files;
  }
  /// Expects that a check of all bytes finds nothing, and that nobody uses the store.
  void expect_clean() {
    tests::expect_clean(*store_);
    EXPECT_TRUE(store_->sessions()->empty());
  }
  /// Expects that a prune leaves nothing.
  void expect_nothing_after_prune() {
    EXPECT_EQ(value_of(store_->prune({.most_unused = 0})).waiting_containers, 0u);
    EXPECT_EQ(store_->statistics()->containers, 0u);
    expect_clean();
  }

 private:
  temporary_folder folder_;
  engine threads_;
  std::optional<backup_store> store_;
};

/// Pushes a whole file in blocks of a size.
status push(push_session& session, const std::string& path, const std::string& text, std::size_t block_bytes = 10'007) {
  auto stream = session.begin_stream(path);
  if (!stream) return stream.error();
  for (std::size_t begin = 0; begin < text.size(); begin += block_bytes) {
    if (status written = stream->write(bytes_of(text).subspan(begin, std::min(block_bytes, text.size() - begin)));
        !written.ok()) {
      return written;
    }
  }
  return stream->end();
}

TEST(push_session, stores_what_a_backup_of_the_same_files_stores) {
  for (const store_secret& secret : {store_secret{}, store_secret{store_secret::kind::password, "secret"}}) {
    pushed_store target(secret);
    const temporary_folder files;
    const std::string text = drawn_text(content::random, 3'000'000, 1);
    files.make_file("tree/data", text);
    files.make_file("tree/below/empty", "");
    files.make_file("tree/sparse", text.substr(0, 262'144));
    std::filesystem::resize_file(files / "tree/sparse", 8'062'144);
    const auto backup = value_of(target.store().back_up(target.threads(), {.paths = {files / "tree"}, .host = {}}));

    auto session = value_of(target.begin({.host = "appliance", .paths = {"/tree"}, .tags = {"nightly"}, .time = 123}));
    ASSERT_TRUE(push(session, "/tree/data", text).ok());
    auto sparse = value_of(session.begin_stream("/tree/sparse"));
    ASSERT_TRUE(sparse.write(bytes_of(text).first(262'144)).ok());
    ASSERT_TRUE(sparse.write_hole(7'000'000).ok() && sparse.write_hole(800'000).ok() && sparse.end().ok());
    ASSERT_TRUE(push(session, "/tree/below/empty", "").ok());
    const auto pushed = value_of(session.commit());

    EXPECT_LT(pushed.new_raw_bytes, 5'000u) << "only folders are new";
    const auto compared = value_of(target.store().diff(
        {.before = backup.id, .before_path = files / "tree", .after = pushed.id, .after_path = "/tree"}));
    EXPECT_EQ(compared.modified, 0u) << "the same extents";
    EXPECT_EQ(compared.added.files + compared.removed.files + compared.problems, 0u);
    EXPECT_EQ(target.read(pushed.id),
              (file_texts{{"/tree", "/"},
                          {"/tree/below", "/"},
                          {"/tree/below/empty", ""},
                          {"/tree/data", summary_of(text)},
                          {"/tree/sparse", summary_of(text.substr(0, 262'144) + std::string(7'800'000, '\0'))}}));
    const auto listed = value_of(target.store().find_snapshot("latest"));
    EXPECT_EQ(listed.id, pushed.id);
    EXPECT_EQ(listed.host, "appliance");
    EXPECT_EQ(listed.paths, std::vector<std::string>{"/tree"});
    EXPECT_EQ(listed.tags, std::vector<std::string>{"nightly"});
    EXPECT_EQ(listed.time, 123);
    EXPECT_EQ(listed.files, 3u);
    EXPECT_EQ(listed.folders, 2u);
    EXPECT_EQ(listed.bytes, 11'062'144u);
    EXPECT_FALSE(listed.is_incomplete);
    target.expect_clean();
  }
}

TEST(push_session, takes_streams_of_several_threads_at_once) {
  for (const std::uint64_t thread_count : {1u, 3u}) {
    pushed_store target({}, thread_count);
    auto session = target.begin({.host = "h", .most_streams = 4});
    ASSERT_TRUE(session.ok()) << session.error().message();
    const std::string shared = drawn_text(content::random, 1'500'000, 2);
    file_texts expected;
    std::vector<std::jthread> threads;
    for (std::uint64_t thread = 0; thread < 4; ++thread) {
      std::vector<std::pair<std::string, std::string>> files;
      for (std::uint64_t i = 0; i < 5; ++i) {
        // All streams have bytes of each other, so that one refers to chunks that another is about to store.
        files.emplace_back("/" + std::to_string(4 - i) + "/of" + std::to_string(thread),
                           shared + drawn_text(content::random, 30'000 * i, 10 * thread + i) + shared);
        expected[files.back().first] = summary_of(files.back().second);
        expected["/" + std::to_string(4 - i)] = "/";
      }
      threads.emplace_back([&session, thread, files = std::move(files)] {
        for (const auto& [path, text] : files) EXPECT_TRUE(push(*session, path, text, 1'000 + 3'777 * thread).ok());
      });
    }
    threads.clear();
    const auto pushed = value_of(session->commit());
    EXPECT_EQ(pushed.files, 20u);
    EXPECT_EQ(target.read(pushed.id), expected);
    EXPECT_LT(pushed.new_raw_bytes, 6'000'000u) << "what streams share is stored once";
    target.expect_clean();
  }
}

TEST(push_session, one_thread_writes_streams_in_turn) {
  pushed_store target;
  auto session = value_of(target.begin({.most_streams = 3}));
  std::vector<push_stream> streams;
  const std::string block = drawn_text(content::random, 100'000, 3);
  for (const char* const path : {"/c", "/a", "/b"}) {
    streams.push_back(value_of(session.begin_stream(path)));
  }
  EXPECT_EQ(session.begin_stream("/d").error().message(), "/d: 3 streams are open already (most_streams)");
  for (int round = 0; round < 200; ++round) {
    for (push_stream& each : streams) ASSERT_TRUE(each.write(bytes_of(block)).ok());
  }
  EXPECT_EQ(session.commit().error().code(), status_code::invalid_argument) << "streams are open";
  for (push_stream& each : streams) ASSERT_TRUE(each.end().ok());
  EXPECT_EQ(streams[0].write(bytes_of(block)).message(), "the stream has ended");
  EXPECT_EQ(streams[0].end().code(), status_code::invalid_argument);
  EXPECT_EQ(value_of(session.commit()).bytes, 60'000'000u);
  EXPECT_EQ(session.begin_stream("/late").error().message(), "the push session has ended");
  EXPECT_EQ(session.commit().error().message(), "the push session has ended");
  target.expect_clean();
}

TEST(push_session, a_stream_that_failed_or_was_not_ended_is_left_out_and_named) {
  pushed_store target;
  file_texts problems;
  auto session =
      target.begin({.problem = [&](const std::string& path, const status& why) { problems[path] = why.message(); }});
  ASSERT_TRUE(session.ok());
  ASSERT_TRUE(push(*session, "/whole", drawn_text(content::random, 100'000, 4)).ok());
  {
    auto failed = value_of(session->begin_stream("/dump"));
    ASSERT_TRUE(failed.write(bytes_of(drawn_text(content::random, 700'000, 5))).ok());
    failed.fail({status_code::io_error, "the producer died"});
    failed.fail({status_code::io_error, "no effect"});
    ASSERT_TRUE(value_of(session->begin_stream("/lost")).write(bytes_of("half")).ok());
    ASSERT_TRUE(value_of(session->begin_stream("/retried")).write(bytes_of("half")).ok());
  }
  ASSERT_TRUE(push(*session, "/retried", "whole").ok());
  const auto pushed = value_of(session->commit());
  EXPECT_TRUE(pushed.is_incomplete);
  EXPECT_EQ(problems, (file_texts{{"/dump", "the producer died"},
                                  {"/lost", "/lost: the stream was not ended"},
                                  {"/retried", "/retried: the stream was not ended"}}));
  EXPECT_EQ(target.read(pushed.id),
            (file_texts{{"/retried", "whole"}, {"/whole", summary_of(drawn_text(content::random, 100'000, 4))}}));
  EXPECT_EQ(pushed.files, 2u);
  target.expect_clean();

  auto second = value_of(target.begin());
  second.begin_stream("/retried")->fail({status_code::io_error, "once"});
  ASSERT_TRUE(push(second, "/retried", "whole").ok());
  EXPECT_FALSE(second.commit()->is_incomplete) << "the path was pushed again";
}

TEST(push_session, stores_the_longest_sparse_file_and_no_longer_one) {
  pushed_store target;
  auto session = value_of(target.begin());
  auto longest = value_of(session.begin_stream("/longest"));
  ASSERT_TRUE(longest.write_hole(INT64_MAX - 1).ok());
  EXPECT_EQ(longest.write(bytes_of("ab")).code(), status_code::invalid_argument);
  ASSERT_TRUE(longest.write(bytes_of("a")).ok());
  EXPECT_EQ(longest.write_hole(1).code(), status_code::invalid_argument);
  EXPECT_EQ(longest.write(bytes_of("b")).code(), status_code::invalid_argument);
  ASSERT_TRUE(longest.end().ok() && push(session, "/other", "text").ok());
  const auto pushed = value_of(session.commit());
  std::map<std::string, std::uint64_t> sizes;
  ASSERT_TRUE(target.store()
                  .list_files(pushed.id, "",
                              [&](const stored_file& file) {
                                sizes[file.path] = file.size;
                                return status();
                              })
                  .ok());
  EXPECT_EQ(sizes["/longest"], std::uint64_t{INT64_MAX});
  EXPECT_EQ(read_file(target.store(), pushed.id, "/longest", INT64_MAX - 2), std::string("\0a", 2));
  target.expect_clean();
  EXPECT_TRUE(target.store().prune({}).ok());
}

TEST(push_session, commits_nothing_if_nothing_is_whole) {
  pushed_store target;
  auto session = target.begin();
  session->begin_stream("/below/dump")->fail({status_code::io_error, "the producer died"});
  EXPECT_EQ(session->commit().error().message(), "the producer died");
  EXPECT_EQ(target.begin()->commit().error().message(), "nothing was pushed");
  EXPECT_TRUE(target.store().snapshots()->empty());
  target.expect_clean();
}

TEST(push_session, an_abandoned_session_leaves_nothing_that_a_prune_would_not_remove) {
  pushed_store target;
  {
    std::optional<push_stream> open_stream;
    {
      auto session = target.begin();
      ASSERT_TRUE(session.ok());
      ASSERT_TRUE(push(*session, "/whole", drawn_text(content::random, 2'000'000, 6)).ok());
      open_stream.emplace(*session->begin_stream("/open"));
      ASSERT_TRUE(open_stream->write(bytes_of(drawn_text(content::random, 2'000'000, 7))).ok());
      EXPECT_EQ(target.store().sessions()->size(), 1u);
    }
    EXPECT_EQ(open_stream->write(bytes_of("late")).message(), "the push session has ended");
  }
  EXPECT_TRUE(target.store().snapshots()->empty());
  target.expect_nothing_after_prune();
}

TEST(push_session, cancellation_ends_writes_and_the_commit) {
  pushed_store target;
  cancellation stop;
  std::optional<push_session> session(*target.begin({.cancel = &stop}));
  ASSERT_TRUE(push(*session, "/whole", "text").ok());
  auto stream = value_of(session->begin_stream("/long"));
  const std::string block = drawn_text(content::random, 300'000, 10);
  ASSERT_TRUE(stream.write(bytes_of(block)).ok());
  std::jthread canceller([&] { stop.request(); });
  status written;
  while (written.ok()) written = stream.write(bytes_of(block));
  EXPECT_EQ(written.code(), status_code::cancelled);
  EXPECT_EQ(stream.end().code(), status_code::cancelled);
  EXPECT_EQ(session->begin_stream("/other").error().code(), status_code::cancelled);
  EXPECT_EQ(session->commit().error().code(), status_code::cancelled);
  EXPECT_TRUE(target.store().snapshots()->empty());
  session.reset();
  target.expect_nothing_after_prune();
}

TEST(push_session, an_upper_rate_holds_streams_and_backups_back_until_they_are_cancelled) {
  pushed_store target;
  target.folder().make_file("file", drawn_text(content::random, 100'000, 11));
  cancellation stop, stop_backup;
  auto session = target.begin({.most_bytes_per_second = 1, .cancel = &stop});
  auto stream = session->begin_stream("/slow");
  std::jthread canceller([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    stop.request();
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    stop_backup.request();
  });
  EXPECT_EQ(stream->write(bytes_of(drawn_text(content::random, 100'000, 12))).code(), status_code::cancelled);
  const status backup = error_of(target.store().back_up(
      target.threads(),
      {.paths = {target.folder() / "file"}, .host = {}, .most_bytes_per_second = 1, .cancel = &stop_backup}));
  EXPECT_EQ(backup.code(), status_code::cancelled);
}

TEST(push_session, an_upper_rate_holds_a_restore_back_until_it_is_cancelled) {
  pushed_store target;
  auto session = target.begin();
  ASSERT_TRUE(push(*session, "/file", drawn_text(content::random, 1'000'000, 13)).ok());
  const auto pushed = value_of(session->commit());
  for (const std::uint64_t thread_count : {1u, 2u}) {
    cancellation stop;
    std::jthread canceller([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
      stop.request();
    });
    const status restored = error_of(target.store().restore(pushed.id, {.target = target.folder() / "restored",
                                                                        .replaces_files = true,
                                                                        .threads = thread_count,
                                                                        .most_bytes_per_second = 1,
                                                                        .cancel = &stop}));
    EXPECT_EQ(restored.code(), status_code::cancelled);
  }
}

TEST(push_session, refuses_paths_that_a_snapshot_cannot_have) {
  pushed_store target;
  auto session = value_of(target.begin({.paths = {"/vm", "/db/dumps"}}));
  const auto refusal = [&](const std::string& path) {
    const auto stream = session.begin_stream(path);
    if (stream.ok()) return std::string("it was begun");
    EXPECT_EQ(stream.error().code(), status_code::invalid_argument);
    return stream.error().message();
  };
  EXPECT_EQ(refusal(""), "a path in a snapshot is not empty");
  EXPECT_EQ(refusal("vm/disk"), "vm/disk: a path in a snapshot begins with a slash");
  EXPECT_EQ(refusal("/vm/../disk"), "/vm/../disk: '..' is not the name of a file");
  EXPECT_EQ(refusal("/vm/./disk"), "/vm/./disk: '.' is not the name of a file");
  for (const char* const path : {"/vm//disk", "/vm/disk/", "/vm/", "//vm"}) {
    EXPECT_EQ(refusal(path), std::string(path) + ": it has an empty name, at its end or between two slashes");
  }
  EXPECT_EQ(refusal("/vm/" + std::string(4093, 'x')), "a path of 4097 bytes: at most 4096 are possible");
  EXPECT_NE(refusal(std::string("/vm/a\0b", 7)).find("is not the name of a file"), std::string::npos);
  EXPECT_EQ(refusal("/db/other"), "/db/other: it lies below none of the paths of the snapshot");
  ASSERT_TRUE(push(session, "/vm/disk", "text").ok());
  EXPECT_EQ(refusal("/vm/disk"), "/vm/disk: is there already");
  EXPECT_EQ(refusal("/vm/disk/part/x"), "/vm/disk/part/x: /vm/disk is there already, and is no folder");
  EXPECT_EQ(refusal("/vm"), "/vm: is there already");
  EXPECT_EQ(session.add(describe_pushed_file("/vm/x")).code(), status_code::invalid_argument);
  EXPECT_EQ(session.add(describe_pushed_file("/vm/x", file_kind::symbolic_link)).code(), status_code::invalid_argument);
  pushed_file fifo = describe_pushed_file("/vm/x", file_kind::fifo);
  fifo.permissions = 010000;
  EXPECT_EQ(session.add(fifo).code(), status_code::invalid_argument);
  fifo.permissions = 0600;
  for (std::uint32_t i = 0; i < 70'000; ++i) {
    fifo.attributes.push_back(
        {{static_cast<char>(1 + i / 5'000), static_cast<char>(1 + i / 100 % 50), static_cast<char>(1 + i % 100)}, {}});
  }
  EXPECT_EQ(session.add(fifo).message(), "/vm/x: it has 70000 extended attributes: 16384 are possible");
  EXPECT_EQ(target.begin({.paths = {"vm"}}).error().code(), status_code::invalid_argument);
  EXPECT_EQ(target.begin({.paths = {}}).error().code(), status_code::invalid_argument);
  EXPECT_EQ(target.begin({.tags = {"a,b"}}).error().code(), status_code::invalid_argument);
  EXPECT_EQ(target.begin({.most_streams = 0}).error().code(), status_code::invalid_argument);
  EXPECT_TRUE(session.commit().ok()) << "what was refused does no harm";
}

TEST(push_session, restores_the_metadata_that_was_pushed) {
  pushed_store target;
  auto session = target.begin();
  pushed_file disk = describe_pushed_file("/vm/disk");
  disk.permissions = 0640;
  disk.modified = {.tv_sec = 1'000'000'000, .tv_nsec = 7};
  auto stream = value_of(session->begin_stream(disk));
  ASSERT_TRUE(stream.write(bytes_of("text")).ok() && stream.end().ok());
  pushed_file link = describe_pushed_file("/vm/link", file_kind::symbolic_link);
  link.target = "disk";
  ASSERT_TRUE(session->add(link).ok());
  pushed_file folder = describe_pushed_file("/vm", file_kind::directory);
  folder.permissions = 0750;
  ASSERT_TRUE(session->add(folder).ok());
  EXPECT_EQ(session->add(folder).message(), "/vm: is there already");
  const auto pushed = value_of(session->commit());
  const std::string restored = target.folder() / "restored";
  ASSERT_TRUE(target.store().restore(pushed.id, {.target = restored}).ok());
  const auto disk_entry = value_of(describe_file(restored + "/vm/disk", symlinks::skip));
  EXPECT_EQ(disk_entry.permissions, 0640u);
  EXPECT_EQ(disk_entry.modified.tv_sec, 1'000'000'000);
  EXPECT_EQ(disk_entry.modified.tv_nsec, 7);
  EXPECT_EQ(describe_file(restored + "/vm", symlinks::skip)->permissions, 0750u);
  EXPECT_EQ(std::filesystem::read_symlink(restored + "/vm/link"), "disk");
}

TEST(push_session, takes_many_streams_of_one_thread_in_the_bounded_memory_of_an_engine) {
  constexpr std::size_t many = 64;
  for (const std::uint64_t thread_count : {1u, 2u, 8u}) {
    pushed_store target;
    engine bounded = *engine::make({.threads = thread_count, .memory_bytes = 64 * MiB});
    auto session = value_of(push_session::begin(target.store(), bounded, {.most_streams = many}));
    EXPECT_EQ(bounded.check_memory(16 * MiB).code(), status_code::memory_limit) << "all that they need is theirs";
    file_texts expected;
    std::vector<std::string> texts;
    std::list<push_stream> streams;
    for (std::size_t i = 0; i < many; ++i) {
      const auto bytes = make_stream(i % 4 == 0 ? content::two_symbols : content::random, 500'000 + i * 1000,
                                     i / 2);  // pairs are alike
      texts.emplace_back(bytes.begin(), bytes.end());
      streams.push_back(value_of(session.begin_stream("/" + std::to_string(i))));
      expected["/" + std::to_string(i)] = summary_of(texts.back());
    }
    constexpr std::size_t block = 50'000;
    for (std::size_t done = 0; done < texts.back().size(); done += block) {
      auto text = texts.begin();
      for (push_stream& each : streams) {
        const std::string_view rest = std::string_view(*text).substr(std::min(done, text->size()));
        ASSERT_EQ(each.write(bytes_of(rest.substr(0, block))).message(), "");
        ++text;
      }
    }
    for (push_stream& each : streams) ASSERT_EQ(each.end().message(), "");
    EXPECT_EQ(target.read(value_of(session.commit()).id), expected);
    EXPECT_TRUE(bounded.check_memory(32 * MiB).ok()) << "and is given back";
  }
}

TEST(push_session, is_refused_with_the_memory_that_would_do) {
  pushed_store target;
  const auto enough = [](const status& refusal) {
    EXPECT_EQ(refusal.code(), status_code::memory_limit);
    std::string number = refusal.message().substr(refusal.message().rfind("memory_bytes = ") + 15);
    return value_of(parse_size(number.substr(0, number.find(' '))));
  };
  engine small = *engine::make({.threads = 2, .memory_bytes = 4 * MiB});
  const auto refused = push_session::begin(target.store(), small, {.most_streams = 8});
  ASSERT_FALSE(refused.ok());
  EXPECT_TRUE(refused.error().message().starts_with("most_streams = 8: ")) << refused.error().message();
  EXPECT_TRUE(target.store().sessions()->empty());
  engine large = *engine::make({.threads = 2, .memory_bytes = enough(refused.error())});
  EXPECT_TRUE(push_session::begin(target.store(), large, {.most_streams = 8}).ok());
  EXPECT_FALSE(push_session::begin(target.store(), large, {.most_streams = 9}).ok());

  const auto short_of_its_own = target.begin({.most_streams = 8, .memory_bytes = 1 * MiB});
  ASSERT_FALSE(short_of_its_own.ok());
  EXPECT_TRUE(target.begin({.most_streams = 8, .memory_bytes = enough(short_of_its_own.error())}).ok());
}

TEST(push_session, keeps_within_its_memory_or_says_so) {
  pushed_store target;
  auto session = value_of(target.begin({.most_streams = 1, .memory_bytes = 2 * MiB}));
  status pushed;
  int files = 0;
  for (; pushed.ok() && files < 10'000; ++files) pushed = push(session, "/" + std::to_string(files), "text");
  EXPECT_EQ(pushed.code(), status_code::memory_limit);
  EXPECT_GT(files, 500);
  EXPECT_EQ(session.commit().error().code(), status_code::memory_limit);
  EXPECT_EQ(target.begin({.memory_bytes = 1'000}).error().code(), status_code::memory_limit);
}

}  // namespace
}  // namespace cutpoint::tests
