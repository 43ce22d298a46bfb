// Each allocation of a call on a store fails in turn: calls return a code, and the store stays whole and free of leases.
#include <array>

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include "tests/bindings/c/failing_allocations.h"
#include "tests/bindings/c/handles.h"
#include "tests/host/support/streams.h"

namespace cutpoint::tests {
namespace {

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
  /// Expects that a call fails until it has the memory for more than ten allocations.
  template <class Use>
  void expect_failures(Use use) {
    EXPECT_GT(failures_of(on_open_store(use)), 10);
  }
  /// The same for one that changes the store. What calls without memory leave is removed and counted.
  template <class Use>
  void expect_failures_of_session(Use use, std::uint64_t refused = all_others) {
    const auto call = on_open_store([&](cutpoint_store* store) {
      const cutpoint_status code = use(store);
      remove_what_is_left();
      return code;
    });
    EXPECT_GT(failures_of(call, refused, 4), 10);
  }
  void remove_what_is_left() {
    for (const std::string& each : passing_) left_ += remove_files_in(each.c_str());
  }
  void expect_whole(const std::string& place) {
    auto options = sized<cutpoint_store_check_options>();
    options.flags = CUTPOINT_CHECK_READ_DATA;
    auto summary = sized<cutpoint_store_check_summary>();
    ASSERT_EQ(cutpoint_store_check(open_store(place).get(), &options, &summary, nullptr), CUTPOINT_OK);
    EXPECT_EQ(summary.object_problems + summary.file_problems, 0u);
  }
  /// Without the leases nobody but a repair finds what the sessions have written.
  void expect_whole_after_repair() {
    auto repaired = sized<cutpoint_store_repair_summary>();
    ASSERT_EQ(cutpoint_store_repair(open_store(place_).get(), nullptr, &repaired, nullptr), CUTPOINT_OK);
    EXPECT_EQ(repaired.lost_files, 0u);
    expect_whole(place_);
  }

  const temporary_folder folder_;
  const std::string place_ = folder_ / "store";
  const std::array<std::string, 2> passing_ = {place_ + "/leases", place_ + "/temporary"};
  const std::string tree_ = folder_ / "tree";
  const engine_handle engine_ = make_engine(1);
  std::string id_;
  int left_ = 0;  ///< leases and temporary files
};

TEST_F(store_without_memory, is_not_made) {
  const std::string other = folder_ / "other", config = other + "/config", copy = config + ".copy";
  const int failures = failures_of([&] {
    ::unlink(config.c_str());
    ::unlink(copy.c_str());
    return cutpoint_store_create(other.c_str(), nullptr, nullptr, nullptr);
  });
  EXPECT_GT(failures, 10);
}

TEST_F(store_without_memory, is_not_read) {
  const char* const id = id_.c_str();
  const std::string path = tree_ + "/file", target = folder_ / "target";
  const auto ignore = [](auto...) { return 0; };
  auto restoring = sized<cutpoint_store_restore_options>();
  restoring.target = target.c_str();
  restoring.flags = CUTPOINT_RESTORE_REPLACE_FILES;
  auto checking = sized<cutpoint_store_check_options>();
  checking.flags = CUTPOINT_CHECK_READ_DATA;
  restoring.threads = checking.threads = 2;
  auto comparing = sized<cutpoint_store_diff_options>();
  comparing.before = comparing.after = id;
  comparing.before_path = tree_.c_str();
  comparing.visit = ignore;
  auto forgetting = sized<cutpoint_store_forget_options>();
  forgetting.keep_last = 1;
  forgetting.decided = ignore;
  expect_failures([&](auto store) { return cutpoint_store_snapshots(store, ignore, nullptr, nullptr, nullptr); });
  expect_failures([&](auto store) { return cutpoint_store_list_files(store, id, nullptr, ignore, nullptr, nullptr); });
  expect_failures([&](auto store) {
    return cutpoint_store_read_file(store, id, path.c_str(), 0, 200'000, ignore, nullptr, nullptr);
  });
  expect_failures([&](auto store) { return cutpoint_store_restore(store, id, &restoring, nullptr, nullptr); });
  expect_failures([&](auto store) { return cutpoint_store_check(store, &checking, nullptr, nullptr); });
  expect_failures([&](auto store) { return cutpoint_store_diff(store, &comparing, nullptr, nullptr); });
  expect_failures([&](auto store) { return cutpoint_store_sessions(store, ignore, nullptr, nullptr); });
  expect_failures([&](auto store) { return cutpoint_store_describe(store, ignore, nullptr, nullptr); });
  expect_failures([&](auto store) { return cutpoint_store_forget(store, &forgetting, nullptr); });
  expect_whole(place_);
}

TEST_F(store_without_memory, keeps_what_a_prune_must_keep) {
  folder_.make_file("tree/file", std::string(100'000, 'x'));
  {
    const auto store = open_store(place_);
    back_up(store.get(), engine_.get(), tree_);
    ASSERT_EQ(cutpoint_store_remove_snapshot(store.get(), id_.c_str(), nullptr), CUTPOINT_OK);
  }
  auto options = sized<cutpoint_store_prune_options>();
  options.most_unused = -1;
  options.threads = 2;
  expect_failures_of_session([&](auto store) { return cutpoint_store_prune(store, &options, nullptr, nullptr); });
  expect_whole_after_repair();
}

TEST_F(store_without_memory, is_edited_or_not) {
  const char *const patterns[] = {"file"}, *const added[] = {"tag"};
  auto rewriting = sized<cutpoint_store_rewrite_options>();
  rewriting.exclude = patterns;
  rewriting.snapshot_count = rewriting.exclude_count = 1;
  auto tagging = sized<cutpoint_store_tag_options>();
  tagging.added = added;
  tagging.snapshot_count = tagging.added_count = 1;
  const auto on_latest = [](cutpoint_store* store, auto edit) {
    const cutpoint_store_snapshot* snapshot = nullptr;
    const cutpoint_status code = cutpoint_store_find_snapshot(store, "latest", &snapshot, nullptr);
    return code == CUTPOINT_OK ? edit(&snapshot->id) : code;
  };
  expect_failures_of_session([&](cutpoint_store* store) {
    return on_latest(store, [&](const char* const* ids) {
      tagging.snapshots = ids;
      return cutpoint_store_change_tags(store, &tagging, nullptr, nullptr);
    });
  });
  expect_failures_of_session([&](cutpoint_store* store) {
    return on_latest(store, [&](const char* const* ids) {
      rewriting.snapshots = ids;
      return cutpoint_store_rewrite(store, &rewriting, nullptr, nullptr);
    });
  });
  expect_whole_after_repair();
}

TEST_F(store_without_memory, copies_a_snapshot_or_not) {
  for (const char* const cuts :
       {static_cast<const char*>(nullptr), "gear(avg_bytes=16K)"}) {  // as they are, or cut again
    const std::string other = folder_ / (cuts == nullptr ? "same" : "other");
    auto settings = sized<cutpoint_store_settings>();
    settings.cuts = cuts;
    ASSERT_EQ(cutpoint_store_create(other.c_str(), &settings, nullptr, nullptr), CUTPOINT_OK);
    expect_failures_of_session([&](cutpoint_store* source) {
      cutpoint_store* store = nullptr;
      cutpoint_status code = cutpoint_store_open(other.c_str(), nullptr, &store, nullptr);
      if (store == nullptr) return code;
      code = cutpoint_store_copy_snapshots(store, engine_.get(), source, nullptr, nullptr, nullptr);
      const cutpoint_status destroyed = cutpoint_store_destroy(store);
      EXPECT_EQ(destroyed, CUTPOINT_OK);
      return code;
    });
    expect_whole(other);
  }
}

TEST_F(store_without_memory, commits_what_was_pushed_or_nothing) {
  auto options = sized<cutpoint_push_options>();
  options.memory_bytes = 16 << 20;
  auto file = sized<cutpoint_pushed_file>();
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
  // The lease of a session that could not begin stays, for the next one to end.
  const auto push_once = on_open_store([&](cutpoint_store* store) {
    cutpoint_push* push = nullptr;
    cutpoint_status code = cutpoint_push_begin(store, engine_.get(), &options, &push, nullptr);
    if (push == nullptr) return code;
    code = push_file(push);
    const cutpoint_status destroyed = cutpoint_push_destroy(push);
    EXPECT_EQ(destroyed, CUTPOINT_OK);
    remove_what_is_left();
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
  const auto back_up_once = [&](cutpoint_store* store) {
    const cutpoint_status code = cutpoint_store_back_up(store, engine_.get(), &options, nullptr, nullptr);
    for (const std::string& each : stored) remove_files_in(each.c_str());
    return code;
  };
  expect_failures_of_session(back_up_once);
  left_ = 0;
  expect_failures_of_session(back_up_once, 1);
  EXPECT_EQ(left_, 0);
}

}  // namespace
}  // namespace cutpoint::tests
