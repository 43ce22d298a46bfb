// Snapshots are compared, forgotten by rules and copied through the interface for C, and what they leave is pruned.
#include <filesystem>
#include <fstream>
#include <map>

#include <gmock/gmock.h>

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

  const temporary_folder folder_;
  const std::string tree_ = folder_ / "tree";
  const engine_handle engine_ = make_engine(2);
  const store_handle store_ = make_store(folder_ / "store");
  cutpoint_error error_ = {};
};

TEST_F(c_store_life, rules_say_which_snapshots_are_removed) {
  const std::vector<std::string> ids = {take("release", 0), take("daily", 1), take("daily", 2), take("daily", 3)};
  std::map<std::string, std::vector<std::string>> reasons;
  auto note = [&](const cutpoint_store_snapshot* each, const char* const* why, std::uint64_t count) {
    EXPECT_EQ(each->path_count, 1u);
    reasons[each->id].assign(why, why + count);
    return 0;
  };
  const char* const tag = "release";
  cutpoint_store_forget_options options = {};
  options.struct_bytes = sizeof options;
  options.keep_last = 1;
  options.keep_within = "1d12h";
  options.keep_tags = &tag;
  options.keep_tag_count = 1;
  options.flags = CUTPOINT_FORGET_REHEARSE;
  options.context = &note;
  options.decided = forward_call<decltype(note), const cutpoint_store_snapshot*, const char* const*, std::uint64_t>;
  ASSERT_EQ(cutpoint_store_forget(store_.get(), &options, &error_), CUTPOINT_OK) << error_.message;
  EXPECT_EQ(reasons, (std::map<std::string, std::vector<std::string>>{{ids[0], {"has tags [release]"}},
                                                                      {ids[1], {}},
                                                                      {ids[2], {"within 1d12h"}},
                                                                      {ids[3], {"within 1d12h", "last snapshot"}}}));
  EXPECT_EQ(ids_in(store_.get()), ids);
  options.flags = 0;
  ASSERT_EQ(cutpoint_store_forget(store_.get(), &options, &error_), CUTPOINT_OK) << error_.message;
  EXPECT_EQ(ids_in(store_.get()), (std::vector{ids[0], ids[2], ids[3]}));
}

TEST_F(c_store_life, rules_apply_to_groups_of_the_snapshots_that_are_looked_at) {
  const std::vector<std::string> ids = {take("a", 0), take("a", 1), take("b", 2), take("b", 3)};
  cutpoint_store_forget_options options = {};
  options.struct_bytes = sizeof options;
  options.keep_last = 1;
  const char* const other_host = "other";
  options.hosts = &other_host;
  options.host_count = 1;
  ASSERT_EQ(cutpoint_store_forget(store_.get(), &options, &error_), CUTPOINT_OK) << error_.message;
  EXPECT_EQ(ids_in(store_.get()), ids);
  options.host_count = 0;
  const char* const tag = "a";
  options.tags = &tag;
  options.tag_count = 1;
  ASSERT_EQ(cutpoint_store_forget(store_.get(), &options, &error_), CUTPOINT_OK) << error_.message;
  EXPECT_EQ(ids_in(store_.get()), (std::vector{ids[1], ids[2], ids[3]}));
  options.tag_count = 0;
  options.flags = CUTPOINT_FORGET_BY_TAGS | CUTPOINT_FORGET_ANY_HOST | CUTPOINT_FORGET_ANY_PATHS;
  ASSERT_EQ(cutpoint_store_forget(store_.get(), &options, &error_), CUTPOINT_OK) << error_.message;
  EXPECT_EQ(ids_in(store_.get()), (std::vector{ids[1], ids[3]}));
}

TEST_F(c_store_life, a_prune_removes_what_no_snapshot_refers_to) {
  const std::string old = take("old", 0);
  folder_.make_file("tree/large", random_bytes(300'000, 2));
  const std::string left = take("new", 1);
  ASSERT_EQ(cutpoint_store_remove_snapshot(store_.get(), old.c_str(), &error_), CUTPOINT_OK);
  cutpoint_store_prune_options options = {};
  options.struct_bytes = sizeof options;
  options.flags = CUTPOINT_PRUNE_REHEARSE;
  options.most_unused = -1;
  cutpoint_store_prune_summary rehearsed = {}, pruned = {};
  rehearsed.struct_bytes = pruned.struct_bytes = sizeof pruned;
  ASSERT_EQ(cutpoint_store_prune(store_.get(), &options, &rehearsed, &error_), CUTPOINT_OK) << error_.message;
  EXPECT_GT(rehearsed.removed_bytes, 300'000u);
  options.flags = 0;
  ASSERT_EQ(cutpoint_store_prune(store_.get(), &options, &pruned, &error_), CUTPOINT_OK) << error_.message;
  EXPECT_EQ(pruned.containers, rehearsed.containers);
  EXPECT_EQ(pruned.removed_containers, rehearsed.removed_containers);
  EXPECT_GT(pruned.unused_bytes, 300'000u);
  EXPECT_EQ(pruned.left_unused_bytes, 0u);
  EXPECT_EQ(read_range(store_.get(), left, tree_ + "/large", 0, 300'000), random_bytes(300'000, 2));
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

TEST_F(c_store_life, snapshots_are_copied_once) {
  const std::string first = take("first", 0), second = take("second", 1);
  const cutpoint_store_secret secret = password("secret");
  const auto target = make_store(folder_ / "target", &secret);
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
  ASSERT_EQ(copies.size(), 1u);
  EXPECT_EQ(ids_in(target.get()), std::vector{copies.at(second)});
  EXPECT_EQ(read_range(target.get(), copies.at(second), tree_ + "/large", 0, 300'000), random_bytes(300'000, 1));
  options.snapshot_count = 0;
  ASSERT_EQ(copy(), CUTPOINT_OK) << error_.message;
  EXPECT_EQ(summary.copied, 1u);
  EXPECT_EQ(summary.skipped, 1u);
  EXPECT_EQ(copies.size(), 2u);
}

TEST_F(c_store_life, lanes_change_nothing_that_is_stored) {
  take("first", 0);
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
  const auto back_up = [&] {
    const cutpoint_store_snapshot* snapshot = nullptr;
    const cutpoint_status code = cutpoint_store_back_up(store_.get(), engine_.get(), &options, &snapshot, &error_);
    if (code == CUTPOINT_OK) {
      EXPECT_LT(snapshot->new_raw_bytes, 5'000u) << "more than folders above the tree";
    }
    return code;
  };
  lanes.back_end = "scalar";
  lanes.segment_bytes = 30'000;
  lanes.flags = CUTPOINT_LANES_MEASURE;
  ASSERT_EQ(back_up(), CUTPOINT_OK) << error_.message;
  EXPECT_EQ(calls, 1u);
  options.work = nullptr;
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
  EXPECT_EQ(ids_in(store_.get()).size(), 3u);
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
  cutpoint_pushed_file file = {};
  file.struct_bytes = sizeof file;
  file.path = "/stream";
  cutpoint_push_stream* stream = nullptr;
  ASSERT_EQ(cutpoint_push_begin_stream(push, &file, &stream, &error_), CUTPOINT_OK) << error_.message;
  ASSERT_EQ(cutpoint_push_write(stream, "content", 7, &error_), CUTPOINT_OK);
  ASSERT_EQ(cutpoint_push_end(stream, &error_), CUTPOINT_OK);
  ASSERT_EQ(cutpoint_push_commit(push, nullptr, &error_), CUTPOINT_OK) << error_.message;
  ASSERT_EQ(cutpoint_push_destroy(push), CUTPOINT_OK);
  EXPECT_EQ(bytes, 300'012u);
  lanes.back_end = "fast";
  EXPECT_EQ(cutpoint_push_begin(target.get(), engine_.get(), &pushing, &push, &error_), CUTPOINT_UNKNOWN_NAME);
  EXPECT_EQ(copy(), CUTPOINT_UNKNOWN_NAME);
}

TEST_F(c_store_life, a_restore_in_place_says_what_it_wrote) {
  const std::string id = take("only", 0), target = folder_ / "target";
  cutpoint_store_restore_options options = {};
  options.struct_bytes = sizeof options;
  options.target = target.c_str();
  options.path = tree_.c_str();
  options.flags = CUTPOINT_RESTORE_VERIFY;
  cutpoint_store_restore_summary summary = {};
  summary.struct_bytes = sizeof summary;
  ASSERT_EQ(cutpoint_store_restore(store_.get(), id.c_str(), &options, &summary, &error_), CUTPOINT_OK);
  EXPECT_EQ(summary.written_bytes, 300'005u);
  EXPECT_GT(summary.read_containers, 0u);
  ASSERT_EQ(cutpoint_store_restore(store_.get(), id.c_str(), &options, &summary, &error_), CUTPOINT_OK);
  EXPECT_GT(summary.problems, 0u);  // the files exist
  std::ofstream(target + "/sub/small") << "other";
  options.flags |= CUTPOINT_RESTORE_REPLACE_FILES;
  ASSERT_EQ(cutpoint_store_restore(store_.get(), id.c_str(), &options, &summary, &error_), CUTPOINT_OK);
  EXPECT_EQ(summary.problems, 0u);
  EXPECT_EQ(summary.written_bytes, 5u);
}

TEST_F(c_store_life, a_cap_stores_again_what_lies_in_many_containers) {
  std::string whole;
  for (std::uint64_t i = 0; i < 4; ++i) {  // each backup has a container of its own
    const std::string content = random_bytes(1'000'000, 10 + i);
    folder_.make_file("tree/large", content);
    take("part", static_cast<std::int64_t>(i));
    whole += content;
  }
  folder_.make_file("tree/large", whole);
  const char* const path = tree_.c_str();
  const auto stored_with_cap = [&](std::uint64_t most_old_containers) {
    cutpoint_store_backup_options options = backup_of(path);
    options.flags = CUTPOINT_BACKUP_READ_EVERYTHING;
    options.most_old_containers = most_old_containers;
    const cutpoint_store_snapshot* snapshot = nullptr;
    EXPECT_EQ(cutpoint_store_back_up(store_.get(), engine_.get(), &options, &snapshot, &error_), CUTPOINT_OK)
        << error_.message;
    return snapshot->new_raw_bytes;
  };
  const std::uint64_t stored = stored_with_cap(0);
  EXPECT_GT(stored_with_cap(1), stored);
}

}  // namespace
}  // namespace cutpoint::tests
