// The numbers of entries are counted as the kernel counts them, and what it forgets takes no memory.
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "cli/mount/served_store.h"
#include "tests/host/io/temporary_folder.h"
#include "tests/host/support/value_of.h"

namespace cutpoint::cli {
namespace {

using tests::value_of;

class entry_numbers_of_a_folder : public testing::Test {
 protected:
  entry_numbers_of_a_folder() {
    for (int i = 0; i < 2000; ++i) folder_.make_file(fmt::format("tree/{}", i), "");
    EXPECT_TRUE(backup_store::create(folder_ / "store", {}).ok());
    auto threads = engine::make({.threads = 1});
    auto store = value_of(backup_store::open(folder_ / "store"));
    const auto id = value_of(store.back_up(*threads, {.paths = {folder_ / "tree"}, .host = "h"})).id;
    view_.emplace(value_of(store_view::make(std::move(store))));
    auto shown = std::make_shared<shown_entry>();
    shown->what = shown_entry::kind::snapshot;
    shown->text = id;
    const std::string path = folder_ / "tree";
    listed_ = {"/ids/" + id + path, shown, 5 + id.size(), value_of(view_->find(id, path))};
    auto entries = value_of(view_->open_folder(*listed_.file));
    for (auto each = entries.next(); *each; each = entries.next()) files_.push_back(listed_.below(**each));
  }

  tests::temporary_folder folder_;
  std::optional<store_view> view_;
  served_entry listed_;
  std::vector<served_entry> files_;
  entry_numbers numbers_;
};

constexpr std::uint64_t folder_number = 1 << 20;

TEST_F(entry_numbers_of_a_folder, are_different_and_lead_back_to_their_entries) {
  std::set<std::uint64_t> seen;
  for (const served_entry& each : files_) {
    const std::uint64_t number = numbers_.add(folder_number, listed_, each);
    EXPECT_TRUE(seen.insert(number).second);
    EXPECT_EQ(numbers_.add(folder_number, listed_, each), number);
    EXPECT_NE(numbers_.add(folder_number + 1, listed_, each), number) << "it is in another folder with the same list";
    const auto known = numbers_.find(number);
    ASSERT_TRUE(known && known->place);
    const auto file = value_of(view_->entry_at(*known->place));
    EXPECT_EQ(known->folder_or_path.below(file).path, each.path);
  }
  EXPECT_EQ(seen.size(), 2000u);
}

TEST_F(entry_numbers_of_a_folder, are_forgotten_when_none_of_a_node_is_known) {
  std::vector<std::uint64_t> file_numbers;
  for (const served_entry& each : files_) file_numbers.push_back(numbers_.add(folder_number, listed_, each));
  for (const std::uint64_t each : file_numbers)
    EXPECT_EQ(numbers_.add(folder_number, listed_, files_[0]), file_numbers[0]) << each;
  for (std::size_t i = 1; i < file_numbers.size(); ++i) numbers_.forget(file_numbers[i], 1);
  EXPECT_FALSE(numbers_.find(file_numbers.back()));
  ASSERT_TRUE(numbers_.find(file_numbers[0]));
  numbers_.forget(file_numbers[0], file_numbers.size());
  EXPECT_TRUE(numbers_.find(file_numbers[0]));
  numbers_.forget(file_numbers[0], 1);
  EXPECT_FALSE(numbers_.find(file_numbers[0]));
  numbers_.forget(file_numbers[0], 1);
  EXPECT_NE(numbers_.add(folder_number, listed_, files_[0]), file_numbers[0]) << "a number is not used again";
}

TEST_F(entry_numbers_of_a_folder, above_the_snapshots_have_paths) {
  const served_entry root{"/", std::make_shared<shown_entry>(), 1, std::nullopt};
  const served_entry ids = root.above("ids", std::make_shared<shown_entry>());
  const std::uint64_t number = numbers_.add(entry_numbers::root, root, ids);
  EXPECT_EQ(numbers_.add(entry_numbers::root, root, ids), number);
  EXPECT_EQ(numbers_.find(number)->folder_or_path.path, "/ids");
  EXPECT_EQ(numbers_.find(entry_numbers::root)->folder_or_path.path, "/");
  numbers_.forget(number, 2);
  EXPECT_FALSE(numbers_.find(number));
}

}  // namespace
}  // namespace cutpoint::cli
