// Push sessions through the interface for C: files and their metadata, threads, failures, cancellation, wrong calls; and the progress that
// work on stores tells.
#include <array>
#include <cerrno>
#include <functional>
#include <map>
#include <set>
#include <thread>

#include <sys/xattr.h>

#include "tests/bindings/c/handles.h"
#include "tests/host/support/streams.h"

namespace cutpoint::tests {
namespace {

using testing::Each;
using testing::HasSubstr;
using codes = std::vector<cutpoint_status>;

cutpoint_pushed_file file_at(const char* path) {
  auto file = sized<cutpoint_pushed_file>();
  file.path = path;
  return file;
}

class c_push : public testing::Test {
 protected:
  c_push() {
    options_.host = "appliance";
    options_.context = &note_problem_;
    options_.problem = forward_to(note_problem_);
  }
  ~c_push() override { EXPECT_EQ(cutpoint_push_destroy(push_), CUTPOINT_OK); }

  void expect_ok(cutpoint_status code) { ASSERT_EQ(code, CUTPOINT_OK) << error_.message; }
  void begin() { expect_ok(cutpoint_push_begin(store_.get(), engine_.get(), &options_, &push_, &error_)); }
  cutpoint_push_stream* begin_stream(const cutpoint_pushed_file& file) {
    cutpoint_push_stream* stream = nullptr;
    expect_ok(cutpoint_push_begin_stream(push_, &file, &stream, &error_));
    return stream;
  }
  cutpoint_push_stream* begin_stream(const char* path) { return begin_stream(file_at(path)); }
  cutpoint_status write(cutpoint_push_stream* stream, std::string_view text) {
    return cutpoint_push_write(stream, text.data(), text.size(), nullptr);
  }
  void push_whole(const char* path, std::string_view text) {
    const cutpoint_pushed_file file = file_at(path);
    cutpoint_push_stream* stream = nullptr;
    EXPECT_EQ(cutpoint_push_begin_stream(push_, &file, &stream, nullptr), CUTPOINT_OK);
    EXPECT_EQ(write(stream, text), CUTPOINT_OK);
    EXPECT_EQ(cutpoint_push_end(stream, nullptr), CUTPOINT_OK);
  }
  const cutpoint_store_snapshot* commit() {
    const cutpoint_store_snapshot* snapshot = nullptr;
    expect_ok(cutpoint_push_commit(push_, &snapshot, &error_));
    return snapshot;
  }

  const temporary_folder folder_;
  const std::string large_ = [] {
    seeded_choices random(5);
    const auto drawn = make_stream(content::mixed, 900'000, random);
    return std::string(drawn.begin(), drawn.end());
  }();
  const engine_handle engine_ = make_engine(2);
  const store_handle store_ = make_store(folder_ / "store");
  std::map<std::string, std::string> problems_;
  int answer_ = 0;
  std::function<int(const char*, cutpoint_status, const char*)> note_problem_ =
      [this](const char* path, cutpoint_status, const char* why) {
        problems_[path] = why;
        return answer_;
      };
  cutpoint_push_options options_ = sized<cutpoint_push_options>();
  cutpoint_push* push_ = nullptr;
  cutpoint_error error_ = {};
};

TEST_F(c_push, streams_of_several_threads_become_files) {
  const char *const path = "/vm", *const tag = "nightly";
  options_.paths = &path;
  options_.path_count = 1;
  options_.tags = &tag;
  options_.tag_count = 1;
  options_.time = 1'700'000'000'000'000'000;
  begin();
  std::vector<std::jthread> threads;
  for (const char* const each : {"/vm/a", "/vm/b", "/vm/c", "/vm/d"}) {
    threads.emplace_back([this, each] { push_whole(each, large_); });
  }
  threads.clear();
  cutpoint_pushed_file file = file_at("/vm/sparse"), link = file_at("/vm/link");
  file.flags = CUTPOINT_PUSHED_PERMISSIONS | CUTPOINT_PUSHED_MODIFIED | CUTPOINT_PUSHED_OWNER;
  file.permissions = 0640;
  file.user_id = 12;
  file.group_id = 13;
  file.modified_seconds = 1'000'000'000;
  cutpoint_push_stream* const stream = begin_stream(file);
  expect_ok(cutpoint_push_write_hole(stream, 1'000'000, &error_));
  expect_ok(write(stream, "end"));
  expect_ok(cutpoint_push_end(stream, &error_));
  link.kind = CUTPOINT_SYMBOLIC_LINK;
  link.target = "a";
  expect_ok(cutpoint_push_add(push_, &link, &error_));

  const cutpoint_store_snapshot* const snapshot = commit();
  EXPECT_EQ(snapshot->files, 6u);
  EXPECT_EQ(snapshot->flags, 0u);
  EXPECT_EQ(snapshot->time, options_.time);
  EXPECT_STREQ(snapshot->host, "appliance");
  EXPECT_STREQ(snapshot->paths[0], "/vm");
  EXPECT_STREQ(snapshot->tags[0], "nightly");
  EXPECT_EQ(read_range(store_.get(), snapshot->id, "/vm/c", 0, UINT64_MAX), large_);
  EXPECT_EQ(read_range(store_.get(), snapshot->id, "/vm/sparse", 999'999, UINT64_MAX), std::string("\0end", 4));
  auto note = [&](const cutpoint_stored_file* each) {
    EXPECT_EQ(each->permissions, 0640u);
    EXPECT_EQ(each->user_id, 12u);
    EXPECT_EQ(each->group_id, 13u);
    EXPECT_EQ(each->modified_seconds, 1'000'000'000);
    return 0;
  };
  expect_ok(cutpoint_store_list_files(store_.get(), snapshot->id, "/vm/sparse", forward_to(note), &note, &error_));
}

TEST_F(c_push, many_streams_of_one_thread_share_the_bounded_memory_of_an_engine) {
  auto bounded = sized<cutpoint_engine_options>();
  bounded.threads = 2;
  const auto begin_with = [&](std::uint64_t memory_bytes) {
    bounded.memory_bytes = memory_bytes;
    cutpoint_engine* engine = nullptr;
    expect_ok(cutpoint_engine_create(&bounded, &engine, &error_));
    const engine_handle owner(engine);  // a session keeps its threads
    return cutpoint_push_begin(store_.get(), engine, &options_, &push_, &error_);
  };
  options_.most_streams = 64;
  EXPECT_EQ(begin_with(16 << 20), CUTPOINT_MEMORY_LIMIT);
  EXPECT_THAT(error_.message, HasSubstr("most_streams = 64: "));
  EXPECT_THAT(error_.message, HasSubstr("of the engine would do"));
  expect_ok(begin_with(64 << 20));
  std::vector<cutpoint_push_stream*> streams;
  for (int i = 0; i < 64; ++i) streams.push_back(begin_stream(("/" + std::to_string(i)).c_str()));
  for (std::size_t done = 0; done < large_.size(); done += 100'000) {
    const std::string_view block = std::string_view(large_).substr(done, 100'000);
    for (cutpoint_push_stream* const each : streams) EXPECT_EQ(write(each, block), CUTPOINT_OK);
  }
  for (cutpoint_push_stream* const each : streams) EXPECT_EQ(cutpoint_push_end(each, nullptr), CUTPOINT_OK);
  const cutpoint_store_snapshot* const snapshot = commit();
  EXPECT_EQ(snapshot->files, 64u);
  EXPECT_EQ(read_range(store_.get(), snapshot->id, "/63", 0, UINT64_MAX), large_);
}

TEST_F(c_push, extended_attributes_are_restored) {
  begin();
  const cutpoint_attribute attributes[] = {{"user.comment", "\0text", 5}, {"user.empty", nullptr, 0}};
  cutpoint_pushed_file file = file_at("/file");
  file.attributes = attributes;
  file.attribute_count = 2;
  expect_ok(cutpoint_push_end(begin_stream(file), &error_));
  const std::string target = folder_ / "target", restored = target + "/file";
  auto options = sized<cutpoint_store_restore_options>();
  options.target = target.c_str();
  expect_ok(cutpoint_store_restore(store_.get(), commit()->id, &options, nullptr, &error_));
  std::array<char, 10> value = {};
  const auto length = ::getxattr(restored.c_str(), "user.comment", value.data(), value.size());
  if (length < 0 && errno == ENOTSUP) GTEST_SKIP() << "the folder has no extended attributes";
  EXPECT_EQ(std::string(value.data(), static_cast<std::size_t>(length)), std::string("\0text", 5));
  EXPECT_EQ(::getxattr(restored.c_str(), "user.empty", value.data(), value.size()), 0);
}

TEST_F(c_push, a_failed_stream_is_left_out_and_named) {
  begin();
  push_whole("/whole", large_);
  cutpoint_push_stream* const stream = begin_stream("/dump");
  EXPECT_EQ(cutpoint_push_commit(push_, nullptr, &error_), CUTPOINT_INVALID_ARGUMENT) << "a stream is open";
  EXPECT_EQ(cutpoint_push_fail(stream, "the producer died"), CUTPOINT_OK);
  EXPECT_EQ(cutpoint_push_fail(begin_stream("/other"), nullptr), CUTPOINT_OK);
  EXPECT_EQ(cutpoint_push_fail(nullptr, nullptr), CUTPOINT_OK);
  const cutpoint_store_snapshot* const snapshot = commit();
  EXPECT_EQ(snapshot->flags, static_cast<std::uint64_t>(CUTPOINT_SNAPSHOT_INCOMPLETE));
  EXPECT_EQ(snapshot->files, 1u);
  EXPECT_EQ(problems_,
            (std::map<std::string, std::string>{{"/dump", "the producer died"}, {"/other", "the stream has failed"}}));
  EXPECT_EQ(cutpoint_push_commit(push_, nullptr, &error_), CUTPOINT_INVALID_ARGUMENT);
  EXPECT_THAT(error_.message, HasSubstr("has ended"));
}

TEST_F(c_push, a_callback_that_fails_ends_the_session) {
  answer_ = 7;
  begin();
  push_whole("/whole", "text");
  EXPECT_EQ(cutpoint_push_fail(begin_stream("/dump"), "x"), CUTPOINT_CALLBACK_FAILED);
  EXPECT_EQ(cutpoint_push_commit(push_, nullptr, &error_), CUTPOINT_CALLBACK_FAILED);
  EXPECT_THAT(error_.message, HasSubstr("the callback problem returned 7"));
}

TEST_F(c_push, cancellation_has_its_own_status_and_leaves_no_snapshot) {
  begin();
  cutpoint_push_stream* const stream = begin_stream("/long");
  std::jthread canceller([this] { EXPECT_EQ(cutpoint_push_cancel(push_), CUTPOINT_OK); });
  cutpoint_status written = CUTPOINT_OK;
  while (written == CUTPOINT_OK) written = write(stream, large_);
  EXPECT_EQ(written, CUTPOINT_CANCELLED);
  EXPECT_EQ(cutpoint_push_end(stream, &error_), CUTPOINT_CANCELLED);
  EXPECT_EQ(cutpoint_push_commit(push_, nullptr, &error_), CUTPOINT_CANCELLED);
  auto counts = sized<cutpoint_store_counts>();
  EXPECT_EQ(cutpoint_store_statistics(store_.get(), &counts, &error_), CUTPOINT_OK) << "the store is not cancelled";
  EXPECT_EQ(counts.snapshots, 0u);
}

TEST_F(c_push, wrong_calls_are_refused) {
  begin();
  cutpoint_store* const store = store_.get();
  EXPECT_EQ(cutpoint_store_destroy(store), CUTPOINT_WRONG_STATE) << "a session needs it";
  cutpoint_push* other = nullptr;
  cutpoint_push_stream* stream = nullptr;
  const cutpoint_pushed_file file = file_at("/x");
  const codes refused = {
      cutpoint_push_begin(nullptr, engine_.get(), nullptr, &other, &error_),
      cutpoint_push_begin(store, nullptr, nullptr, &other, &error_),
      cutpoint_push_begin(store, engine_.get(), nullptr, nullptr, &error_),
      cutpoint_push_begin_stream(push_, nullptr, &stream, &error_),
      cutpoint_push_begin_stream(nullptr, &file, &stream, &error_),
      cutpoint_push_write(nullptr, "x", 1, &error_),
      cutpoint_push_end(nullptr, &error_),
      cutpoint_push_commit(nullptr, nullptr, &error_),
      cutpoint_push_cancel(nullptr),
  };
  EXPECT_THAT(refused, Each(CUTPOINT_INVALID_ARGUMENT));
  const auto refusal = [&](auto change) -> std::string {
    cutpoint_pushed_file wrong = file;
    change(wrong);
    EXPECT_EQ(cutpoint_push_begin_stream(push_, &wrong, &stream, &error_), CUTPOINT_INVALID_ARGUMENT);
    EXPECT_EQ(stream, nullptr);
    return error_.message;
  };
  const cutpoint_attribute nameless = {};
  EXPECT_THAT(refusal([](auto& f) { f.path = "no/slash"; }), HasSubstr("begins with a slash"));
  EXPECT_EQ(refusal([](auto& f) { f.path = nullptr; }), "path is null");
  EXPECT_THAT(refusal([](auto& f) { f.flags = 64; }), HasSubstr("flags = 64"));
  EXPECT_THAT(refusal([](auto& f) { f.kind = 99; }), HasSubstr("kind = 99"));
  EXPECT_EQ(refusal([](auto& f) { f.attribute_count = 1; }), "attributes is null, but its count is not 0");
  EXPECT_EQ(refusal([&](auto& f) { f.attributes = &nameless, f.attribute_count = 1; }),
            "attributes[0] has null for its name or value");
  stream = begin_stream("/open");
  EXPECT_EQ(cutpoint_push_write(stream, nullptr, 1, &error_), CUTPOINT_INVALID_ARGUMENT);
  EXPECT_EQ(cutpoint_push_destroy(push_), CUTPOINT_OK);
  push_ = nullptr;
  EXPECT_EQ(write(stream, "late"), CUTPOINT_INVALID_ARGUMENT);
  EXPECT_EQ(cutpoint_push_end(stream, &error_), CUTPOINT_INVALID_ARGUMENT) << "and the handle is destroyed";
}

TEST_F(c_push, a_backup_tells_its_progress_and_ends_when_it_is_told_to) {
  folder_.make_file("tree/file", large_);
  const std::string tree = folder_ / "tree";
  const char* const path = tree.c_str();
  cutpoint_store_backup_options options = backup_of(path);
  std::vector<cutpoint_store_backup_progress> states;
  std::string last_path = "none";
  int answer = 0;
  auto note = [&](const cutpoint_store_backup_progress* progress) {
    states.push_back(*progress);
    last_path = progress->path;
    return answer;
  };
  options.context = &note;
  options.progress = forward_to(note);
  expect_ok(cutpoint_store_back_up(store_.get(), engine_.get(), &options, nullptr, &error_));
  ASSERT_GE(states.size(), 3u);
  EXPECT_EQ(states.back().struct_bytes, sizeof(cutpoint_store_backup_progress));
  EXPECT_EQ(states.back().new_files, 1u);
  EXPECT_EQ(states.back().new_folders, 1u);
  EXPECT_EQ(states.back().read_bytes, large_.size());
  EXPECT_EQ(last_path, "") << "the totals come last";
  answer = 1;
  EXPECT_EQ(cutpoint_store_back_up(store_.get(), engine_.get(), &options, nullptr, &error_), CUTPOINT_CALLBACK_FAILED);
  EXPECT_THAT(error_.message, HasSubstr("the callback progress returned 1"));
}

TEST_F(c_push, restores_checks_prunes_and_copies_tell_their_progress) {
  begin();
  push_whole("/file", large_);
  const std::string id = commit()->id, target = folder_ / "target";
  std::set<std::string> activities;
  int answer = 0;
  auto note = [&](const cutpoint_store_progress* progress) {
    EXPECT_EQ(progress->struct_bytes, sizeof *progress);
    activities.insert(progress->activity);
    return answer;
  };
  auto restoring = sized<cutpoint_store_restore_options>();
  restoring.target = target.c_str();
  restoring.flags = CUTPOINT_RESTORE_REPLACE_FILES;
  auto checking = sized<cutpoint_store_check_options>();
  auto pruning = sized<cutpoint_store_prune_options>();
  auto copying = sized<cutpoint_store_copy_options>();
  restoring.context = checking.context = pruning.context = copying.context = &note;
  restoring.progress = checking.progress = pruning.progress = copying.progress = forward_to(note);
  const auto outcomes = [&] {
    codes all;
    const auto add = [&](cutpoint_status code) {
      all.push_back(code);
      EXPECT_FALSE(activities.empty());
      activities.clear();
    };
    add(cutpoint_store_restore(store_.get(), id.c_str(), &restoring, nullptr, &error_));
    add(cutpoint_store_check(store_.get(), &checking, nullptr, &error_));
    add(cutpoint_store_prune(store_.get(), &pruning, nullptr, &error_));
    const auto copy = make_store(folder_ / std::to_string(answer));
    add(cutpoint_store_copy_snapshots(copy.get(), engine_.get(), store_.get(), &copying, nullptr, &error_));
    return all;
  };
  EXPECT_EQ(outcomes(), codes(4, CUTPOINT_OK));
  answer = 1;
  EXPECT_EQ(outcomes(), codes(4, CUTPOINT_CALLBACK_FAILED));
}

TEST_F(c_push, an_upper_rate_holds_a_backup_back_until_it_is_cancelled) {
  const std::string file = folder_.make_file("file", large_);
  const char* const path = file.c_str();
  cutpoint_store_backup_options options = backup_of(path);
  options.most_bytes_per_second = 1;
  const auto store = open_store(folder_ / "store");
  std::jthread canceller([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    EXPECT_EQ(cutpoint_store_cancel(store.get()), CUTPOINT_OK);
  });
  EXPECT_EQ(cutpoint_store_back_up(store.get(), engine_.get(), &options, nullptr, &error_), CUTPOINT_CANCELLED);
}

}  // namespace
}  // namespace cutpoint::tests
