// What calls on snapshots and on the whole store take and tell passes through the interface for C: options, summaries, callbacks. Of what
// the library does, tests/store/ has the tests.
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <thread>

#include <gmock/gmock.h>
#include <unistd.h>

#include "tests/bindings/c/store_handles.h"
#include "tests/host/support/streams.h"

namespace cutpoint::tests {
namespace {

constexpr std::int64_t day = 86'400'000'000'000;

std::string random_bytes(std::uint64_t count, std::uint64_t seed) {
  seeded_choices random(seed);
  const auto drawn = make_stream(content::random, count, random);
  return {drawn.begin(), drawn.end()};
}

/// Adds the path of a problem to a list.
int note_path(void* context, const char* path, cutpoint_status, const char* message) {
  EXPECT_STRNE(message, "");
  static_cast<std::vector<std::string>*>(context)->emplace_back(path);
  return 0;
}

class c_store_life : public testing::Test {
 protected:
  c_store_life() {
    folder_.make_file("tree/large", random_bytes(300'000, 1));
    folder_.make_file("tree/sub/small", "small");
    folder_.make_link("large", "tree/link");
  }

  /// Backs the tree up, with a tag and at a time in days.
  std::string take(const char* tag, std::int64_t time) {
    const char* const path = tree_.c_str();
    cutpoint_store_backup_options options = backup_of(path);
    options.tags = &tag;
    options.tag_count = 1;
    options.time = (20'000 + time) * day;
    const cutpoint_store_snapshot* snapshot = nullptr;
    EXPECT_EQ(cutpoint_store_back_up(store_.get(), engine_.get(), &options, &snapshot, &error_), CUTPOINT_OK)
        << error_.message;
    return snapshot->id;
  }
  std::vector<std::string> ids_in(cutpoint_store* store) {
    std::vector<std::string> ids;
    auto note = [&](const cutpoint_store_snapshot* each) {
      ids.push_back(each->id);
      return 0;
    };
    EXPECT_EQ(cutpoint_store_snapshots(store, forward_call<decltype(note), const cutpoint_store_snapshot*>, nullptr,
                                       &note, &error_),
              CUTPOINT_OK);
    return ids;
  }

  void push_file(cutpoint_push* push, const char* path, const std::string& content) {
    cutpoint_pushed_file file = {};
    file.struct_bytes = sizeof file;
    file.path = path;
    cutpoint_push_stream* stream = nullptr;
    ASSERT_EQ(cutpoint_push_begin_stream(push, &file, &stream, &error_), CUTPOINT_OK) << error_.message;
    ASSERT_EQ(cutpoint_push_write(stream, content.data(), content.size(), &error_), CUTPOINT_OK);
    ASSERT_EQ(cutpoint_push_end(stream, &error_), CUTPOINT_OK);
  }

  const temporary_folder folder_;
  const std::string tree_ = folder_ / "tree";
  const engine_handle engine_ = make_engine(2);
  const store_handle store_ = make_store(folder_ / "store");
  cutpoint_error error_ = {};
};

TEST_F(c_store_life, forget_passes_rules_and_decisions_on) {
  const std::vector<std::string> ids = {take("release", 0), take("daily", 1), take("daily", 2), take("daily", 3)};
  std::map<std::string, std::vector<std::string>> reasons;
  auto note = [&](const cutpoint_store_snapshot* each, const char* const* why, std::uint64_t count) {
    EXPECT_EQ(each->path_count, 1u);
    reasons[each->id].assign(why, why + count);
    return 0;
  };
  cutpoint_store_forget_options options = {};
  const auto forget = [&] {
    ASSERT_EQ(cutpoint_store_forget(store_.get(), &options, &error_), CUTPOINT_OK) << error_.message;
  };
  const char* const release = "release";
  options.struct_bytes = sizeof options;
  options.keep_last = 1;
  options.keep_within = "1d12h";
  options.keep_tags = &release;
  options.keep_tag_count = 1;
  options.flags = CUTPOINT_FORGET_REHEARSE;
  options.context = &note;
  options.decided = forward_call<decltype(note), const cutpoint_store_snapshot*, const char* const*, std::uint64_t>;
  forget();
  EXPECT_EQ(reasons, (std::map<std::string, std::vector<std::string>>{{ids[0], {"has tags [release]"}},
                                                                      {ids[1], {}},
                                                                      {ids[2], {"within 1d12h"}},
                                                                      {ids[3], {"within 1d12h", "last snapshot"}}}));
  EXPECT_EQ(ids_in(store_.get()), ids);
  options.flags = 0;
  forget();
  EXPECT_EQ(ids_in(store_.get()), (std::vector{ids[0], ids[2], ids[3]}));
  options.keep_within = nullptr;
  options.keep_tag_count = 0;
  const char *const other_host = "other", *const daily = "daily";
  options.hosts = &other_host;
  options.host_count = 1;
  forget();
  EXPECT_EQ(ids_in(store_.get()), (std::vector{ids[0], ids[2], ids[3]}));
  options.host_count = 0;
  options.tags = &daily;
  options.tag_count = 1;
  forget();
  EXPECT_EQ(ids_in(store_.get()), (std::vector{ids[0], ids[3]}));
  options.tag_count = 0;
  options.flags = CUTPOINT_FORGET_BY_TAGS | CUTPOINT_FORGET_ANY_HOST | CUTPOINT_FORGET_ANY_PATHS;
  forget();
  EXPECT_EQ(ids_in(store_.get()), (std::vector{ids[0], ids[3]}));
}

TEST_F(c_store_life, a_prune_passes_its_options_and_summary_on) {
  const std::string old = take("old", 0);
  folder_.make_file("tree/large", random_bytes(300'000, 2));
  take("new", 1);
  cutpoint_store_prune_options options = {};
  options.struct_bytes = sizeof options;
  options.flags = CUTPOINT_PRUNE_REHEARSE;
  options.most_unused = -1;
  cutpoint_store_prune_summary rehearsed = {}, pruned = {};
  rehearsed.struct_bytes = pruned.struct_bytes = sizeof pruned;
  ASSERT_EQ(cutpoint_store_prune(store_.get(), &options, &rehearsed, &error_), CUTPOINT_OK) << error_.message;
  EXPECT_EQ(rehearsed.removed_bytes, 0u);
  const char* const ids[] = {old.c_str(), "none"};
  options.forgotten = ids;
  options.forgotten_count = 1;
  ASSERT_EQ(cutpoint_store_prune(store_.get(), &options, &rehearsed, &error_), CUTPOINT_OK) << error_.message;
  EXPECT_GT(rehearsed.removed_bytes, 300'000u);
  std::vector<std::string> problems;
  ASSERT_EQ(cutpoint_store_remove_snapshots(store_.get(), ids, 2, note_path, &problems, &error_), CUTPOINT_OK);
  EXPECT_THAT(problems, testing::ElementsAre("none"));
  options.flags = options.forgotten_count = 0;
  ASSERT_EQ(cutpoint_store_prune(store_.get(), &options, &pruned, &error_), CUTPOINT_OK) << error_.message;
  EXPECT_EQ(pruned.containers, rehearsed.containers);
  EXPECT_EQ(pruned.removed_containers, rehearsed.removed_containers);
  EXPECT_GT(pruned.unused_bytes, 300'000u);
  EXPECT_EQ(pruned.left_unused_bytes, 0u);
}

TEST_F(c_store_life, a_prune_names_a_damaged_container_that_was_to_stay) {
  cutpoint_push* push = nullptr;
  ASSERT_EQ(cutpoint_push_begin(store_.get(), engine_.get(), nullptr, &push, &error_), CUTPOINT_OK) << error_.message;
  take("kept", 0);  // stores what the session, which has begun, stores once more
  for (const auto& each : std::filesystem::recursive_directory_iterator(folder_ / "store/containers")) {
    if (!each.is_regular_file()) continue;
    std::filesystem::permissions(each.path(), std::filesystem::perms::owner_all);
    std::fstream(each.path(), std::ios::in | std::ios::out | std::ios::binary).seekp(140).put('\x7f');
  }
  push_file(push, "/copy", random_bytes(300'000, 1));
  const cutpoint_store_snapshot* copy = nullptr;
  ASSERT_EQ(cutpoint_push_commit(push, &copy, &error_), CUTPOINT_OK) << error_.message;
  ASSERT_EQ(cutpoint_store_remove_snapshot(store_.get(), copy->id, &error_), CUTPOINT_OK);
  ASSERT_EQ(cutpoint_push_destroy(push), CUTPOINT_OK);
  std::vector<std::string> damaged;
  cutpoint_store_prune_options options = {};
  options.struct_bytes = sizeof options;
  options.most_unused = -1;
  options.context = &damaged;
  options.damaged = note_path;
  cutpoint_store_prune_summary pruned = {};
  pruned.struct_bytes = sizeof pruned;
  ASSERT_EQ(cutpoint_store_prune(store_.get(), &options, &pruned, &error_), CUTPOINT_OK) << error_.message;
  EXPECT_GT(pruned.damaged_copies, 0u);
  EXPECT_THAT(damaged, testing::ElementsAre(testing::HasSubstr("containers/")));
}

TEST_F(c_store_life, tags_change_and_files_are_left_out) {
  const std::string id = take("old", 0);
  std::vector<std::string> told;
  auto note = [&](const char* first, const char* second) {
    told.emplace_back(first);
    told.emplace_back(second);
    return 0;
  };
  const auto forward = forward_call<decltype(note), const char*, const char*>;
  const auto refuse = [](void*, const char*, cutpoint_status, const char* message) {
    ADD_FAILURE() << message;
    return 1;
  };
  const char *const tags[] = {"b", "a"}, *const added[] = {"c"}, *const snapshots[] = {id.c_str()};
  cutpoint_store_tag_options tagging = {};
  tagging.struct_bytes = sizeof tagging;
  tagging.snapshots = snapshots;
  tagging.snapshot_count = tagging.added_count = tagging.removed_count = 1;
  tagging.tags = tags;
  tagging.tag_count = 2;
  tagging.added = added;
  tagging.removed = tags;
  tagging.context = &note;
  tagging.edited = forward;
  tagging.problem = refuse;
  cutpoint_store_edit_summary edited = {};
  edited.struct_bytes = sizeof edited;
  const auto change_tags = [&] { return cutpoint_store_change_tags(store_.get(), &tagging, &edited, &error_); };
  EXPECT_EQ(change_tags(), CUTPOINT_INVALID_ARGUMENT);
  EXPECT_STREQ(error_.message, "tags are given without CUTPOINT_TAGS_SET");
  tagging.flags = CUTPOINT_TAGS_SET;
  ASSERT_EQ(change_tags(), CUTPOINT_OK) << error_.message;
  EXPECT_EQ(edited.edited, 1u);
  const cutpoint_store_snapshot* snapshot = nullptr;
  ASSERT_EQ(cutpoint_store_find_snapshot(store_.get(), "latest", &snapshot, &error_), CUTPOINT_OK);
  EXPECT_THAT(told, testing::ElementsAre(id, snapshot->id));
  EXPECT_EQ(snapshot->original, id);
  EXPECT_THAT(std::vector<std::string>(snapshot->tags, snapshot->tags + snapshot->tag_count),
              testing::ElementsAre("a", "c"));

  const std::string tagged = snapshot->id;
  const char *const patterns[] = {"large", "sub", "nothing"}, *const rewritten[] = {tagged.c_str()};
  std::vector<std::string> warnings;
  cutpoint_store_rewrite_options rewriting = {};
  rewriting.struct_bytes = sizeof rewriting;
  rewriting.snapshots = rewritten;
  rewriting.snapshot_count = 1;
  rewriting.exclude = patterns;
  rewriting.exclude_count = 2;
  rewriting.flags = CUTPOINT_REWRITE_DRY_RUN;
  rewriting.context = &note;
  rewriting.left_out = rewriting.edited = forward;
  rewriting.problem = refuse;
  const auto rewrite = [&] { return cutpoint_store_rewrite(store_.get(), &rewriting, &edited, &error_); };
  told.clear();
  ASSERT_EQ(rewrite(), CUTPOINT_OK) << error_.message;
  EXPECT_THAT(told, testing::ElementsAre(tagged, tree_ + "/large", tagged, tree_ + "/sub/", tagged, ""));
  EXPECT_EQ(ids_in(store_.get()), std::vector{tagged});
  rewriting.flags = CUTPOINT_REWRITE_REPLACE;
  told.clear();
  ASSERT_EQ(rewrite(), CUTPOINT_OK) << error_.message;
  EXPECT_EQ(ids_in(store_.get()), std::vector{told.back()});
  rewriting.context = &warnings;
  rewriting.left_out = rewriting.edited = nullptr;
  rewriting.exclude_count = 3;
  const char* const last[] = {told.back().c_str()};
  rewriting.snapshots = last;
  rewriting.warning = note_path;
  ASSERT_EQ(rewrite(), CUTPOINT_OK) << error_.message;
  EXPECT_EQ(edited.unchanged, 1u);
  EXPECT_THAT(warnings, testing::Contains("nothing"));
  rewriting.snapshots = snapshots;  // which is gone
  rewriting.context = &warnings;
  rewriting.problem = note_path;
  warnings.clear();
  EXPECT_EQ(rewrite(), CUTPOINT_OK) << error_.message;
  EXPECT_EQ(edited.problems, 1u);
  EXPECT_THAT(warnings, testing::Contains(id));
}

TEST_F(c_store_life, sessions_are_listed_and_ended) {
  std::map<std::string, std::string> owners;
  auto note = [&](const char* id, const char* owner, std::int64_t time_left) {
    EXPECT_GT(time_left, 0);
    owners[id] = owner;
    return 0;
  };
  const auto list = [&] {
    owners.clear();
    EXPECT_EQ(cutpoint_store_sessions(
                  store_.get(), forward_call<decltype(note), const char*, const char*, std::int64_t>, &note, &error_),
              CUTPOINT_OK);
    return owners.size();
  };
  cutpoint_push* push = nullptr;
  ASSERT_EQ(cutpoint_push_begin(store_.get(), engine_.get(), nullptr, &push, &error_), CUTPOINT_OK) << error_.message;
  ASSERT_EQ(list(), 1u);
  EXPECT_THAT(owners.begin()->second, testing::HasSubstr(std::to_string(::getpid())));
  const std::string id = owners.begin()->first;
  ASSERT_EQ(cutpoint_store_end_session(store_.get(), id.c_str(), &error_), CUTPOINT_OK) << error_.message;
  EXPECT_EQ(list(), 0u);
  EXPECT_EQ(cutpoint_store_end_session(store_.get(), id.c_str(), &error_), CUTPOINT_INVALID_ARGUMENT);
  push_file(push, "/file", "content");
  EXPECT_EQ(cutpoint_push_commit(push, nullptr, &error_), CUTPOINT_OK) << "it lives after all: " << error_.message;
  EXPECT_EQ(cutpoint_push_destroy(push), CUTPOINT_OK);
}

TEST_F(c_store_life, a_store_is_described) {
  auto visit = [&](const cutpoint_store_description* store) {
    EXPECT_EQ(store->struct_bytes, sizeof *store);
    EXPECT_STREQ(store->cuts, "gear(min_bytes=2048,avg_bytes=8192,max_bytes=65536,table=fastcdc2020)");
    EXPECT_STREQ(store->fingerprint, "sha256");
    EXPECT_EQ(store->compression_level, 0);
    EXPECT_EQ(store->container_bytes, 65'536u);
    EXPECT_THAT(store->context, testing::HasSubstr("mp4"));
    EXPECT_EQ(store->flags, 0u);
    EXPECT_EQ(std::string(store->identity).size(), 64u);
    return 0;
  };
  const auto forward = forward_call<decltype(visit), const cutpoint_store_description*>;
  const std::string folder = folder_ / "described";
  const cutpoint_store_settings settings = {sizeof settings, "gear", "sha256", -1, 65'536, "prune", 0};
  ASSERT_EQ(cutpoint_store_create(folder.c_str(), &settings, nullptr, &error_), CUTPOINT_OK) << error_.message;
  EXPECT_EQ(cutpoint_store_describe(open_store(folder).get(), forward, &visit, &error_), CUTPOINT_OK);
  const cutpoint_store_secret secret = password("secret");
  const auto encrypted = make_store(folder_ / "encrypted", &secret);
  back_up(encrypted.get(), engine_.get(), tree_);
  const auto visit_encrypted = [](void*, const cutpoint_store_description* store) {
    EXPECT_EQ(store->flags, std::uint64_t{CUTPOINT_DESCRIPTION_ENCRYPTED});
    EXPECT_THAT(store->cuts, testing::HasSubstr("toeplitz128-aes("));
    EXPECT_STREQ(store->context, "");
    return 7;
  };
  EXPECT_EQ(cutpoint_store_describe(encrypted.get(), visit_encrypted, nullptr, &error_), CUTPOINT_CALLBACK_FAILED);
}

TEST_F(c_store_life, a_backup_without_a_snapshot_has_no_id) {
  const char* const path = tree_.c_str();
  const char* const pattern = "nothing";
  std::vector<std::string> warnings;
  cutpoint_store_backup_options options = backup_of(path);
  options.flags = CUTPOINT_BACKUP_DRY_RUN;
  options.exclude = &pattern;
  options.exclude_count = 1;
  options.context = &warnings;
  options.warning = note_path;
  const cutpoint_store_snapshot* snapshot = nullptr;
  const auto back_up = [&] {
    ASSERT_EQ(cutpoint_store_back_up(store_.get(), engine_.get(), &options, &snapshot, &error_), CUTPOINT_OK)
        << error_.message;
  };
  back_up();
  EXPECT_STREQ(snapshot->id, "");
  EXPECT_GT(snapshot->new_raw_bytes, 300'000u);
  EXPECT_THAT(warnings, testing::ElementsAre("nothing"));
  EXPECT_TRUE(ids_in(store_.get()).empty());
  options.flags = CUTPOINT_BACKUP_SKIP_UNCHANGED;
  back_up();
  EXPECT_STRNE(snapshot->id, "");
  EXPECT_STREQ(snapshot->original, "");
  back_up();
  EXPECT_STREQ(snapshot->id, "");
  EXPECT_EQ(ids_in(store_.get()).size(), 1u);
}

TEST_F(c_store_life, a_prune_names_the_sessions_that_it_waits_for) {
  const std::string old = take("old", 0);
  folder_.make_file("tree/large", random_bytes(300'000, 2));
  take("new", 1);
  ASSERT_EQ(cutpoint_store_remove_snapshot(store_.get(), old.c_str(), &error_), CUTPOINT_OK);
  const std::string missing = folder_ / "gone";
  const char* const paths[] = {tree_.c_str(), missing.c_str()};
  std::vector<std::string> sessions;
  cutpoint_store_prune_summary pruned = {};
  pruned.struct_bytes = sizeof pruned;
  auto prune_meanwhile = [&](const char*, cutpoint_status, const char*) {
    cutpoint_store_prune_options options = {};
    options.struct_bytes = sizeof options;
    options.context = &sessions;
    options.awaited = [](void* context, const char* session) {
      static_cast<std::vector<std::string>*>(context)->emplace_back(session);
      return 0;
    };
    return cutpoint_store_prune(open_store(folder_ / "store").get(), &options, &pruned, &error_);
  };
  cutpoint_store_backup_options options = backup_of(paths[0]);
  options.path_count = 2;
  options.paths = paths;
  options.context = &prune_meanwhile;
  options.problem = forward_call<decltype(prune_meanwhile), const char*, cutpoint_status, const char*>;
  ASSERT_EQ(cutpoint_store_back_up(store_.get(), engine_.get(), &options, nullptr, &error_), CUTPOINT_OK)
      << error_.message;
  EXPECT_GT(pruned.waiting_containers, 0u);
  EXPECT_EQ(sessions.size(), 1u);
}

TEST_F(c_store_life, differences_are_visited) {
  const std::string before = take("before", 0);
  folder_.make_file("tree/sub/small", "other");
  folder_.make_file("tree/new", "12345");
  std::filesystem::remove(folder_ / "tree/link");
  std::filesystem::permissions(folder_ / "tree/sub", std::filesystem::perms::owner_all);
  const std::string after = take("after", 1);
  std::map<std::string, std::pair<int, int>> changes;
  auto note = [&](const char* path, int change, int kind) {
    changes[path] = {change, kind};
    return 0;
  };
  cutpoint_store_diff_options options = {};
  options.struct_bytes = sizeof options;
  options.before = before.c_str();
  options.before_path = tree_.c_str();
  options.after = after.c_str();
  options.after_path = tree_.c_str();
  options.context = &note;
  options.visit = forward_call<decltype(note), const char*, int, int>;
  cutpoint_store_diff_summary summary = {};
  summary.struct_bytes = sizeof summary;
  ASSERT_EQ(cutpoint_store_diff(store_.get(), &options, &summary, &error_), CUTPOINT_OK) << error_.message;
  const std::map<std::string, std::pair<int, int>> expected = {
      {"/link", {CUTPOINT_CHANGE_REMOVED, CUTPOINT_SYMBOLIC_LINK}},
      {"/new", {CUTPOINT_CHANGE_ADDED, CUTPOINT_REGULAR_FILE}},
      {"/sub/small", {CUTPOINT_CHANGE_MODIFIED, CUTPOINT_REGULAR_FILE}}};
  EXPECT_EQ(changes, expected);
  EXPECT_EQ(summary.modified, 1u);
  EXPECT_EQ(summary.added_files, 1u);
  EXPECT_EQ(summary.added_bytes, 10u);
  EXPECT_EQ(summary.removed_others, 1u);
  EXPECT_EQ(summary.removed_bytes, 5u);

  options.flags = CUTPOINT_DIFF_METADATA;
  ASSERT_EQ(cutpoint_store_diff(store_.get(), &options, &summary, &error_), CUTPOINT_OK) << error_.message;
  EXPECT_EQ(changes["/sub/"], std::pair(int{CUTPOINT_CHANGE_METADATA}, int{CUTPOINT_DIRECTORY}));
  options.before_path = "/nothing";
  EXPECT_EQ(cutpoint_store_diff(store_.get(), &options, nullptr, &error_), CUTPOINT_IO_ERROR);
}

TEST_F(c_store_life, a_copy_passes_both_snapshots_and_its_summary_on) {
  const std::string first = take("first", 0), second = take("second", 1);
  const auto target = make_store(folder_ / "target");
  std::map<std::string, std::string> copies;
  auto note = [&](const cutpoint_store_snapshot* original, const cutpoint_store_snapshot* copy) {
    EXPECT_EQ(original->time, copy->time);
    EXPECT_STREQ(original->tags[0], copy->tags[0]);
    copies[original->id] = copy->id;
    return 0;
  };
  const char* const ids[] = {second.c_str()};
  cutpoint_store_copy_options options = {};
  options.struct_bytes = sizeof options;
  options.snapshots = ids;
  options.snapshot_count = 1;
  options.context = &note;
  options.copied = options.skipped =
      forward_call<decltype(note), const cutpoint_store_snapshot*, const cutpoint_store_snapshot*>;
  cutpoint_store_copy_summary summary = {};
  summary.struct_bytes = sizeof summary;
  const auto copy = [&] {
    return cutpoint_store_copy_snapshots(target.get(), engine_.get(), store_.get(), &options, &summary, &error_);
  };
  ASSERT_EQ(copy(), CUTPOINT_OK) << error_.message;
  EXPECT_EQ(summary.copied, 1u);
  EXPECT_GT(summary.new_stored_bytes, 300'000u);
  EXPECT_EQ(ids_in(target.get()), std::vector{copies.at(second)});
  options.snapshot_count = 0;
  ASSERT_EQ(copy(), CUTPOINT_OK) << error_.message;
  EXPECT_EQ(summary.copied, 1u);
  EXPECT_EQ(summary.skipped, 1u);
  EXPECT_EQ(copies.size(), 2u);
}

TEST_F(c_store_life, lanes_are_checked_and_tell_their_work) {
  const char* const path = tree_.c_str();
  cutpoint_store_backup_options options = backup_of(path);
  options.flags = CUTPOINT_BACKUP_READ_EVERYTHING;
  cutpoint_store_lanes lanes = {};
  lanes.struct_bytes = sizeof lanes;
  options.lanes = &lanes;
  std::uint64_t calls = 0;
  options.context = &calls;
  options.work = [](void* context, const cutpoint_statistics* work) {
    ++*static_cast<std::uint64_t*>(context);
    EXPECT_EQ(work->struct_bytes, sizeof *work);
    EXPECT_EQ(work->fed_bytes, 300'005u);
    EXPECT_GE(work->chunk_count, 3u);
    EXPECT_STREQ(work->chunked_on, "scalar");
    EXPECT_STREQ(work->device_warning, "");
  };
  const auto back_up = [&] { return cutpoint_store_back_up(store_.get(), engine_.get(), &options, nullptr, &error_); };
  lanes.back_end = "scalar";
  lanes.segment_bytes = 30'000;
  lanes.flags = CUTPOINT_LANES_MEASURE;
  ASSERT_EQ(back_up(), CUTPOINT_OK) << error_.message;
  EXPECT_EQ(calls, 1u);
  options.work = nullptr;
  options.most_old_containers = 1;  // needs segments of its own
  EXPECT_EQ(back_up(), CUTPOINT_INVALID_ARGUMENT);
  options.most_old_containers = 0;
  lanes.back_end = nullptr;
  ASSERT_EQ(back_up(), CUTPOINT_OK) << error_.message;
  lanes.back_end = "fast";
  EXPECT_EQ(back_up(), CUTPOINT_UNKNOWN_NAME);
  lanes.back_end = "cuda";
  const std::int32_t devices[] = {0, 0};
  lanes.devices = devices;
  lanes.device_count = 2;
  const cutpoint_status twice = back_up();
  EXPECT_THAT(twice, testing::AnyOf(CUTPOINT_UNAVAILABLE, CUTPOINT_INVALID_ARGUMENT)) << error_.message;
  lanes.back_end = "auto";
  EXPECT_EQ(back_up(), CUTPOINT_INVALID_ARGUMENT);
  EXPECT_STREQ(error_.message, "a device is named twice");
  lanes.device_count = 0;
  EXPECT_EQ(back_up(), CUTPOINT_INVALID_ARGUMENT);
  lanes.device_count = 1;
  lanes.flags = 2;
  EXPECT_EQ(back_up(), CUTPOINT_INVALID_ARGUMENT);
  EXPECT_THAT(error_.message, testing::HasSubstr("flags = 2"));
  lanes.flags = 0;
  lanes.struct_bytes = 8;
  EXPECT_EQ(back_up(), CUTPOINT_INVALID_ARGUMENT);
  EXPECT_EQ(ids_in(store_.get()).size(), 2u);
}

TEST_F(c_store_life, lanes_are_for_copies_and_pushed_streams_too) {
  take("first", 0);
  const cutpoint_store_secret secret = password("secret");  // so that contents are cut again
  const auto target = make_store(folder_ / "target", &secret);
  cutpoint_store_lanes lanes = {};
  lanes.struct_bytes = sizeof lanes;
  lanes.back_end = "scalar";
  const auto note = [](void* context, const cutpoint_statistics* work) {
    EXPECT_STREQ(work->chunked_on, "scalar");
    *static_cast<std::uint64_t*>(context) += work->fed_bytes;
  };
  std::uint64_t bytes = 0;
  cutpoint_store_copy_options copying = {};
  copying.struct_bytes = sizeof copying;
  copying.lanes = &lanes;
  copying.context = &bytes;
  copying.work = note;
  const auto copy = [&] {
    return cutpoint_store_copy_snapshots(target.get(), engine_.get(), store_.get(), &copying, nullptr, &error_);
  };
  ASSERT_EQ(copy(), CUTPOINT_OK) << error_.message;
  EXPECT_EQ(bytes, 300'005u);
  cutpoint_push_options pushing = {};
  pushing.struct_bytes = sizeof pushing;
  pushing.lanes = &lanes;
  pushing.context = &bytes;
  pushing.work = note;
  cutpoint_push* push = nullptr;
  ASSERT_EQ(cutpoint_push_begin(target.get(), engine_.get(), &pushing, &push, &error_), CUTPOINT_OK) << error_.message;
  push_file(push, "/stream", "content");
  ASSERT_EQ(cutpoint_push_commit(push, nullptr, &error_), CUTPOINT_OK) << error_.message;
  ASSERT_EQ(cutpoint_push_destroy(push), CUTPOINT_OK);
  EXPECT_EQ(bytes, 300'012u);
  lanes.back_end = "fast";
  EXPECT_EQ(cutpoint_push_begin(target.get(), engine_.get(), &pushing, &push, &error_), CUTPOINT_UNKNOWN_NAME);
  EXPECT_EQ(copy(), CUTPOINT_UNKNOWN_NAME);
}

TEST_F(c_store_life, a_restore_tells_what_it_does) {
  const std::string id = take("only", 0), target = folder_ / "target";
  folder_.make_file("target/other", "removed");
  const char *const excluded[] = {"link", "nothing"}, *const included[] = {"nowhere", "sub", "large"};
  std::map<std::string, int> visited;
  auto note = [&](const char* path, int action) {
    visited[path] = action;
    return 0;
  };
  cutpoint_store_restore_options options = {};
  options.struct_bytes = sizeof options;
  options.target = target.c_str();
  options.path = tree_.c_str();
  options.flags = CUTPOINT_RESTORE_REMOVE_OTHERS | CUTPOINT_RESTORE_DRY_RUN;
  options.exclude = excluded;
  options.exclude_count = 1;
  options.context = &note;
  options.visit = forward_call<decltype(note), const char*, int>;
  cutpoint_store_restore_summary summary = {};
  summary.struct_bytes = sizeof summary;
  const auto restore = [&] { return cutpoint_store_restore(store_.get(), id.c_str(), &options, &summary, &error_); };
  const std::map<std::string, int> expected = {{target + "/large", CUTPOINT_FILE_RESTORED},
                                               {target + "/other", CUTPOINT_FILE_REMOVED},
                                               {target + "/sub/", CUTPOINT_FILE_RESTORED},
                                               {target + "/sub/small", CUTPOINT_FILE_RESTORED}};
  for (const std::uint64_t flags : {CUTPOINT_RESTORE_DRY_RUN, CUTPOINT_RESTORE_VERIFY}) {
    visited.clear();
    options.flags = CUTPOINT_RESTORE_REMOVE_OTHERS | flags;
    ASSERT_EQ(restore(), CUTPOINT_OK) << error_.message;
    EXPECT_EQ(visited, expected);
    EXPECT_EQ(summary.removed, 1u);
  }
  EXPECT_EQ(summary.written_bytes, 300'005u);
  EXPECT_GT(summary.read_containers, 0u);
  std::vector<std::string> told;
  options.flags = CUTPOINT_RESTORE_REPLACE_FILES;
  options.exclude_count = 2;
  options.context = &told;
  options.visit = nullptr;
  options.warning = note_path;
  ASSERT_EQ(restore(), CUTPOINT_OK) << error_.message;
  EXPECT_EQ(summary.written_bytes, 0u);
  EXPECT_THAT(told, testing::ElementsAre("nothing"));
  options.warning = nullptr;
  options.problem = note_path;
  options.include = included;
  options.include_count = 3;
  ASSERT_EQ(restore(), CUTPOINT_OK) << error_.message;
  EXPECT_THAT(told, testing::ElementsAre("nothing", "nowhere"));
  options.problem = nullptr;
  options.visit = [](void*, const char*, int) { return 1; };
  EXPECT_EQ(restore(), CUTPOINT_CALLBACK_FAILED);
}

TEST_F(c_store_life, callbacks_of_a_restore_do_not_overlap) {
  for (int i = 0; i < 2'100; ++i)
    folder_.make_file("many/" + std::to_string(i), std::to_string(i));  // two windows and more
  const std::string id = back_up(store_.get(), engine_.get(), folder_ / "many"), target = folder_ / "target";
  std::atomic<int> inside = 0;
  cutpoint_store_restore_options options = {};
  options.struct_bytes = sizeof options;
  options.target = target.c_str();
  options.context = &inside;
  options.progress = [](void* context, const cutpoint_store_progress*) {
    return static_cast<std::atomic<int>*>(context)->load();
  };
  options.visit = [](void* context, const char*, int) {
    ++*static_cast<std::atomic<int>*>(context);
    std::this_thread::sleep_for(std::chrono::microseconds(100));
    --*static_cast<std::atomic<int>*>(context);
    return 0;
  };
  EXPECT_EQ(cutpoint_store_restore(store_.get(), id.c_str(), &options, nullptr, &error_), CUTPOINT_OK)
      << error_.message;
}

TEST_F(c_store_life, a_check_reads_the_subset_that_it_is_told) {
  for (std::int64_t i = 0; i < 4; ++i) {  // each backup has a container of its own
    folder_.make_file("tree/large", random_bytes(300'000, 10 + static_cast<std::uint64_t>(i)));
    take("part", i);
  }
  cutpoint_store_check_options options = {};
  options.struct_bytes = sizeof options;
  options.flags = CUTPOINT_CHECK_READ_DATA;
  cutpoint_store_check_summary summary = {};
  summary.struct_bytes = sizeof summary;
  const auto check = [&] { return cutpoint_store_check(store_.get(), &options, &summary, &error_); };
  ASSERT_EQ(check(), CUTPOINT_OK) << error_.message;
  const std::uint64_t all = summary.read_containers;
  EXPECT_GE(all, 4u);
  EXPECT_EQ(summary.moved_chunks, 0u);
  std::uint64_t sum = 0;
  options.subset_count = 2;
  for (options.subset_number = 1; options.subset_number <= 2; ++options.subset_number) {
    ASSERT_EQ(check(), CUTPOINT_OK) << error_.message;
    sum += summary.read_containers;
  }
  EXPECT_EQ(sum, all);
  EXPECT_EQ(check(), CUTPOINT_INVALID_ARGUMENT) << "subset 3 of 2";
  options.subset_number = options.subset_count = 0;
  options.subset_share = 0.5;
  ASSERT_EQ(check(), CUTPOINT_OK) << error_.message;
  EXPECT_EQ(summary.read_containers, (all + 1) / 2);
  options.subset_most_bytes = 1;
  ASSERT_EQ(check(), CUTPOINT_OK) << error_.message;
  EXPECT_EQ(summary.read_containers, 1u);
}

}  // namespace
}  // namespace cutpoint::tests
