// Tests that the walk visits every entry once, in the byte order of names, and a directory before its entries.
#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/host/io/temporary_folder.h"
#include "tests/host/io/walked.h"

namespace cutpoint::tests {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

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

TEST(walk, of_an_empty_tree_visits_nothing) {
  const temporary_folder folder;
  folder.make_folder("tree/a/b/c");
  folder.make_folder("tree/z");
  const walked tree = walk_all(folder.path(), folder / "tree");
  EXPECT_TRUE(tree.outcome.ok());
  EXPECT_THAT(tree.files, IsEmpty());
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

TEST(walk, goes_deep) {
  const temporary_folder folder;
  std::string deep;
  for (int i = 0; i < 500; ++i) deep += "d/";
  folder.make_file(deep + "file");
  const walked tree = walk_all(folder.path(), folder / "d");
  EXPECT_THAT(tree.files, ElementsAre(deep + "file"));
  EXPECT_THAT(tree.problems, IsEmpty());
}

}  // namespace
}  // namespace cutpoint::tests
