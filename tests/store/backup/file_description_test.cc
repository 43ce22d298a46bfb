// Files that share an inode, one after the other, and metadata that the parent may lack.
#include "store/backup/file_description.h"

#include <filesystem>
#include <tuple>

#include <cutpoint/walk.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "tests/host/io/temporary_folder.h"
#include "tests/store/support/file_store.h"
#include "tests/store/support/made_store.h"

namespace cutpoint::tests {
namespace {

class description : public testing::Test {
 protected:
  [[nodiscard]] store::file_description make(bool is_parent_incomplete) {
    return {parent_, is_parent_incomplete, options_, [](const std::string&, const status&) { ADD_FAILURE(); }};
  }

  temporary_folder folder_;
  store_backup_options options_;
  made_store disk_store_;
  std::unique_ptr<store::open_store> opened_store_ = disk_store_.open();
  store::parent_tree parent_ = *store::parent_tree::make(opened_store_->reading(), std::nullopt);
};

TEST_F(description, names_of_one_file_share_its_content) {
  folder_.make_file("a");
  std::filesystem::create_hard_link(folder_ / "a", folder_ / "b");
  auto files = make(false);
  const auto described = files.describe(*describe_file(folder_ / "a", symlinks::skip), nullptr);
  EXPECT_NE(described->content, nullptr);
  EXPECT_TRUE(files.is_first_name(*described));
  const auto second = files.describe(*describe_file(folder_ / "b", symlinks::skip), nullptr);
  EXPECT_EQ(second->content, nullptr);
  EXPECT_EQ(second->entry->first_name, described->entry);
  EXPECT_FALSE(files.is_first_name(*second));
}

/// File systems that show others give their files equal numbers, and a later file gets those of one that was removed.
TEST_F(description, files_with_equal_numbers_that_differ_in_anything_else_have_their_own_content) {
  folder_.make_file("a");
  std::filesystem::create_hard_link(folder_ / "a", folder_ / "b");
  const auto walked = *describe_file(folder_ / "a", symlinks::skip);
  const auto with = [&](auto change) {
    tree_entry other = *describe_file(folder_ / "b", symlinks::skip);
    change(other);
    return other;
  };
  for (const tree_entry& other :
       {with([](tree_entry& each) { each.changed.tv_sec -= 60; }),
        with([](tree_entry& each) { ++each.modified.tv_nsec; }), with([](tree_entry& each) { ++each.size; }),
        with([](tree_entry& each) { ++each.user_id; }), with([](tree_entry& each) { each.link_count = 1; })}) {
    auto files = make(false);
    const auto first = files.describe(other, nullptr);
    EXPECT_TRUE(files.is_first_name(*first));
    const auto described = files.describe(walked, nullptr);
    EXPECT_NE(described->content, nullptr);
    EXPECT_EQ(described->entry->first_name, nullptr);
    // So that a restore does not link it to the other.
    const auto& entry = described->entry->entry;
    EXPECT_NE(std::tuple(entry.device, entry.link_count),
              std::tuple(first->entry->entry.device, first->entry->entry.link_count));
    EXPECT_TRUE(files.is_first_name(*described));  // so that its bytes count
  }
}

TEST_F(description, numbers_of_devices_are_stored_only_of_files_with_several_names_and_count_from_zero) {
  folder_.make_file("a");
  std::filesystem::create_hard_link(folder_ / "a", folder_ / "b");
  auto files = make(false);
  tree_entry walked = *describe_file(folder_ / "a", symlinks::skip);
  const auto device_of = [&] { return files.describe(walked, nullptr)->entry->entry.device; };
  EXPECT_EQ(device_of(), 0u);
  folder_.make_file("single");
  EXPECT_EQ(files.entry_of(*describe_file(folder_ / "single", symlinks::skip)).device, 0u);
  const temporary_folder elsewhere("/dev/shm");
  elsewhere.make_file("c");
  std::filesystem::create_hard_link(elsewhere / "c", elsewhere / "d");
  walked = *describe_file(elsewhere / "c", symlinks::skip);
  EXPECT_EQ(device_of(), 1u);
  EXPECT_EQ(device_of(), 1u);
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

// A ctime that a later change may leave as it is does not prove that a file has not changed.

using std::chrono::seconds;

bool is_trusted(const std::timespec& changed, const std::timespec& now, seconds margin) {
  const std::timespec trusted = store::trusted_change_time(changed, now, margin);
  if (trusted.tv_sec == 0 && trusted.tv_nsec == 0) return false;
  EXPECT_EQ(trusted.tv_sec, changed.tv_sec);
  EXPECT_EQ(trusted.tv_nsec, changed.tv_nsec);
  return true;
}

TEST(change_times, are_trusted_if_they_are_older_than_the_coarsest_clock_tells_apart) {
  const std::timespec now = {1'000, 500};
  EXPECT_TRUE(is_trusted({998, 500}, now, seconds(2)));
  EXPECT_TRUE(is_trusted({900, 999'999'999}, now, seconds(2)));
  EXPECT_TRUE(is_trusted({-5, 7}, now, seconds(2)));
  EXPECT_FALSE(is_trusted({998, 501}, now, seconds(2)));
  EXPECT_FALSE(is_trusted({999, 0}, now, seconds(2)));
  EXPECT_FALSE(is_trusted(now, now, seconds(2)));
  EXPECT_FALSE(is_trusted({1'001, 0}, now, seconds(2))) << "the clock was set back, or another machine's is ahead";
  EXPECT_FALSE(is_trusted({5'000'000, 0}, now, seconds(2)));
}

TEST(change_times, of_file_systems_that_nobody_knows_must_be_older) {
  tree_entry entry;
  entry.path = "/proc/self";
  for (const auto& [age, is_old] : {std::pair(10, false), std::pair(290, false), std::pair(310, true)}) {
    ::clock_gettime(CLOCK_REALTIME, &entry.changed);
    entry.changed.tv_sec -= age;
    EXPECT_EQ(store::file_systems().trusted(entry).tv_sec, is_old ? entry.changed.tv_sec : 0) << age;
  }
}

TEST(change_times, are_no_evidence_on_file_systems_that_keep_none) {
  using store::change_time_kind;
  EXPECT_EQ(store::change_time_kind_of(0xEF53), change_time_kind::kept);         // ext4
  EXPECT_EQ(store::change_time_kind_of(0x6969), change_time_kind::kept);         // NFS
  EXPECT_EQ(store::change_time_kind_of(0x65735546), change_time_kind::unknown);  // FUSE
  EXPECT_EQ(store::change_time_kind_of(0x794C7630), change_time_kind::unknown);  // overlayfs
  EXPECT_EQ(store::change_time_kind_of(0x01021997), change_time_kind::unknown);  // 9p
  EXPECT_EQ(store::change_time_kind_of(12345), change_time_kind::unknown);
  for (const std::uint32_t none : {0x73717368u, 0xE0F5E1E2u, 0x4D44u, 0x2011BAB0u, 0x9660u}) {
    EXPECT_EQ(store::change_time_kind_of(none), change_time_kind::none) << none;
  }
  tree_entry entry;
  entry.path = "/proc/self";  // of a file system that is not known
  entry.modified = entry.changed = {1'000, 5};
  store::file_systems systems;
  EXPECT_FALSE(systems.is_evidence(entry));
  entry.changed.tv_nsec = 6;
  EXPECT_TRUE(systems.is_evidence(entry));
}

TEST(change_times, do_not_hide_a_change_that_leaves_them_as_they_are) {
  const temporary_folder source;
  const std::string path = source.make_file("tree/file", std::string(4096, 'a'));
  const int file = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  // The kernel sets the times when a page is written to for the first time, and not again until the page was cleaned.
  void* const mapped = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  ASSERT_NE(mapped, MAP_FAILED);
  auto* const page = static_cast<volatile char*>(mapped);
  struct stat before = {};
  struct stat after = {};
  for (int attempt = 0; attempt < 10; ++attempt) {  // the kernel may clean the page at any time
    *page = 'b';
    const auto files = make_file_store();
    ASSERT_EQ(::fstat(file, &before), 0);
    const auto first = value_of(file_store(files).backup(source / "tree"));
    *page = 'c';
    ASSERT_EQ(::fstat(file, &after), 0);
    const auto second = value_of(file_store(files).backup(source / "tree", first.id));
    file_store(files).expect_comes_back(second.id, source / "tree");
    if (before.st_ctim.tv_sec == after.st_ctim.tv_sec && before.st_ctim.tv_nsec == after.st_ctim.tv_nsec) break;
  }
  ::munmap(mapped, 4096);
  ::close(file);
  EXPECT_EQ(before.st_ctim.tv_nsec, after.st_ctim.tv_nsec) << "no change left the ctime as it was";
}

}  // namespace
}  // namespace cutpoint::tests
