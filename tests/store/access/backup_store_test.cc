// One handle of a store backs up, repairs and restores.
#include <filesystem>
#include <fstream>

#include <cutpoint/store.h>
#include <gtest/gtest.h>

#include "tests/host/io/temporary_folder.h"

namespace cutpoint::tests {
namespace {

TEST(backup_store, sees_its_own_repair) {
  const temporary_folder folder;
  folder.make_file("tree/kept", std::string(20'000, 'k'));
  folder.make_file("tree/lost", std::string(20'000, 'l'));
  ASSERT_TRUE(backup_store::create(folder / "store", {}).ok());
  auto threads = engine::make({.threads = 1});
  for (const char* const each : {"tree/kept", "tree/lost"}) {
    auto opened = backup_store::open(folder / "store");
    ASSERT_TRUE(opened.ok()) << opened.error().message();
    ASSERT_TRUE(opened->back_up(*threads, {.paths = {folder / each}, .host = "h"}).ok());
  }
  // Every container has a changed byte in the middle of its first record.
  for (const auto& each : std::filesystem::directory_iterator(folder / "store/containers")) {
    std::filesystem::permissions(each.path(), std::filesystem::perms::owner_all);
    std::fstream(each.path(), std::ios::in | std::ios::out | std::ios::binary).seekp(140).put('\x7f');
  }
  auto opened = backup_store::open(folder / "store");
  ASSERT_TRUE(opened.ok()) << opened.error().message();
  const auto damaged = opened->check({.reads_data = true});
  ASSERT_TRUE(damaged.ok()) << damaged.error().message();
  EXPECT_GE(damaged->object_problems, 2u);
  EXPECT_EQ(damaged->file_problems, 2u);
  const auto repaired = opened->repair({});
  ASSERT_TRUE(repaired.ok()) << repaired.error().message();
  EXPECT_EQ(repaired->lost_files, 2u);
  EXPECT_EQ(repaired->replaced_snapshots, 2u);
  const auto clean = opened->check({.reads_data = true});
  ASSERT_TRUE(clean.ok());
  EXPECT_EQ(clean->object_problems + clean->file_problems, 0u);
  const auto again = opened->back_up(*threads, {.paths = {folder / "tree"}, .host = "h"});
  ASSERT_TRUE(again.ok()) << again.error().message();
  ASSERT_TRUE(opened->restore(again->id, {.path = folder / "tree", .target = folder / "target"}).ok());
  for (const char* const each : {"kept", "lost"}) {
    EXPECT_EQ(std::filesystem::file_size(folder / (std::string("target/") + each)), 20'000u);
  }
}

}  // namespace
}  // namespace cutpoint::tests
