// Each allocation of a call on a store fails in turn: calls return a code, and the store stays whole and free of leases.
#include <array>

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include "tests/bindings/c/failing_allocations.h"
#include "tests/bindings/c/store_handles.h"
#include "tests/host/support/streams.h"

namespace cutpoint::tests {
namespace {

int ignore_snapshot(void*, const cutpoint_store_snapshot*) { return 0; }
int ignore_file(void*, const cutpoint_stored_file*) { return 0; }
int ignore_change(void*, const char*, int, int) { return 0; }
int ignore_decision(void*, const cutpoint_store_snapshot*, const char* const*, std::uint64_t) { return 0; }
int ignore_bytes(void*, const void*, std::size_t) { return 0; }

/// Removes the files below a folder, without operator new, and returns their number.
int remove_files_in(const char* path, int parent = AT_FDCWD) {
  DIR* const folder = ::fdopendir(::openat(parent, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  int count = 0;
  for (const dirent* entry = ::readdir(folder); entry != nullptr; entry = ::readdir(folder)) {
    if (entry->d_name[0] == '.') continue;
    count += entry->d_type == DT_DIR ? remove_files_in(entry->d_name, ::dirfd(folder))
                                     : ::unlinkat(::dirfd(folder), entry->d_name, 0) == 0;
  }
  ::closedir(folder);
  return count;
}

class store_without_memory : public testing::Test {
 protected:
  store_without_memory() {
    seeded_choices random(3);
    const auto drawn = make_stream(content::mixed, 200'000, random);
    folder_.make_file("tree/file", {reinterpret_cast<const char*>(drawn.data()), drawn.size()});
    folder_.make_link("file", "tree/sub/link");
    id_ = back_up(make_store(place_).get(), engine_.get(), tree_);
  }

  /// Returns what opens the store and calls `use`.
  template <class Use>
  auto on_open_store(Use use) {
    return [this, use] {
      cutpoint_store* store = nullptr;
      const cutpoint_status code = cutpoint_store_open(place_.c_str(), nullptr, &store, nullptr);
      EXPECT_EQ(store == nullptr, code != CUTPOINT_OK);
      if (store == nullptr) return code;
      const cutpoint_status used = use(store);
      const cutpoint_status destroyed = cutpoint_store_destroy(store);
      EXPECT_EQ(destroyed, CUTPOINT_OK);
      return used;
    };
  }
  void expect_whole(const std::string& place) {
    const auto store = open_store(place);
    cutpoint_store_check_options options = {};
    options.struct_bytes = sizeof options;
    options.flags = CUTPOINT_CHECK_READ_DATA;
    cutpoint_store_check_summary summary = {};
    summary.struct_bytes = sizeof summary;
    ASSERT_EQ(cutpoint_store_check(store.get(), &options, &summary, nullptr), CUTPOINT_OK);
    EXPECT_EQ(summary.object_problems + summary.file_problems, 0u);
  }

  const temporary_folder folder_;
  const std::string place_ = folder_ / "store";
  const std::string tree_ = folder_ / "tree";
  const engine_handle engine_ = make_engine(1);
  std::string id_;
};

TEST_F(store_without_memory, is_not_made) {
  const std::string other = folder_ / "other", config = other + "/config";
  const int failures = failures_of([&] {
    ::unlink(config.c_str());
    return cutpoint_store_create(other.c_str(), nullptr, nullptr, nullptr);
  });
  EXPECT_GT(failures, 10);
}

TEST_F(store_without_memory, is_not_read) {
  const char* const id = id_.c_str();
  const std::string path = tree_ + "/file";
  EXPECT_GT(failures_of(on_open_store([&](cutpoint_store* store) {
              return cutpoint_store_snapshots(store, ignore_snapshot, nullptr, nullptr, nullptr);
            })),
            10);
  EXPECT_GT(failures_of(on_open_store([&](cutpoint_store* store) {
              return cutpoint_store_list_files(store, id, nullptr, ignore_file, nullptr, nullptr);
            })),
            10);
  EXPECT_GT(failures_of(on_open_store([&](cutpoint_store* store) {
              return cutpoint_store_read_file(store, id, path.c_str(), 0, 200'000, ignore_bytes, nullptr, nullptr);
            })),
            10);
  const std::string target = folder_ / "target";
  cutpoint_store_restore_options restoring = {};
  restoring.struct_bytes = sizeof restoring;
  restoring.target = target.c_str();
  restoring.flags = CUTPOINT_RESTORE_REPLACE_FILES;
  restoring.threads = 2;
  EXPECT_GT(failures_of(on_open_store([&](cutpoint_store* store) {
              return cutpoint_store_restore(store, id, &restoring, nullptr, nullptr);
            })),
            10);
  cutpoint_store_check_options checking = {};
  checking.struct_bytes = sizeof checking;
  checking.flags = CUTPOINT_CHECK_READ_DATA;
  checking.threads = 2;
  EXPECT_GT(failures_of(on_open_store(
                [&](cutpoint_store* store) { return cutpoint_store_check(store, &checking, nullptr, nullptr); })),
            10);
  cutpoint_store_diff_options comparing = {};
  comparing.struct_bytes = sizeof comparing;
  comparing.before = comparing.after = id;
  comparing.before_path = tree_.c_str();
  comparing.visit = ignore_change;
  EXPECT_GT(failures_of(on_open_store(
                [&](cutpoint_store* store) { return cutpoint_store_diff(store, &comparing, nullptr, nullptr); })),
            10);
  const auto ignore_session = [](void*, const char*, const char*, std::int64_t) { return 0; };
  EXPECT_GT(failures_of(on_open_store([&](cutpoint_store* store) {
              return cutpoint_store_sessions(store, ignore_session, nullptr, nullptr);
            })),
            10);
  const auto ignore_description = [](void*, const cutpoint_store_description*) { return 0; };
  EXPECT_GT(failures_of(on_open_store([&](cutpoint_store* store) {
              return cutpoint_store_describe(store, ignore_description, nullptr, nullptr);
            })),
            10);
  cutpoint_store_forget_options forgetting = {};
  forgetting.struct_bytes = sizeof forgetting;
  forgetting.keep_last = 1;
  forgetting.decided = ignore_decision;
  EXPECT_GT(failures_of(on_open_store(
                [&](cutpoint_store* store) { return cutpoint_store_forget(store, &forgetting, nullptr); })),
            10);
  expect_whole(place_);
}

TEST_F(store_without_memory, keeps_what_a_prune_must_keep) {
  const std::string old = id_;
  folder_.make_file("tree/file", std::string(100'000, 'x'));
  {
    const auto store = open_store(place_);
    back_up(store.get(), engine_.get(), tree_);
    ASSERT_EQ(cutpoint_store_remove_snapshot(store.get(), old.c_str(), nullptr), CUTPOINT_OK);
  }
  cutpoint_store_prune_options options = {};
  options.struct_bytes = sizeof options;
  options.most_unused = -1;
  options.threads = 2;
  const std::array passing = {place_ + "/leases", place_ + "/temporary"};  // what a prune without memory leaves
  const auto prune = on_open_store([&](cutpoint_store* store) {
    const cutpoint_status code = cutpoint_store_prune(store, &options, nullptr, nullptr);
    for (const std::string& each : passing) remove_files_in(each.c_str());
    return code;
  });
  EXPECT_GT(failures_of(prune, all_others, 4), 10);
  // Without the leases nobody but a repair finds what the prunes have written.
  ASSERT_EQ(cutpoint_store_repair(open_store(place_).get(), nullptr, nullptr, nullptr), CUTPOINT_OK);
  expect_whole(place_);
}

TEST_F(store_without_memory, is_edited_or_not) {
  const char *const patterns[] = {"file"}, *const added[] = {"tag"};
  cutpoint_store_rewrite_options rewriting = {};
  rewriting.struct_bytes = sizeof rewriting;
  rewriting.exclude = patterns;
  rewriting.snapshot_count = rewriting.exclude_count = 1;
  cutpoint_store_tag_options tagging = {};
  tagging.struct_bytes = sizeof tagging;
  tagging.added = added;
  tagging.snapshot_count = tagging.added_count = 1;
  const std::array passing = {place_ + "/leases", place_ + "/temporary"};
  const auto edited_once = [&](auto edit) {
    return on_open_store([&, edit](cutpoint_store* store) {
      const cutpoint_store_snapshot* snapshot = nullptr;
      cutpoint_status code = cutpoint_store_find_snapshot(store, "latest", &snapshot, nullptr);
      if (code != CUTPOINT_OK) return code;
      code = edit(store, &snapshot->id);
      for (const std::string& each : passing) remove_files_in(each.c_str());
      return code;
    });
  };
  const auto change_tags = edited_once([&](cutpoint_store* store, const char* const* ids) {
    tagging.snapshots = ids;
    return cutpoint_store_change_tags(store, &tagging, nullptr, nullptr);
  });
  EXPECT_GT(failures_of(change_tags, all_others, 4), 10);
  const auto rewrite = edited_once([&](cutpoint_store* store, const char* const* ids) {
    rewriting.snapshots = ids;
    return cutpoint_store_rewrite(store, &rewriting, nullptr, nullptr);
  });
  EXPECT_GT(failures_of(rewrite, all_others, 4), 10);
  // Without the leases nobody but a repair finds what the sessions have written.
  cutpoint_store_repair_summary repaired = {};
  repaired.struct_bytes = sizeof repaired;
  ASSERT_EQ(cutpoint_store_repair(open_store(place_).get(), nullptr, &repaired, nullptr), CUTPOINT_OK);
  EXPECT_EQ(repaired.lost_files, 0u);
  expect_whole(place_);
}

TEST_F(store_without_memory, copies_a_snapshot_or_not) {
  for (const char* const cuts :
       {static_cast<const char*>(nullptr), "gear(avg_bytes=16K)"}) {  // as they are, or cut again
    const std::string other = folder_ / (cuts == nullptr ? "same" : "other");
    cutpoint_store_settings settings = {};
    settings.struct_bytes = sizeof settings;
    settings.cuts = cuts;
    ASSERT_EQ(cutpoint_store_create(other.c_str(), &settings, nullptr, nullptr), CUTPOINT_OK);
    const auto copy = on_open_store([&](cutpoint_store* source) {
      cutpoint_store* store = nullptr;
      cutpoint_status code = cutpoint_store_open(other.c_str(), nullptr, &store, nullptr);
      if (store == nullptr) return code;
      code = cutpoint_store_copy_snapshots(store, engine_.get(), source, nullptr, nullptr, nullptr);
      const cutpoint_status destroyed = cutpoint_store_destroy(store);
      EXPECT_EQ(destroyed, CUTPOINT_OK);
      return code;
    });
    EXPECT_GT(failures_of(copy, all_others, 4), 10);
    expect_whole(other);
  }
}

TEST_F(store_without_memory, commits_what_was_pushed_or_nothing) {
  cutpoint_push_options options = {};
  options.struct_bytes = sizeof options;
  options.memory_bytes = 16 << 20;
  cutpoint_pushed_file file = {};
  file.struct_bytes = sizeof file;
  file.path = "/folder/file";
  static constexpr std::array<char, 100'000> bytes = {};
  const auto push_file = [&](cutpoint_push* push) {
    cutpoint_push_stream* stream = nullptr;
    cutpoint_status code = cutpoint_push_begin_stream(push, &file, &stream, nullptr);
    if (code != CUTPOINT_OK) return code;
    code = cutpoint_push_write(stream, bytes.data(), bytes.size(), nullptr);
    if (code != CUTPOINT_OK) {
      cutpoint_push_fail(stream, nullptr);
      return code;
    }
    code = cutpoint_push_end(stream, nullptr);
    return code == CUTPOINT_OK ? cutpoint_push_commit(push, nullptr, nullptr) : code;
  };
  const std::array passing = {place_ + "/leases", place_ + "/temporary"};
  const auto push_once = on_open_store([&](cutpoint_store* store) {
    cutpoint_push* push = nullptr;
    cutpoint_status code = cutpoint_push_begin(store, engine_.get(), &options, &push, nullptr);
    if (push == nullptr) return code;
    code = push_file(push);
    const cutpoint_status destroyed = cutpoint_push_destroy(push);
    EXPECT_EQ(destroyed, CUTPOINT_OK);
    for (const std::string& each : passing) remove_files_in(each.c_str());
    return code;
  });
  EXPECT_GT(failures_of(push_once, all_others, 4), 10);
  EXPECT_GT(failures_of(push_once, 1, 4), 10);
  expect_whole(place_);
}

TEST_F(store_without_memory, leaves_no_lease_and_no_temporary_file) {
  const char* const path = tree_.c_str();
  cutpoint_store_backup_options options = backup_of(path);
  options.flags = CUTPOINT_BACKUP_READ_EVERYTHING;
  options.memory_bytes = 4 << 20;
  // Each backup begins with an empty store, because every folder above the tree that changes adds a record.
  const std::array stored = {place_ + "/snapshots", place_ + "/shards", place_ + "/containers"};
  const std::array passing = {place_ + "/leases", place_ + "/temporary"};
  int left = 0;
  const auto back_up_once = on_open_store([&](cutpoint_store* store) {
    const cutpoint_status code = cutpoint_store_back_up(store, engine_.get(), &options, nullptr, nullptr);
    for (const std::string& each : stored) remove_files_in(each.c_str());
    for (const std::string& each : passing) left += remove_files_in(each.c_str());
    return code;
  });
  EXPECT_GT(failures_of(back_up_once, all_others, 4), 10);
  left = 0;
  EXPECT_GT(failures_of(back_up_once, 1, 4), 10);
  EXPECT_EQ(left, 0);
}

}  // namespace
}  // namespace cutpoint::tests
