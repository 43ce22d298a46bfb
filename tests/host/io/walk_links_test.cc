// Tests that followed links lead into folders, out of them or nowhere, but never in a circle.
#include <cerrno>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/host/io/temporary_folder.h"
#include "tests/host/io/walked.h"

namespace cutpoint::tests {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

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

TEST_F(walk_links, are_followed_to_files_and_folders) {
  folder_.make_file("elsewhere/a");
  folder_.make_link("../elsewhere/a", "tree/1");
  folder_.make_link("../elsewhere", "tree/2");
  folder_.make_link("2", "tree/3");
  const walked tree = walk_tree();
  EXPECT_THAT(tree.files, ElementsAre("tree/1", "tree/2/a", "tree/3/a"));
  EXPECT_THAT(tree.problems, IsEmpty());
  EXPECT_THAT(walk_tree(symlinks::skip).files, IsEmpty());
}

TEST_F(walk_links, that_are_given_are_followed_always) {
  folder_.make_file("elsewhere/a");
  folder_.make_link("elsewhere", "tree");
  EXPECT_THAT(walk_tree(symlinks::skip).files, ElementsAre("tree/a"));
}

TEST_F(walk_links, to_nowhere_are_problems_and_the_walk_goes_on) {
  folder_.make_link("nowhere", "tree/a");
  folder_.make_file("tree/b");
  const walked tree = walk_tree();
  EXPECT_TRUE(tree.outcome.ok());
  EXPECT_THAT(tree.files, ElementsAre("tree/b"));
  EXPECT_THAT(tree.problems, ElementsAre("tree/a: cannot be found: No such file or directory"));
  EXPECT_THAT(tree.errors, ElementsAre(ENOENT));
}

TEST_F(walk_links, to_their_own_folder_are_loops) {
  folder_.make_link(".", "tree/here");
  folder_.make_file("tree/z");
  expect_loops({"tree/z"}, {"tree/here: directory loop: it is tree again"});
}

TEST_F(walk_links, to_a_folder_above_are_loops) {
  folder_.make_link("../..", "tree/a/b/up");
  folder_.make_link(folder_.path(), "tree/a/top");
  folder_.make_file("tree/a/z");
  // The folder above the given one is not an ancestor in the walk. It is entered once, and then the tree is found
  // again.
  expect_loops({"tree/a/z"},
               {"tree/a/b/up: directory loop: it is tree again", "tree/a/top/tree: directory loop: it is tree again"});
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

TEST_F(walk_links, that_lead_twice_to_one_folder_are_no_loops) {
  folder_.make_file("tree/a/file");
  folder_.make_link("a", "tree/b");
  folder_.make_link("../a", "tree/c/a");
  const walked tree = walk_tree();
  EXPECT_THAT(tree.files, ElementsAre("tree/a/file", "tree/b/file", "tree/c/a/file"));
  EXPECT_THAT(tree.problems, IsEmpty());
}

}  // namespace
}  // namespace cutpoint::tests
