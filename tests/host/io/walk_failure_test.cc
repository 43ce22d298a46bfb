// Tests that a walk reports entries that it cannot read and continues, and that it stops when its caller refuses an
// entry or cancels it.
#include <cerrno>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/host/io/temporary_folder.h"
#include "tests/host/io/walked.h"

namespace cutpoint::tests {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(walk_failure, of_a_missing_path_is_a_problem) {
  const temporary_folder folder;
  folder.make_file("a");
  const walked missing = walk_all(folder.path(), folder / "missing");
  EXPECT_TRUE(missing.outcome.ok());
  EXPECT_THAT(missing.problems, ElementsAre("missing: cannot be found: No such file or directory"));
  EXPECT_THAT(missing.problem_paths, ElementsAre("missing"));
  EXPECT_THAT(walk_all(folder.path(), folder / "a/b").errors, ElementsAre(ENOTDIR));
  EXPECT_THAT(walk_all(folder.path(), "").errors, ElementsAre(ENOENT));
}

TEST(walk_failure, of_what_may_not_be_seen_is_a_problem_and_the_rest_is_visited) {
  const temporary_folder folder;
  for (const std::string_view name : {"tree/a", "tree/shut/file", "tree/unlisted/file", "tree/z"})
    folder.make_file(name);
  ASSERT_EQ(::chmod((folder / "tree/shut").c_str(), 0), 0);
  ASSERT_EQ(::chmod((folder / "tree/unlisted").c_str(), 0444), 0);  // its names can be read, but not their metadata
  const without_privileges now;
  if (!now.holds()) GTEST_SKIP() << "root cannot become another user here";
  const walked tree = walk_all(folder.path(), folder / "tree");
  EXPECT_TRUE(tree.outcome.ok());
  EXPECT_THAT(tree.files, ElementsAre("tree/a", "tree/z"));
  EXPECT_THAT(tree.problems, ElementsAre("tree/shut: cannot be read as a directory: Permission denied",
                                         "tree/unlisted/file: cannot be found: Permission denied"));
  EXPECT_THAT(tree.problem_paths, ElementsAre("tree/shut", "tree/unlisted/file"));
}

TEST(walk_failure, of_what_vanishes_meanwhile_is_a_problem) {
  const temporary_folder folder;
  for (const std::string_view name : {"a", "b", "c/file", "d"}) folder.make_file(name);
  std::vector<std::string> files;
  std::vector<int> errors;
  const status outcome = walk(folder.path(), {},
                              {.entry = [&](const tree_entry& entry) -> status {
                                 if (entry.kind == file_kind::directory) return {};
                                 files.push_back(entry.path);
                                 ::unlink((folder / "b").c_str());
                                 ::unlink((folder / "c/file").c_str());
                                 ::rmdir((folder / "c").c_str());
                                 return {};
                               },
                               .problem = [&](const std::string&, const status& why) -> status {
                                 errors.push_back(why.system_error());
                                 return {};
                               }});
  EXPECT_TRUE(outcome.ok());
  EXPECT_THAT(files, ElementsAre(folder / "a", folder / "d"));
  EXPECT_THAT(errors, ElementsAre(ENOENT, ENOENT));
}

TEST(walk_failure, of_a_callback_for_problems_ends_the_walk) {
  const temporary_folder folder;
  for (const std::string_view name : {"a", "b", "c"}) folder.make_link("nowhere", name);
  for (const std::string_view name : {"", "/gone"}) {
    int problem_count = 0;
    const status outcome = walk(folder.path() + std::string(name), {.links = symlinks::follow},
                                {.entry = [](const tree_entry&) { return status(); },
                                 .problem = [&](const std::string&, const status&) -> status {
                                   ++problem_count;
                                   return {status_code::backend_failure, "too much"};
                                 }});
    EXPECT_EQ(outcome.message(), "too much");
    EXPECT_EQ(problem_count, 1);
  }
}

/// A tree of files in folders, some of which are visited before the walk ends.
class walk_ended : public testing::Test {
 protected:
  walk_ended() {
    for (const std::string_view name : {"a/1", "a/2", "b/1", "c"}) folder_.make_file(name);
  }

  /// Calls `at_second` at the second file, and returns its status to the walk.
  template <class AtSecond>
  status walk_until_second(AtSecond at_second, const cancellation* cancel = nullptr) {
    return walk(folder_.path(), {},
                {.entry = [&](const tree_entry& entry) -> status {
                   if (entry.kind == file_kind::directory) return {};
                   return ++file_count_ == 2 ? at_second() : status();
                 },
                 .problem = [](const std::string&, const status& why) -> status {
                   ADD_FAILURE() << why.message();
                   return {};
                 }},
                cancel);
  }

  temporary_folder folder_;
  int file_count_ = 0;
};

TEST_F(walk_ended, by_a_failed_visit_gives_its_status) {
  const status outcome = walk_until_second([] { return status(status_code::backend_failure, "enough", 7); });
  EXPECT_EQ(outcome.code(), status_code::backend_failure);
  EXPECT_EQ(outcome.message(), "enough");
  EXPECT_EQ(outcome.system_error(), 7);
  EXPECT_EQ(file_count_, 2);
}

TEST_F(walk_ended, by_a_request_visits_no_further_file) {
  cancellation cancel;
  const status outcome = walk_until_second(
      [&] {
        cancel.request();
        return status();
      },
      &cancel);
  EXPECT_EQ(outcome.code(), status_code::cancelled);
  EXPECT_EQ(file_count_, 2);
}

TEST_F(walk_ended, before_it_begins_visits_nothing) {
  cancellation cancel;
  cancel.request();
  EXPECT_EQ(walk_until_second([] { return status(); }, &cancel).code(), status_code::cancelled);
  EXPECT_EQ(file_count_, 0);
}

TEST_F(walk_ended, by_nothing_visits_all) {
  const cancellation never;
  EXPECT_TRUE(walk_until_second([] { return status(); }, &never).ok());
  EXPECT_EQ(file_count_, 4);
}

}  // namespace
}  // namespace cutpoint::tests
