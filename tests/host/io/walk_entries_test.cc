// Tests the metadata that the walk yields, which equals that of lstat for every kind of entry, and extended attributes
// and hard links.
#include <cerrno>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "tests/host/io/temporary_folder.h"
#include "tests/host/io/walked.h"

namespace cutpoint::tests {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::map<std::string, tree_entry> entries_of(const std::string& path, const walk_options& options = {}) {
  const walked tree = walk_all("", path, options);
  EXPECT_TRUE(tree.outcome.ok()) << tree.outcome.message();
  EXPECT_THAT(tree.problems, IsEmpty());
  std::map<std::string, tree_entry> entries;
  for (const tree_entry& entry : tree.entries) EXPECT_TRUE(entries.emplace(entry.path, entry).second) << entry.path;
  return entries;
}

void expect_metadata(const tree_entry& entry, const struct stat& facts) {
  EXPECT_EQ(entry.permissions, facts.st_mode & 07777) << entry.path;
  EXPECT_EQ(entry.user_id, facts.st_uid) << entry.path;
  EXPECT_EQ(entry.group_id, facts.st_gid) << entry.path;
  EXPECT_EQ(entry.size, static_cast<std::uint64_t>(facts.st_size)) << entry.path;
  EXPECT_EQ(entry.modified.tv_sec, facts.st_mtim.tv_sec) << entry.path;
  EXPECT_EQ(entry.modified.tv_nsec, facts.st_mtim.tv_nsec) << entry.path;
  EXPECT_EQ(entry.changed.tv_sec, facts.st_ctim.tv_sec) << entry.path;
  EXPECT_EQ(entry.changed.tv_nsec, facts.st_ctim.tv_nsec) << entry.path;
  EXPECT_EQ(entry.link_count, facts.st_nlink) << entry.path;
  EXPECT_EQ(entry.device, facts.st_dev) << entry.path;
  EXPECT_EQ(entry.inode, facts.st_ino) << entry.path;
}

class walk_entries : public testing::Test {
 protected:
  [[nodiscard]] tree_entry entry_at(const std::string& name, symlinks links = symlinks::skip) const {
    tree_entry entry = entries_of(folder_ / "tree", {.links = links}).at(folder_ / name);
    entry.folder = -1;  // the walk has ended: the entry is found by its path
    return entry;
  }

  temporary_folder folder_;
};

TEST_F(walk_entries, have_the_metadata_of_the_file_system) {
  folder_.make_file("tree/file", "12345");
  folder_.make_folder("tree/directory");
  folder_.make_fifo("tree/fifo");
  folder_.make_socket("tree/socket");
  folder_.make_link("some/where", "tree/link");
  ASSERT_EQ(::chmod((folder_ / "tree/file").c_str(), 04751), 0);
  const std::timespec times[] = {{.tv_sec = 5, .tv_nsec = 6}, {.tv_sec = 1'234'567'890, .tv_nsec = 123'456'789}};
  ASSERT_EQ(::utimensat(AT_FDCWD, (folder_ / "tree/file").c_str(), times, 0), 0);
  if (::geteuid() == 0) {
    ASSERT_EQ(::lchown((folder_ / "tree/link").c_str(), 12, 34), 0);
  }
  const std::map<std::string, file_kind> expected = {
      {"tree", file_kind::directory},          {"tree/directory", file_kind::directory},
      {"tree/fifo", file_kind::fifo},          {"tree/file", file_kind::regular_file},
      {"tree/link", file_kind::symbolic_link}, {"tree/socket", file_kind::socket}};
  const auto entries = entries_of(folder_ / "tree");
  ASSERT_EQ(entries.size(), expected.size());
  for (const auto& [name, kind] : expected) {
    const tree_entry& entry = entries.at(folder_ / name);
    struct stat facts = {};
    ASSERT_EQ(::lstat(entry.path.c_str(), &facts), 0);
    EXPECT_EQ(entry.kind, kind) << name;
    EXPECT_EQ(entry.is_given, name == "tree");
    EXPECT_EQ(entry.target, name == "tree/link" ? "some/where" : "");
    expect_metadata(entry, facts);
  }
  EXPECT_EQ(entries.at(folder_ / "tree/file").modified.tv_nsec, 123'456'789);
}

TEST_F(walk_entries, of_links_that_are_followed_are_what_they_lead_to) {
  folder_.make_file("elsewhere", "12345");
  folder_.make_link("../elsewhere", "tree/link");
  const tree_entry entry = entry_at("tree/link", symlinks::follow);
  struct stat facts = {};
  ASSERT_EQ(::stat((folder_ / "elsewhere").c_str(), &facts), 0);
  EXPECT_EQ(entry.kind, file_kind::regular_file);
  EXPECT_EQ(entry.target, "");
  expect_metadata(entry, facts);
}

TEST_F(walk_entries, of_links_have_targets_of_any_length) {
  for (const std::size_t size : {1u, 127u, 128u, 129u, 255u, 256u, 4000u}) {
    const std::string target(size, 't');
    const std::string name = "tree/" + std::to_string(size);
    folder_.make_link(target, name);
    EXPECT_EQ(entry_at(name).target, target);
  }
}

TEST_F(walk_entries, of_devices_have_their_number) {
  EXPECT_EQ(entries_of("/dev/null").at("/dev/null").kind, file_kind::character_device);
  EXPECT_EQ(entries_of("/dev/null").at("/dev/null").device_number, makedev(1, 3));
  folder_.make_file("tree/file");
  EXPECT_EQ(entry_at("tree/file").device_number, 0u);
}

TEST_F(walk_entries, of_a_directory_come_before_those_in_it) {
  folder_.make_file("tree/a/b/file");
  folder_.make_file("tree/a-");
  folder_.make_folder("tree/a.");
  EXPECT_THAT(walk_all(folder_.path(), folder_ / "tree").all,
              ElementsAre("tree", "tree/a", "tree/a/b", "tree/a/b/file", "tree/a-", "tree/a."));
}

class extended_attributes : public walk_entries {
 protected:
  /// Sets an attribute. Skips the test if the file system has no extended attributes.
  void set(const std::string& name, const std::string& attribute, const std::string& value) {
    const std::string path = folder_ / name;
    const int outcome = ::lsetxattr(path.c_str(), attribute.c_str(), value.data(), value.size(), 0);
    if (outcome != 0 && errno == ENOTSUP) GTEST_SKIP() << "no extended attributes in " << folder_.path();
    ASSERT_EQ(outcome, 0) << path;
  }

  /// Returns "NAME=VALUE" for the attributes of users only, since the system may add its own.
  static std::vector<std::string> listed(const tree_entry& entry) {
    const auto attributes = read_extended_attributes(entry);
    if (!attributes) return {attributes.error().message()};
    std::vector<std::string> lines;
    for (const extended_attribute& each : *attributes) {
      if (each.name.starts_with("user.")) lines.push_back(each.name + "=" + each.value);
    }
    return lines;
  }
};

TEST_F(extended_attributes, are_read_with_all_bytes_of_their_values) {
  folder_.make_file("tree/directory/file");
  const std::string binary("\0\xff\n", 3);
  set("tree/directory/file", "user.z", std::string(3000, 'z'));
  if (IsSkipped()) return;
  set("tree/directory/file", "user.a", binary);
  set("tree/directory/file", "user.empty", "");
  set("tree/directory", "user.of_directory", "yes");
  EXPECT_THAT(listed(entry_at("tree/directory/file")),
              ElementsAre("user.a=" + binary, "user.empty=", "user.z=" + std::string(3000, 'z')));
  EXPECT_THAT(listed(entry_at("tree/directory")), ElementsAre("user.of_directory=yes"));
  EXPECT_THAT(listed(entry_at("tree")), IsEmpty());
}

TEST_F(extended_attributes, of_a_link_are_its_own_unless_it_was_followed) {
  folder_.make_file("elsewhere");
  folder_.make_link("../elsewhere", "tree/link");
  set("elsewhere", "user.of_target", "yes");
  if (IsSkipped()) return;
  EXPECT_THAT(listed(entry_at("tree/link")), IsEmpty());
  EXPECT_THAT(listed(entry_at("tree/link", symlinks::follow)), ElementsAre("user.of_target=yes"));
}

TEST_F(extended_attributes, of_what_is_gone_are_an_error) {
  folder_.make_file("tree/file");
  const tree_entry entry = entry_at("tree/file");
  ASSERT_EQ(::unlink(entry.path.c_str()), 0);
  EXPECT_THAT(listed(entry),
              ElementsAre(entry.path + ": cannot be asked for its extended attributes: No such file or directory"));
}

TEST(file_set, knows_a_file_by_each_of_its_names) {
  const temporary_folder folder;
  for (int i = 0; i < 200; ++i) folder.make_file("tree/" + std::to_string(i));
  for (const std::string name : {"0", "199"}) {
    ASSERT_EQ(::link((folder / ("tree/" + name)).c_str(), (folder / ("tree/link_to_" + name)).c_str()), 0);
  }
  file_set files;
  EXPECT_TRUE(files.is_empty());
  std::vector<std::string> repeated;
  for (auto [path, entry] : entries_of(folder / "tree")) {
    entry.folder = -1;  // the walk has ended
    const bool is_known = files.contains(entry);
    EXPECT_NE(files.insert(entry), is_known);
    EXPECT_TRUE(files.contains(entry));
    if (is_known) repeated.push_back(path);
  }
  EXPECT_THAT(repeated, ElementsAre(folder / "tree/link_to_0", folder / "tree/link_to_199"));
  EXPECT_FALSE(files.is_empty());
}

/// As file systems that show others do it: two files have one number.
TEST(file_set, keeps_files_with_equal_numbers_apart) {
  const temporary_folder folder;
  folder.make_file("a");
  folder.make_file("b");
  const auto a = *describe_file(folder / "a", symlinks::skip);
  auto b = *describe_file(folder / "b", symlinks::skip);
  b.inode = a.inode;
  file_set files;
  EXPECT_TRUE(files.insert(a));
  EXPECT_FALSE(files.contains(b));
  EXPECT_TRUE(files.insert(b));
  EXPECT_TRUE(files.contains(a));
}

class hard_link : public testing::Test {
 protected:
  void SetUp() override {
    for (const std::string name : {"a", "b"}) {
      folder_.make_file(name);
      ASSERT_EQ(::link((folder_ / name).c_str(), (folder_ / ("link to " + name)).c_str()), 0);
    }
  }
  /// Describes a file as if it had the numbers and the times of "a".
  [[nodiscard]] tree_entry described(const std::string& name) const {
    tree_entry entry = *describe_file(folder_ / name, symlinks::skip);
    const tree_entry a = *describe_file(folder_ / "a", symlinks::skip);
    entry.inode = a.inode;
    entry.modified = a.modified;
    entry.changed = a.changed;
    return entry;
  }

  temporary_folder folder_;
  hard_links links_;
};

TEST_F(hard_link, has_the_number_of_the_first_name) {
  const auto first = links_.insert(described("a"));
  EXPECT_TRUE(first.is_first);
  const auto second = links_.insert(described("link to a"));
  EXPECT_FALSE(second.is_first);
  EXPECT_EQ(second.file, first.file);
}

TEST_F(hard_link, to_another_file_with_equal_numbers_times_and_size_has_another_number) {
  const auto first = links_.insert(described("a"));
  const auto other = links_.insert(described("b"));
  EXPECT_TRUE(other.is_first);
  EXPECT_NE(other.file, first.file);
  EXPECT_EQ(std::pair(first.rank, other.rank), std::pair(std::size_t{0}, std::size_t{1}));
  EXPECT_EQ(links_.insert(described("link to b")).file, other.file);
  EXPECT_EQ(links_.insert(described("link to a")).file, first.file);
}

/// Files of the kernel have no handles.
TEST_F(hard_link, without_file_handles_is_one_to_a_file_with_equal_content) {
  const auto first_as = [](const std::string& path, const tree_entry& later) {
    tree_entry first = later;
    first.path = path;
    return first;
  };
  tree_entry later = *describe_file("/proc/self/comm", symlinks::skip);
  later.size = 1;  // so that the content counts
  later.link_count = 2;
  const auto same = links_.insert(first_as("/proc/thread-self/comm", later));
  EXPECT_EQ(links_.insert(later).file, same.file);
  hard_links others;
  const auto other = others.insert(first_as("/proc/version", later));
  EXPECT_NE(others.insert(later).file, other.file);
}

TEST(file_set, keeps_file_systems_apart) {
  tree_entry one;
  one.device = 1;
  tree_entry other;
  other.device = 2;
  file_set files;
  EXPECT_TRUE(files.insert(one));
  EXPECT_FALSE(files.contains(other));
  EXPECT_TRUE(files.insert(other));
}

// Followed links lead into folders, out of them or nowhere, but never in a circle.

class walk_links : public testing::Test {
 protected:
  walked walk_tree(symlinks links = symlinks::follow) {
    return walk_all(folder_.path(), folder_ / "tree", {.links = links});
  }

  /// Expects one problem, ELOOP, for each link to a folder that the walk is in.
  void expect_loops(const std::vector<std::string>& files, const std::vector<std::string>& problems) {
    const walked tree = walk_tree();
    EXPECT_TRUE(tree.outcome.ok()) << tree.outcome.message();
    EXPECT_EQ(tree.files, files);
    EXPECT_EQ(tree.problems, problems);
    EXPECT_EQ(tree.errors, std::vector<int>(problems.size(), ELOOP));
  }

  temporary_folder folder_;
};

TEST_F(walk_links, are_followed_to_files_and_folders_and_to_nowhere_are_problems) {
  folder_.make_file("elsewhere/a");
  folder_.make_link("nowhere", "tree/0");
  folder_.make_link("../elsewhere/a", "tree/1");
  folder_.make_link("../elsewhere", "tree/2");
  folder_.make_link("2", "tree/3");
  const walked tree = walk_tree();
  EXPECT_TRUE(tree.outcome.ok());
  EXPECT_THAT(tree.files, ElementsAre("tree/1", "tree/2/a", "tree/3/a"));
  EXPECT_THAT(tree.problems, ElementsAre("tree/0: cannot be found: No such file or directory"));
  EXPECT_THAT(tree.errors, ElementsAre(ENOENT));
  EXPECT_THAT(walk_tree(symlinks::skip).files, IsEmpty());
}

TEST_F(walk_links, that_are_given_are_followed_always) {
  folder_.make_file("elsewhere/a");
  folder_.make_link("elsewhere", "tree");
  EXPECT_THAT(walk_tree(symlinks::skip).files, ElementsAre("tree/a"));
}

TEST_F(walk_links, to_their_own_folder_or_one_above_are_loops) {
  folder_.make_link("../..", "tree/a/b/up");
  folder_.make_link(folder_.path(), "tree/a/top");
  folder_.make_file("tree/a/z");
  folder_.make_link(".", "tree/here");
  // The folder above the given one is not an ancestor in the walk. It is entered once, and then the tree is found
  // again.
  expect_loops({"tree/a/z"},
               {"tree/a/b/up: directory loop: it is tree again", "tree/a/top/tree: directory loop: it is tree again",
                "tree/here: directory loop: it is tree again"});
}

TEST_F(walk_links, to_each_other_are_loops) {
  folder_.make_link("../b", "tree/a/b");
  folder_.make_link("../a", "tree/b/a");
  folder_.make_file("tree/a/z");
  folder_.make_file("tree/b/z");
  expect_loops({"tree/a/b/z", "tree/a/z", "tree/b/a/z", "tree/b/z"},
               {"tree/a/b/a: directory loop: it is tree/a again", "tree/b/a/b: directory loop: it is tree/b again"});
}

TEST_F(walk_links, to_themselves_are_loops) {
  folder_.make_link("self", "tree/self");
  folder_.make_link("pong", "tree/ping");
  folder_.make_link("ping", "tree/pong");
  const std::string loop = ": cannot be found: Too many levels of symbolic links";
  expect_loops({}, {"tree/ping" + loop, "tree/pong" + loop, "tree/self" + loop});
}

}  // namespace
}  // namespace cutpoint::tests
