// Restored files have the rights that were stored and no others, and what stands in their way gives way if it may.
#include <filesystem>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "store/restore/set_metadata.h"
#include "store/restore/target_tree.h"
#include "tests/store/support/file_store.h"

namespace cutpoint::tests {
namespace {

constexpr const char* access_list = "system.posix_acl_access";
constexpr const char* default_list = "system.posix_acl_default";

/// Returns an access control list that lets the user 12345 do everything, as the kernel keeps it.
std::string list_for_a_stranger() {
  std::string list("\2\0\0\0", 4);
  const auto add = [&](char tag, char rights, const char* id) {
    list += {tag, 0, rights, 0};
    list.append(id, 4);
  };
  constexpr const char* none = "\xff\xff\xff\xff";
  add(0x01, 7, none);                // the owner
  add(0x02, 7, "\x39\x30\x00\x00");  // 12345
  add(0x04, 0, none);                // the group
  add(0x10, 7, none);                // the mask
  add(0x20, 0, none);                // others
  return list;
}

bool set_list(const std::string& path, const char* which) {
  const std::string list = list_for_a_stranger();
  return ::setxattr(path.c_str(), which, list.data(), list.size(), 0) == 0;
}

bool has_list(const std::string& path, const char* which) { return ::getxattr(path.c_str(), which, nullptr, 0) > 0; }

mode_t mode_of(const std::string& path) {
  struct stat facts = {};
  EXPECT_EQ(::lstat(path.c_str(), &facts), 0) << path;
  return facts.st_mode & 07777;
}

class restored_rights : public restored_tree {
 protected:
  void SetUp() override {
    source_.make_file("tree/sub/file", std::string(100'000, 'x'));
    source_.make_folder("tree/sub/deep");
    ASSERT_EQ(::mkfifo((source_ / "tree/sub/fifo").c_str(), 0640), 0);
    ASSERT_EQ(::chmod((source_ / "tree/sub/file").c_str(), 0640), 0);
    ASSERT_EQ(::chmod((source_ / "tree/sub").c_str(), 0750), 0);
    back_up();
  }
  void restore(bool replaces) {
    problems_.clear();
    static_cast<void>(value_of(file_store(files_).restore(id_, {.path = source_ / "tree",
                                                                .target = target_ / "t",
                                                                .replaces_files = replaces,
                                                                .threads = 1,
                                                                .problem = note_in(problems_)})));
  }
};

TEST_F(restored_rights, are_not_inherited_from_a_default_access_list) {
  target_.make_folder("t");
  if (!set_list(target_ / "t", default_list)) GTEST_SKIP() << "the folder has no access control lists";
  ASSERT_EQ(::mkdir((target_ / "t/probe").c_str(), 0700), 0);
  ASSERT_TRUE(has_list(target_ / "t/probe", access_list));
  std::filesystem::remove(target_ / "t/probe");
  restore(false);
  for (const char* const each : {"t", "t/sub", "t/sub/deep", "t/sub/file", "t/sub/fifo"}) {
    EXPECT_FALSE(has_list(target_ / each, access_list)) << each;
    EXPECT_FALSE(has_list(target_ / each, default_list)) << each;
  }
  expect_restored();
}

TEST_F(restored_rights, are_not_those_of_a_list_that_was_there) {
  target_.make_folder("t/sub");
  target_.make_file("t/sub/file", "old");
  if (!set_list(target_ / "t/sub/file", access_list)) GTEST_SKIP() << "the folder has no access control lists";
  ASSERT_TRUE(set_list(target_ / "t/sub", access_list));
  ASSERT_TRUE(set_list(target_ / "t/sub", default_list));
  // While the contents are read, the folder is there already.
  std::size_t looks = 0;
  files_->meanwhile = [&](const std::string& path) {
    if (!path.starts_with("containers/") || !std::filesystem::exists(target_ / "t/sub/deep")) return;
    ++looks;
    EXPECT_FALSE(has_list(target_ / "t/sub", access_list));
    EXPECT_EQ(mode_of(target_ / "t/sub") & ~mode_t{0750}, 0u);
    if (std::filesystem::file_size(target_ / "t/sub/file") == 3) return;  // the old one
    EXPECT_EQ(mode_of(target_ / "t/sub/file") & ~mode_t{0640}, 0u);
  };
  restore(true);
  files_->meanwhile = {};
  EXPECT_GT(looks, 0u);
  expect_restored();
}

TEST_F(restored_rights, of_lists_are_stored_and_restored) {
  if (!set_list(source_ / "tree/sub/file", access_list)) GTEST_SKIP() << "the folder has no access control lists";
  ASSERT_TRUE(set_list(source_ / "tree/sub", default_list));
  back_up();
  restore(false);
  EXPECT_TRUE(has_list(target_ / "t/sub/file", access_list));
  EXPECT_TRUE(has_list(target_ / "t/sub", default_list));
  EXPECT_FALSE(has_list(target_ / "t/sub/deep", default_list));
  expect_restored();
}

TEST_F(restored_rights, and_times_of_the_folder_are_given_to_the_target) {
  ASSERT_EQ(::chmod((source_ / "tree").c_str(), 01731), 0);
  const std::timespec times[2] = {{0, UTIME_OMIT}, {1'000'000'000, 7}};
  ASSERT_EQ(::utimensat(AT_FDCWD, (source_ / "tree").c_str(), times, 0), 0);
  back_up();
  for (const bool exists : {false, true}) {
    if (exists) {
      ASSERT_EQ(::chmod((target_ / "t").c_str(), 0700), 0);
    }
    restore(true);
    struct stat facts = {};
    ASSERT_EQ(::stat((target_ / "t").c_str(), &facts), 0);
    EXPECT_EQ(facts.st_mode & 07777, 01731u);
    EXPECT_EQ(facts.st_mtim.tv_sec, 1'000'000'000);
    EXPECT_EQ(facts.st_mtim.tv_nsec, 7);
  }
  // The target that stands for no folder of the snapshot, or for a part of one, keeps its mode.
  for (const bool has_pattern : {false, true}) {
    const std::string other = target_.make_folder(has_pattern ? "part" : "all");
    ASSERT_EQ(::chmod(other.c_str(), 0711), 0);
    store_restore_options options{.path = has_pattern ? source_ / "tree" : "", .target = other};
    if (has_pattern) options.include.push_back(*path_pattern::make("file"));
    ASSERT_TRUE(file_store(files_).restore(id_, options).ok());
    EXPECT_EQ(mode_of(other), 0711u);
  }
}

TEST_F(restored_rights, of_read_only_folders_do_not_stop_their_owner) {
  ASSERT_EQ(::chmod((source_ / "tree/sub").c_str(), 0500), 0);
  back_up();
  restore(false);
  std::filesystem::remove(target_ / "t/sub/fifo");
  for (const mode_t mode : {0500u, 0u}) {
    ASSERT_EQ(::chmod((target_ / "t/sub").c_str(), 0700), 0);
    std::filesystem::remove(target_ / "t/sub/fifo");
    ASSERT_EQ(::chmod((target_ / "t/sub").c_str(), mode), 0);
    for (const auto& each : {target_ / "t", target_ / "t/sub", target_ / "t/sub/file", target_ / "t/sub/deep"}) {
      if (::getuid() == 0) {
        ASSERT_EQ(::lchown(each.c_str(), 65534, 65534), 0);
      }
    }
    {
      const without_privileges nobody;
      if (!nobody.holds()) GTEST_SKIP() << "needs to be another user";
      restore(true);
      EXPECT_TRUE(problems_.empty() || ::getuid() == 0);
    }
    problems_.erase(target_ / "t/sub/deep");  // its owner is another
    for (const auto& [path, why] : problems_) EXPECT_NE(why.find("owner"), std::string::npos) << path << why;
    EXPECT_TRUE(std::filesystem::exists(target_ / "t/sub/fifo"));
    EXPECT_EQ(mode_of(target_ / "t/sub"), 0500u);
  }
}

TEST_F(restored_rights, replace_an_empty_folder_where_a_file_belongs) {
  target_.make_folder("t/sub/file");
  target_.make_folder("t/sub/fifo");
  restore(true);
  expect_restored();
  std::filesystem::remove(target_ / "t/sub/file");
  target_.make_file("t/sub/file/inner", "kept");
  restore(true);
  ASSERT_EQ(problems_.size(), 1u);
  EXPECT_EQ(problems_.begin()->first, target_ / "t/sub/file");
  EXPECT_TRUE(std::filesystem::exists(target_ / "t/sub/file/inner"));
}

/// Sets flags of a file or folder. Returns false if they cannot be set here.
bool set_flags_of(const std::string& path, std::uint32_t flags) {
  const owned_descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  return store::set_flags(file.get(), flags) == 0 && store::flags_of(file.get()) == flags;
}

TEST_F(restored_rights, include_flags_which_are_set_last) {
  source_.make_file("tree/sub/dump", "d");
  source_.make_file("tree/sub/one", "1");
  std::filesystem::create_hard_link(source_ / "tree/sub/one", source_ / "tree/two");
  const auto set_all = [&](const std::string& tree, bool is_set) {
    const auto set = [&](const char* name, std::uint32_t flags) {
      return !std::filesystem::exists(tree + name) || set_flags_of(tree + name, is_set ? flags : 0);
    };
    return set("", 0) && set("/sub/dump", no_dump_flag) && set("/sub/file", append_only_flag) &&
           set("/sub/one", immutable_flag) && set("/sub", immutable_flag | no_dump_flag);
  };
  if (!set_all(source_ / "tree", true)) {
    static_cast<void>(set_all(source_ / "tree", false));
    GTEST_SKIP() << "flags cannot be set here";
  }
  back_up();
  for (const bool replaces : {false, true}) {
    restore(replaces);
    EXPECT_EQ(problems_, problem_map());
    for (const char* const name : {"/sub", "/sub/dump", "/sub/file", "/sub/one", "/two"}) {
      const owned_descriptor wanted(::open((source_ / "tree" + name).c_str(), O_RDONLY | O_CLOEXEC));
      const owned_descriptor got(::open((target_ / "t" + name).c_str(), O_RDONLY | O_CLOEXEC));
      EXPECT_EQ(store::flags_of(got.get()), store::flags_of(wanted.get())) << name;
    }
    EXPECT_EQ(std::filesystem::hard_link_count(target_ / "t/two"), 2u);
  }
  EXPECT_TRUE(set_all(source_ / "tree", false));
  EXPECT_TRUE(set_all(target_ / "t", false));
}

}  // namespace
}  // namespace cutpoint::tests
