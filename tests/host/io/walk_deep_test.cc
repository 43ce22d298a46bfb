// Tests that trees deeper than PATH_MAX are walked and read with few open descriptors.
#include <cerrno>
#include <climits>

#include <cutpoint/file_reader.h>
#include <cutpoint/rechunk.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "tests/host/io/reading.h"
#include "tests/host/io/walked.h"

namespace cutpoint::tests {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// A chain of directories. Each contains a file before and a file after the next directory.
class walk_deep : public testing::Test {
 protected:
  static constexpr std::size_t depth = 120;

  void SetUp() override {
    int directory = ::open(folder_.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    ASSERT_GE(directory, 0);
    std::string above = folder_.path();
    std::vector<std::string> after;
    for (std::size_t i = 0; i < depth; ++i) {
      for (const char* name : {"a", "z"}) {
        const int file = ::openat(directory, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
        ASSERT_GE(file, 0);
        const std::string path = above + '/' + name;
        ASSERT_EQ(::write(file, path.data(), path.size()), static_cast<ssize_t>(path.size()));
        has_attributes_ = ::fsetxattr(file, "user.name", name, 1, 0) == 0;
        ::close(file);
      }
      files_.push_back(above + "/a");
      after.push_back(above + "/z");
      ASSERT_EQ(::mkdirat(directory, name_.c_str(), 0777), 0);
      const int below = ::openat(directory, name_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
      ASSERT_GE(below, 0);
      ::close(std::exchange(directory, below));
      above += '/' + name_;
    }
    ::close(directory);
    files_.insert(files_.end(), after.rbegin(), after.rend());
    ASSERT_GT(files_[depth - 1].size(), std::size_t{2} * PATH_MAX);
  }

  const std::string name_ = std::string(90, 'd');
  const temporary_folder folder_;
  std::vector<std::string> files_;  ///< in the order of the walk
  bool has_attributes_ = false;
};

TEST_F(walk_deep, visits_all_with_few_descriptors) {
  const std::size_t count_before = open_descriptor_count();
  std::size_t most = 0;
  const walked tree = walk_all("", folder_.path(), {}, [&](const tree_entry&) {
    most = std::max(most, open_descriptor_count());
    return status();
  });
  EXPECT_TRUE(tree.outcome.ok());
  EXPECT_EQ(tree.files, files_);
  EXPECT_GT(most, count_before);
  EXPECT_LE(most, count_before + 16);
}

TEST_F(walk_deep, gives_paths_that_can_be_read_in_every_way) {
  auto ahead = *file_reader::make();
  for (const std::string& path : files_) {
    EXPECT_EQ(content_of(path), path);
    auto anywhere = file_random_access::open(path);
    ASSERT_TRUE(anywhere.ok()) << anywhere.error().message();
    std::vector<std::uint8_t> room(path.size());
    EXPECT_EQ(*anywhere->read_at(0, room), path.size());
    EXPECT_EQ(std::string(room.begin(), room.end()), path);
    ahead.add(path);
    auto next = ahead.next();
    ASSERT_TRUE(next.ok()) << next.error().message();
    EXPECT_EQ(read_all(**next), path);
  }
}

TEST_F(walk_deep, begins_at_deep_paths_too) {
  const std::string& deepest = files_[depth - 1];
  const std::string directory = deepest.substr(0, deepest.size() - 2);
  EXPECT_THAT(walk_all("", deepest).files, ElementsAre(deepest));
  EXPECT_THAT(walk_all("", directory).files, ElementsAre(deepest, files_[depth]));
  EXPECT_THAT(walk_all("", directory + "/missing").errors, ElementsAre(ENOENT));
  EXPECT_THAT(walk_all("", files_[0] + deepest).errors, ElementsAre(ENOTDIR));
  EXPECT_THAT(walk_all("", std::string(PATH_MAX, 'n')).errors, ElementsAre(ENAMETOOLONG));
}

TEST_F(walk_deep, reads_extended_attributes_there) {
  const std::string& deepest = files_[depth - 1];
  if (!has_attributes_) GTEST_SKIP() << "no extended attributes in " << folder_.path();
  const auto entry = describe_file(deepest, symlinks::skip);
  ASSERT_TRUE(entry.ok());
  const auto attributes = read_extended_attributes(*entry);
  ASSERT_TRUE(attributes.ok()) << attributes.error().message();
  const bool is_found = std::any_of(attributes->begin(), attributes->end(), [](const extended_attribute& each) {
    return each.name == "user.name" && each.value == "a";
  });
  EXPECT_TRUE(is_found);
}

TEST_F(walk_deep, tells_of_a_directory_that_was_moved_while_its_descriptor_was_closed) {
  const std::string first = folder_ / name_;
  const std::string second = first + '/' + name_;
  const walked tree = walk_all("", folder_.path(), {}, [&](const tree_entry& entry) {
    if (entry.path == files_[depth - 1]) {
      EXPECT_EQ(::rename(second.c_str(), (folder_ / "moved").c_str()), 0);
      EXPECT_EQ(::mkdir(second.c_str(), 0777), 0);
    }
    return status();
  });
  EXPECT_TRUE(tree.outcome.ok());
  EXPECT_THAT(tree.errors, testing::Each(testing::AnyOf(ENOENT, ESTALE)));
  // The files after the next directory are missed only in directories whose descriptor was closed.
  EXPECT_EQ(tree.files.size() + tree.problems.size(), files_.size());
  EXPECT_EQ(tree.problems.size(), depth - 16 - 1);
  EXPECT_EQ(tree.problem_paths.back(), second);
  EXPECT_EQ(tree.files.back(), folder_ / "z");
}

// The walk visits every entry once, in the byte order of names, and a directory before its entries.

using names = std::vector<std::string>;

TEST(walk, visits_a_tree_in_the_byte_order_of_names) {
  const temporary_folder folder;
  const names expected = {"\x01",  "\n", " ",  "-",  ".hidden", "10", "9",    "A",        "a/b/c",
                          "a/b.c", "a-", "a.", "aa", "b",       "~",  "\x7f", "\xc3\xa9", "\xff"};
  names reversed = expected;
  std::reverse(reversed.begin(), reversed.end());
  for (const std::string& name : reversed) folder.make_file("tree/" + name);
  for (const std::string_view root : {"tree", "tree/"}) {
    const walked tree = walk_all(folder / "tree", folder / root);
    EXPECT_TRUE(tree.outcome.ok());
    EXPECT_EQ(tree.files, expected);
    EXPECT_THAT(tree.problems, IsEmpty());
    EXPECT_THAT(tree.others, IsEmpty());
  }
}

TEST(walk, gives_paths_that_begin_as_the_given_one) {
  const temporary_folder folder;
  folder.make_file("tree/a");
  EXPECT_THAT(walk_all("", folder / "tree").files, ElementsAre(folder / "tree/a"));
  EXPECT_THAT(walk_all("", folder / "tree/").files, ElementsAre(folder / "tree/a"));
  EXPECT_THAT(walk_all("", folder / "./tree//").files, ElementsAre(folder / "./tree//a"));
}

TEST(walk, visits_a_given_file_of_any_kind) {
  const temporary_folder folder;
  for (const std::string& path : {folder.make_file("a"), folder.make_fifo("fifo"), folder.make_socket("socket"),
                                  folder.make_link("a", "link"), std::string("/dev/null")}) {
    EXPECT_THAT(walk_all("", path).files, ElementsAre(path));
  }
}

TEST(walk, tells_every_kind_that_is_no_stream) {
  const temporary_folder folder;
  folder.make_file("tree/a");
  folder.make_fifo("tree/b");
  folder.make_socket("tree/c");
  folder.make_link("a", "tree/d");
  folder.make_link("nowhere", "tree/e");
  folder.make_link(".", "tree/f");
  const walked tree = walk_all(folder.path(), folder / "tree");
  EXPECT_TRUE(tree.outcome.ok());
  EXPECT_THAT(tree.files, ElementsAre("tree/a"));
  EXPECT_THAT(tree.others, ElementsAre("tree/b: FIFO", "tree/c: socket", "tree/d: symbolic link",
                                       "tree/e: symbolic link", "tree/f: symbolic link"));
  EXPECT_THAT(tree.problems, IsEmpty());
}

TEST(walk, reads_no_devices_behind_followed_links) {
  const temporary_folder folder;
  folder.make_link("/dev/zero", "tree/zero");
  const walked tree = walk_all(folder.path(), folder / "tree", {.links = symlinks::follow});
  EXPECT_THAT(tree.files, IsEmpty());
  EXPECT_THAT(tree.others, ElementsAre("tree/zero: character device"));
}

}  // namespace
}  // namespace cutpoint::tests
