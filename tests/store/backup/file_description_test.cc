// Files that share an inode, one after the other, and metadata that the parent may lack.
#include "store/backup/file_description.h"

#include <filesystem>

#include <cutpoint/walk.h>
#include <gtest/gtest.h>
#include <sys/xattr.h>

#include "tests/host/io/temporary_folder.h"
#include "tests/store/support/made_store.h"

namespace cutpoint::tests {
namespace {

class description : public testing::Test {
 protected:
  [[nodiscard]] store::file_description make(bool is_parent_incomplete) {
    return {parent_, is_parent_incomplete, nullptr, [](const std::string&, const status&) { ADD_FAILURE(); }};
  }

  temporary_folder folder_;
  made_store disk_store_;
  std::unique_ptr<store::open_store> opened_store_ = disk_store_.open();
  store::parent_tree parent_ = *store::parent_tree::make(opened_store_->reading(), std::nullopt);
};

TEST_F(description, names_of_one_file_share_its_content) {
  folder_.make_file("a");
  std::filesystem::create_hard_link(folder_ / "a", folder_ / "b");
  auto files = make(false);
  const auto first = *describe_file(folder_ / "a", symlinks::skip);
  const auto described = files.describe(first, nullptr);
  EXPECT_NE(described->content, nullptr);
  EXPECT_TRUE(files.is_first_name(first, described->entry));
  const auto second = files.describe(*describe_file(folder_ / "b", symlinks::skip), nullptr);
  EXPECT_EQ(second->content, nullptr);
  EXPECT_EQ(second->entry->first_name, described->entry);
}

TEST_F(description, a_later_file_with_the_inode_of_one_that_was_removed_has_its_own_content) {
  folder_.make_file("later");
  std::filesystem::create_hard_link(folder_ / "later", folder_ / "another name");
  auto files = make(false);
  const auto later = *describe_file(folder_ / "later", symlinks::skip);
  tree_entry removed = later;
  removed.path = folder_ / "removed";
  removed.changed.tv_sec -= 60;
  EXPECT_TRUE(files.is_first_name(removed, std::make_shared<store::pending_entry>(files.entry_of(removed))));
  const auto described = files.describe(later, nullptr);
  EXPECT_NE(described->content, nullptr);
  EXPECT_EQ(described->entry->first_name, nullptr);
  EXPECT_EQ(described->entry->entry.link_count, 1u);          // so that a restore does not link it to the other
  EXPECT_TRUE(files.is_first_name(later, described->entry));  // so that its bytes count
}

TEST_F(description, attributes_are_read_again_if_the_parent_may_lack_them) {
  folder_.make_file("a");
  if (::setxattr((folder_ / "a").c_str(), "user.x", "y", 1, 0) != 0) GTEST_SKIP() << "no attributes here";
  const auto walked = *describe_file(folder_ / "a", symlinks::skip);
  store::folder_entry stored{walked, "a"};  // as it was when they could not be read
  for (const bool is_parent_incomplete : {false, true}) {
    auto files = make(is_parent_incomplete);
    store::folder_entry entry = files.entry_of(walked);
    entry.attributes.clear();
    ASSERT_TRUE(files.add_attributes(entry, walked, &stored, nullptr).ok());
    EXPECT_EQ(entry.attributes.size(), is_parent_incomplete ? 1u : 0u);
  }
}

}  // namespace
}  // namespace cutpoint::tests
