// One handle of a store backs up, repairs and restores. Settings, ids and paths that cannot be are refused.
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

TEST(backup_store, sees_its_own_repair) {
  const temporary_folder folder;
  folder.make_file("tree/kept", std::string(20'000, 'k'));
  folder.make_file("tree/lost", std::string(20'000, 'l'));
  ASSERT_TRUE(backup_store::create(folder / "store", {}).ok());
  auto threads = engine::make({.threads = 1});
  for (const char* const each : {"tree/kept", "tree/lost"}) {
    auto opened_store = value_of(backup_store::open(folder / "store"));
    ASSERT_TRUE(opened_store.back_up(*threads, {.paths = {folder / each}, .host = "h"}).ok());
  }
  // Every container has a changed byte in the middle of its first record.
  for (const auto& each : std::filesystem::recursive_directory_iterator(folder / "store/containers")) {
    if (!each.is_regular_file()) continue;
    std::filesystem::permissions(each.path(), std::filesystem::perms::owner_all);
    std::fstream(each.path(), std::ios::in | std::ios::out | std::ios::binary).seekp(140).put('\x7f');
  }
  auto opened_store = value_of(backup_store::open(folder / "store"));
  const auto damaged = value_of(opened_store.check({.reads_data = true}));
  EXPECT_GE(damaged.object_problems, 2u);
  EXPECT_EQ(damaged.file_problems, 2u);
  const auto repaired = value_of(opened_store.repair({}));
  EXPECT_EQ(repaired.lost_files, 2u);
  EXPECT_EQ(repaired.replaced_snapshots, 2u);
  const auto clean = value_of(opened_store.check({.reads_data = true}));
  EXPECT_EQ(clean.object_problems + clean.file_problems, 0u);
  const auto again = value_of(opened_store.back_up(*threads, {.paths = {folder / "tree"}, .host = "h"}));
  EXPECT_GE(again.healed_chunks, 2u);
  const auto healed =
      opened_store.back_up(*threads, {.paths = {folder / "tree"}, .host = "h", .reads_everything = true});
  EXPECT_EQ(healed->healed_chunks, 0u);
  ASSERT_TRUE(opened_store.restore(again.id, {.path = folder / "tree", .target = folder / "target"}).ok());
  for (const char* const each : {"kept", "lost"}) {
    EXPECT_EQ(std::filesystem::file_size(folder / (std::string("target/") + each)), 20'000u);
  }
}

TEST(backup_store, reports_progress_that_ends_with_the_whole) {
  const temporary_folder folder;
  for (int i = 0; i < 20; ++i)
    folder.make_file("tree/file" + std::to_string(i), std::string(300'000, static_cast<char>(i)));
  ASSERT_EQ(::link((folder / "tree/file3").c_str(), (folder / "tree/other").c_str()), 0);
  folder.make_file("tree/hole", "");
  std::filesystem::resize_file(folder / "tree/hole", 9'000'000);
  for (const char* const each : {"store", "same", "other"}) {
    const store_settings settings{.cuts = each == std::string("other") ? "fixed(avg_bytes=5000)" : ""};
    ASSERT_TRUE(backup_store::create(folder / each, settings).ok());
  }
  auto threads = engine::make({.threads = 2});
  auto opened_store = backup_store::open(folder / "store");
  const auto snapshot = value_of(opened_store->back_up(*threads, {.paths = {folder / "tree"}, .host = "h"}));
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
  const std::string target = folder / "target";
  ASSERT_TRUE(opened_store->restore(snapshot.id, {.target = target, .progress = note}).ok());
  expect_whole("restoring files", 22, snapshot.bytes);
  ASSERT_TRUE(opened_store->restore(snapshot.id, {.target = target, .replaces_files = true, .progress = note}).ok());
  expect_whole("restoring files", 22, snapshot.bytes);  // though nothing was written
  const auto checked = value_of(opened_store->check({.reads_data = true, .progress = note}));
  EXPECT_EQ(last["reading containers"].items, checked.read_containers);
  EXPECT_GT(last["reading containers"].bytes, 1000u);
  expect_whole("checking snapshots", 1, 0);
  ASSERT_TRUE(opened_store->prune({.progress = note}).ok());
  EXPECT_GT(last["reading nodes of snapshots"].items, 0u);
  EXPECT_GT(last["examining containers"].items, 0u);
  for (const char* const each : {"same", "other"}) {
    auto copy = backup_store::open(folder / each);
    ASSERT_TRUE(copy->copy_snapshots(*threads, *opened_store, {.progress = note}).ok());
    // A file with two names is read once where contents are cut again, and its records are looked up twice otherwise.
    EXPECT_EQ(last["copying snapshots"].bytes, snapshot.bytes + (each == std::string("same") ? 300'000 : 0)) << each;
    EXPECT_EQ(last["copying snapshots"].total_bytes, snapshot.bytes);
    last.clear();
  }
}

TEST(backup_store, takes_no_older_snapshot_for_the_latest) {
  const temporary_folder folder;
  folder.make_file("tree/file", "content");
  ASSERT_TRUE(backup_store::create(folder / "store", {}).ok());
  auto threads = engine::make({.threads = 1});
  auto opened_store = backup_store::open(folder / "store");
  const auto first = value_of(opened_store->back_up(*threads, {.paths = {folder / "tree"}, .host = "h"}));
  const auto second = value_of(opened_store->back_up(*threads, {.paths = {folder / "tree"}, .host = "h"}));
  const std::string path = (folder / "store/snapshots/") + second.id;
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  std::filesystem::resize_file(path, 100);
  opened_store = backup_store::open(folder / "store");
  const auto latest = opened_store->find_snapshot("latest");
  ASSERT_FALSE(latest.ok());
  EXPECT_EQ(latest.error().code(), status_code::io_error);
  EXPECT_NE(latest.error().message().find(second.id), std::string::npos) << latest.error().message();
  EXPECT_TRUE(opened_store->find_snapshot(first.id).ok());
}

TEST(backup_store, sums_up_a_log_that_cannot_be_read) {
  const temporary_folder folder;
  folder.make_file("tree/file", std::string(20'000, 'k'));
  ASSERT_TRUE(backup_store::create(folder / "store", {}).ok());
  auto threads = engine::make({.threads = 1});
  auto opened_store = backup_store::open(folder / "store");
  ASSERT_TRUE(opened_store->back_up(*threads, {.paths = {folder / "tree"}, .host = "h"}).ok());
  folder.make_file("store/log/0000000000000002", "not an entry");
  const auto refused = opened_store->back_up(*threads, {.paths = {folder / "tree"}, .host = "h"});
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message().find("log/0000000000000002 is damaged"), std::string::npos);
  EXPECT_EQ(opened_store->check({})->object_problems, 1u);
  EXPECT_EQ(opened_store->repair({})->damaged_objects, 1u);
  opened_store = backup_store::open(folder / "store");
  EXPECT_EQ(opened_store->check({})->object_problems, 0u);
  EXPECT_TRUE(opened_store->back_up(*threads, {.paths = {folder / "tree"}, .host = "h"}).ok());
  EXPECT_TRUE(std::filesystem::exists(folder / "store/log/0000000000000003"));
  EXPECT_EQ(opened_store->snapshots()->size(), 2u);
}

TEST(backup_store, refuses_settings_beyond_their_bounds) {
  const temporary_folder folder;
  const auto refusal = [&](const store_settings& settings) {
    const status outcome = backup_store::create(folder / "store", settings);
    EXPECT_EQ(outcome.code(), status_code::invalid_argument);
    EXPECT_FALSE(std::filesystem::exists(folder / "store"));
    return outcome.message();
  };
  EXPECT_EQ(refusal({.cuts = {}, .compression_level = 20}), "compression_level = 20 must be from 0 to 19");
  EXPECT_EQ(refusal({.cuts = {}, .compression_level = -1}), "compression_level = -1 must be from 0 to 19");
  EXPECT_EQ(refusal({.cuts = {}, .container_bytes = 65'535}),
            "container_bytes = 65535 must be from 65536 to 134217728");
  EXPECT_EQ(refusal({.cuts = {}, .container_bytes = 134'217'729}),
            "container_bytes = 134217729 must be from 65536 to 134217728");
  const store_settings most = {.cuts = {}, .compression_level = 19, .container_bytes = 134'217'728};
  ASSERT_TRUE(backup_store::create(folder / "store", most).ok());
  EXPECT_TRUE(backup_store::open(folder / "store").ok());
}

TEST(backup_store, an_id_names_no_other_object) {
  const temporary_folder folder;
  ASSERT_TRUE(backup_store::create(folder / "store", {}).ok());
  auto opened_store = value_of(backup_store::open(folder / "store"));
  for (const char* const id : {"../config", "", ".", "A", "0123"}) {
    EXPECT_EQ(opened_store.remove_snapshot(id).code(), status_code::invalid_argument) << id;
    EXPECT_EQ(opened_store.restore(id, {.target = folder / "target"}).error().code(), status_code::invalid_argument)
        << id;
  }
  EXPECT_TRUE(backup_store::open(folder / "store").ok());
}

TEST(backup_store, removes_several_snapshots_and_reports_those_that_do_not_exist) {
  const temporary_folder folder;
  const std::string path = folder.make_file("given", "text");
  ASSERT_TRUE(backup_store::create(folder / "store", {}).ok());
  auto opened_store = value_of(backup_store::open(folder / "store"));
  auto threads = value_of(engine::make({.threads = 1}));
  std::vector<std::string> ids;
  for (int i = 0; i < 3; ++i) ids.push_back(opened_store.back_up(threads, {.paths = {path}, .host = "h"})->id);
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
  ASSERT_TRUE(left.size() == 1);
  EXPECT_EQ(left.front().id, ids[1]);
}

TEST(backup_store, counts_the_bytes_of_standard_input) {
  const temporary_folder folder;
  const std::string path = folder.make_file("given", std::string(100'000, 'g'));
  ASSERT_TRUE(backup_store::create(folder / "store", {}).ok());
  auto opened_store = value_of(backup_store::open(folder / "store"));
  auto threads = value_of(engine::make({.threads = 1}));
  const int before = ::dup(STDIN_FILENO);
  const int input = ::open(path.c_str(), O_RDONLY);
  ASSERT_EQ(::dup2(input, STDIN_FILENO), STDIN_FILENO);
  const auto snapshot = value_of(opened_store.back_up(threads, {.paths = {"-", folder / "given"}, .host = {}}));
  ::dup2(before, STDIN_FILENO);
  ::close(before);
  ::close(input);
  EXPECT_EQ(snapshot.bytes, 200'000u);
  EXPECT_EQ(opened_store.back_up(threads, {.paths = {}, .host = {}}).error().code(), status_code::invalid_argument);
}

}  // namespace
}  // namespace cutpoint::tests
