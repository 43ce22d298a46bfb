// One handle of a store backs up, repairs and restores. Settings, ids and paths that cannot be are refused.
#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>

#include <cutpoint/store.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/host/io/temporary_folder.h"
#include "tests/host/support/value_of.h"

namespace cutpoint::tests {
namespace {

class backup_stores : public testing::Test {
 protected:
  [[nodiscard]] backup_store open() { return value_of(backup_store::open(folder_ / "store")); }
  [[nodiscard]] backup_store create_and_open() {
    EXPECT_TRUE(backup_store::create(folder_ / "store", {}).ok());
    return open();
  }

  const temporary_folder folder_;
  engine threads_ = value_of(engine::make({.threads = 2}));
};

TEST_F(backup_stores, sees_its_own_repair) {
  folder_.make_file("tree/kept", std::string(20'000, 'k'));
  folder_.make_file("tree/lost", std::string(20'000, 'l'));
  static_cast<void>(create_and_open());
  for (const char* const each : {"tree/kept", "tree/lost"}) {
    backup_store opened_store = open();
    ASSERT_TRUE(opened_store.back_up(threads_, {.paths = {folder_ / each}, .host = "h"}).ok());
  }
  // Every container has a changed byte in the middle of its first record.
  for (const auto& each : std::filesystem::recursive_directory_iterator(folder_ / "store/containers")) {
    if (!each.is_regular_file()) continue;
    std::filesystem::permissions(each.path(), std::filesystem::perms::owner_all);
    std::fstream(each.path(), std::ios::in | std::ios::out | std::ios::binary).seekp(140).put('\x7f');
  }
  backup_store opened_store = open();
  const auto damaged = value_of(opened_store.check({.reads_data = true}));
  EXPECT_GE(damaged.object_problems, 2u);
  EXPECT_EQ(damaged.file_problems, 2u);
  const auto repaired = value_of(opened_store.repair({}));
  EXPECT_EQ(repaired.lost_files, 2u);
  EXPECT_EQ(repaired.replaced_snapshots, 2u);
  const auto clean = value_of(opened_store.check({.reads_data = true}));
  EXPECT_EQ(clean.object_problems + clean.file_problems, 0u);
  const auto again = value_of(opened_store.back_up(threads_, {.paths = {folder_ / "tree"}, .host = "h"}));
  EXPECT_GE(again.healed_chunks, 2u);
  const auto healed =
      opened_store.back_up(threads_, {.paths = {folder_ / "tree"}, .host = "h", .reads_everything = true});
  EXPECT_EQ(healed->healed_chunks, 0u);
  ASSERT_TRUE(opened_store.restore(again.id, {.path = folder_ / "tree", .target = folder_ / "target"}).ok());
  for (const char* const each : {"kept", "lost"}) {
    EXPECT_EQ(std::filesystem::file_size(folder_ / (std::string("target/") + each)), 20'000u);
  }
}

TEST_F(backup_stores, reports_progress_that_ends_with_the_whole) {
  for (int i = 0; i < 20; ++i)
    folder_.make_file("tree/file" + std::to_string(i), std::string(300'000, static_cast<char>(i)));
  ASSERT_EQ(::link((folder_ / "tree/file3").c_str(), (folder_ / "tree/other").c_str()), 0);
  folder_.make_file("tree/hole", "");
  std::filesystem::resize_file(folder_ / "tree/hole", 9'000'000);
  for (const char* const each : {"store", "same", "other"}) {
    const store_settings settings{.cuts = each == std::string("other") ? "fixed(avg_bytes=5000)" : ""};
    ASSERT_TRUE(backup_store::create(folder_ / each, settings).ok());
  }
  backup_store opened_store = open();
  const auto snapshot = value_of(opened_store.back_up(threads_, {.paths = {folder_ / "tree"}, .host = "h"}));
  std::map<std::string_view, store_progress> last;  // by the activity
  const auto note = [&](const store_progress& progress) {
    store_progress& before = last[progress.activity];
    EXPECT_GE(progress.items, before.items);
    EXPECT_GE(progress.bytes, before.bytes);
    before = progress;
  };
  const auto expect_whole = [&](std::string_view activity, std::uint64_t items, std::uint64_t bytes) {
    const store_progress& progress = last[activity];
    EXPECT_EQ(progress.items, items) << activity;
    EXPECT_EQ(progress.total_items, items) << activity;
    EXPECT_EQ(progress.bytes, bytes) << activity;
    EXPECT_EQ(progress.total_bytes, bytes) << activity;
    last.erase(activity);
  };
  const std::string target = folder_ / "target";
  ASSERT_TRUE(opened_store.restore(snapshot.id, {.target = target, .progress = note}).ok());
  expect_whole("restoring files", 22, snapshot.bytes);
  ASSERT_TRUE(opened_store.restore(snapshot.id, {.target = target, .replaces_files = true, .progress = note}).ok());
  expect_whole("restoring files", 22, snapshot.bytes);  // though nothing was written
  const auto checked = value_of(opened_store.check({.reads_data = true, .progress = note}));
  EXPECT_EQ(last["reading containers"].items, checked.read_containers);
  EXPECT_GT(last["reading containers"].bytes, 1000u);
  expect_whole("checking snapshots", 1, 0);
  ASSERT_TRUE(opened_store.prune({.progress = note}).ok());
  EXPECT_GT(last["reading nodes of snapshots"].items, 0u);
  EXPECT_GT(last["examining containers"].items, 0u);
  for (const char* const each : {"same", "other"}) {
    auto copy = backup_store::open(folder_ / each);
    ASSERT_TRUE(copy->copy_snapshots(threads_, opened_store, {.progress = note}).ok());
    // A file with two names is read once where contents are cut again, and its records are looked up twice otherwise.
    EXPECT_EQ(last["copying snapshots"].bytes, snapshot.bytes + (each == std::string("same") ? 300'000 : 0)) << each;
    EXPECT_EQ(last["copying snapshots"].total_bytes, snapshot.bytes);
    last.clear();
  }
}

TEST_F(backup_stores, takes_no_older_snapshot_for_the_latest) {
  folder_.make_file("tree/file", "content");
  backup_store opened_store = create_and_open();
  const auto first = value_of(opened_store.back_up(threads_, {.paths = {folder_ / "tree"}, .host = "h"}));
  const auto second = value_of(opened_store.back_up(threads_, {.paths = {folder_ / "tree"}, .host = "h"}));
  const std::string path = (folder_ / "store/snapshots/") + second.id;
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  std::filesystem::resize_file(path, 100);
  opened_store = open();
  const status latest = error_of(opened_store.find_snapshot("latest"));
  EXPECT_EQ(latest.code(), status_code::io_error);
  EXPECT_NE(latest.message().find(second.id), std::string::npos) << latest.message();
  EXPECT_TRUE(opened_store.find_snapshot(first.id).ok());
}

TEST_F(backup_stores, sums_up_a_log_that_cannot_be_read) {
  folder_.make_file("tree/file", std::string(20'000, 'k'));
  backup_store opened_store = create_and_open();
  ASSERT_TRUE(opened_store.back_up(threads_, {.paths = {folder_ / "tree"}, .host = "h"}).ok());
  folder_.make_file("store/log/0000000000000002", "not an entry");
  const status refused = error_of(opened_store.back_up(threads_, {.paths = {folder_ / "tree"}, .host = "h"}));
  EXPECT_NE(refused.message().find("log/0000000000000002 is damaged"), std::string::npos);
  EXPECT_EQ(opened_store.check({})->object_problems, 1u);
  EXPECT_EQ(opened_store.repair({})->damaged_objects, 1u);
  opened_store = open();
  EXPECT_EQ(opened_store.check({})->object_problems, 0u);
  EXPECT_TRUE(opened_store.back_up(threads_, {.paths = {folder_ / "tree"}, .host = "h"}).ok());
  EXPECT_TRUE(std::filesystem::exists(folder_ / "store/log/0000000000000003"));
  EXPECT_EQ(opened_store.snapshots()->size(), 2u);
}

TEST_F(backup_stores, refuses_settings_beyond_their_bounds) {
  const auto refusal = [&](const store_settings& settings) {
    const status outcome = backup_store::create(folder_ / "store", settings);
    EXPECT_EQ(outcome.code(), status_code::invalid_argument);
    EXPECT_FALSE(std::filesystem::exists(folder_ / "store"));
    return outcome.message();
  };
  EXPECT_EQ(refusal({.cuts = {}, .compression_level = 20}), "compression_level = 20 must be from 0 to 19");
  EXPECT_EQ(refusal({.cuts = {}, .compression_level = -1}), "compression_level = -1 must be from 0 to 19");
  EXPECT_EQ(refusal({.cuts = {}, .container_bytes = 65'535}),
            "container_bytes = 65535 must be from 65536 to 134217728");
  EXPECT_EQ(refusal({.cuts = {}, .container_bytes = 134'217'729}),
            "container_bytes = 134217729 must be from 65536 to 134217728");
  const store_settings most = {.cuts = {}, .compression_level = 19, .container_bytes = 134'217'728};
  ASSERT_TRUE(backup_store::create(folder_ / "store", most).ok());
  EXPECT_TRUE(backup_store::open(folder_ / "store").ok());
}

TEST_F(backup_stores, an_id_names_no_other_object) {
  backup_store opened_store = create_and_open();
  for (const char* const id : {"../config", "", ".", "A", "0123"}) {
    EXPECT_EQ(opened_store.remove_snapshot(id).code(), status_code::invalid_argument) << id;
    EXPECT_EQ(opened_store.restore(id, {.target = folder_ / "target"}).error().code(), status_code::invalid_argument)
        << id;
  }
  EXPECT_TRUE(backup_store::open(folder_ / "store").ok());
}

TEST_F(backup_stores, removes_several_snapshots_and_reports_those_that_do_not_exist) {
  const std::string path = folder_.make_file("given", "text");
  backup_store opened_store = create_and_open();
  std::vector<std::string> ids;
  for (int i = 0; i < 3; ++i) ids.push_back(opened_store.back_up(threads_, {.paths = {path}, .host = "h"})->id);
  cancellation stopped;
  stopped.request();
  EXPECT_EQ(opened_store.remove_snapshots({ids[0]}, {}, &stopped).error().code(), status_code::cancelled);
  std::vector<std::string> reported;
  const auto removed = value_of(opened_store.remove_snapshots({"../config", ids[0], std::string(64, '0'), ids[2]},
                                                              [&](const std::string& id, const status& why) {
                                                                EXPECT_EQ(why.code(), status_code::invalid_argument);
                                                                reported.push_back(id);
                                                              }));
  EXPECT_EQ(removed, 2u);
  EXPECT_EQ(reported, (std::vector<std::string>{"../config", std::string(64, '0')}));
  const auto left = value_of(opened_store.snapshots());
  ASSERT_EQ(left.size(), 1u);
  EXPECT_EQ(left.front().id, ids[1]);
}

TEST_F(backup_stores, knows_when_snapshots_were_put_whatever_others_say) {
  folder_.make_file("file", "text");
  backup_store opened_store = create_and_open();
  const auto before = std::chrono::system_clock::now();
  const auto snapshot = value_of(opened_store.back_up(threads_, {.paths = {folder_ / "file"}, .host = "h", .time = 1}));
  const auto seen = value_of(opened_store.put_times());
  ASSERT_EQ(seen.size(), 1u);
  const std::chrono::nanoseconds put(seen.at(snapshot.id));
  constexpr std::chrono::milliseconds tick(20);  // of the clock of files
  EXPECT_GE(put, before.time_since_epoch() - tick);
  EXPECT_LE(put, std::chrono::system_clock::now().time_since_epoch() + tick);
  const std::filesystem::path file = folder_ / "store/snapshots/" + snapshot.id;
  std::filesystem::last_write_time(file, std::filesystem::file_time_type::clock::now() - std::chrono::hours(24));
  EXPECT_GE(std::chrono::nanoseconds(opened_store.put_times()->at(snapshot.id)), put);
}

TEST_F(backup_stores, counts_the_bytes_of_standard_input) {
  const std::string path = folder_.make_file("given", std::string(100'000, 'g'));
  backup_store opened_store = create_and_open();
  const int before = ::dup(STDIN_FILENO);
  const int input = ::open(path.c_str(), O_RDONLY);
  ASSERT_EQ(::dup2(input, STDIN_FILENO), STDIN_FILENO);
  const auto snapshot = value_of(opened_store.back_up(threads_, {.paths = {"-", folder_ / "given"}, .host = {}}));
  ::dup2(before, STDIN_FILENO);
  ::close(before);
  ::close(input);
  EXPECT_EQ(snapshot.bytes, 200'000u);
  EXPECT_EQ(opened_store.back_up(threads_, {.paths = {}, .host = {}}).error().code(), status_code::invalid_argument);
}

}  // namespace
}  // namespace cutpoint::tests
