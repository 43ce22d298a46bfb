// Tests that a walk reports entries that it cannot read and continues, and that it stops when its caller refuses an
// entry or cancels it.
#include <cerrno>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "tests/host/io/reading.h"
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
  EXPECT_THAT(tree.directories, ElementsAre("tree", "tree/shut", "tree/unlisted"));
  EXPECT_THAT(tree.problems, ElementsAre("tree/shut: cannot be read as a directory: Permission denied",
                                         "tree/unlisted/file: cannot be found: Permission denied"));
  EXPECT_THAT(tree.problem_paths, ElementsAre("tree/shut", "tree/unlisted/file"));
}

TEST(walk_failure, of_what_vanishes_meanwhile_is_a_problem) {
  const temporary_folder folder;
  for (const std::string_view name : {"a", "b", "c/file", "d"}) folder.make_file(name);
  const walked tree = walk_all(folder.path(), folder.path(), {}, [&](const tree_entry& entry) {
    if (entry.kind == file_kind::directory) return status();
    ::unlink((folder / "b").c_str());
    std::filesystem::remove_all(folder / "c");
    return status();
  });
  EXPECT_TRUE(tree.outcome.ok());
  EXPECT_THAT(tree.files, ElementsAre("a", "d"));
  EXPECT_THAT(tree.errors, ElementsAre(ENOENT, ENOENT));
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
  walked walk_until_second(const std::function<status()>& at_second, const cancellation* cancel = nullptr) {
    int file_count = 0;
    const auto at_entry = [&](const tree_entry& entry) {
      const bool is_second = entry.kind != file_kind::directory && ++file_count == 2;
      return is_second ? at_second() : status();
    };
    return walk_all(folder_.path(), folder_.path(), {}, at_entry, cancel);
  }

  temporary_folder folder_;
};

TEST_F(walk_ended, by_a_failed_visit_gives_its_status) {
  const walked tree = walk_until_second([] { return status(status_code::backend_failure, "enough", 7); });
  EXPECT_EQ(tree.outcome.code(), status_code::backend_failure);
  EXPECT_EQ(tree.outcome.message(), "enough");
  EXPECT_EQ(tree.outcome.system_error(), 7);
  EXPECT_EQ(tree.files.size(), 2u);
}

TEST_F(walk_ended, by_a_request_visits_no_further_file) {
  cancellation cancel;
  const auto request = [&] { return cancel.request(), status(); };
  const walked tree = walk_until_second(request, &cancel);
  EXPECT_EQ(tree.outcome.code(), status_code::cancelled);
  EXPECT_EQ(tree.files.size(), 2u);
  const walked nothing = walk_until_second(request, &cancel);
  EXPECT_EQ(nothing.outcome.code(), status_code::cancelled);
  EXPECT_THAT(nothing.files, IsEmpty());
}

// Names that are replaced during a walk lead to no other file: what was walked is what is read.

class walk_replaced : public testing::Test {
 protected:
  walk_replaced() {
    folder_.make_file("tree/sub/file", "what was walked");
    folder_.make_file("secret/file", "secret");
  }

  /// Calls `at_entry` when the walk has yielded the entry called `name`.
  walked walk_and_call(const std::string& name, const std::function<void(const tree_entry&)>& at_entry) {
    const walked tree = walk_all(folder_.path(), folder_ / "tree", {}, [&](const tree_entry& entry) {
      if (entry.path == folder_ / name) at_entry(entry);
      return status();
    });
    EXPECT_TRUE(tree.outcome.ok());
    return tree;
  }
  void move_away(const std::string& name) const {
    ASSERT_EQ(::rename((folder_ / name).c_str(), (folder_ / "moved").c_str()), 0);
  }

  temporary_folder folder_;
};

TEST_F(walk_replaced, files_are_not_opened) {
  const std::function<void()> replacements[] = {
      [&] { folder_.make_link("../../secret/file", "tree/sub/file"); },
      [&] { std::filesystem::create_hard_link(folder_ / "secret/file", folder_ / "tree/sub/file"); },
      [&] { folder_.make_fifo("tree/sub/file"); },
      [&] { folder_.make_folder("tree/sub/file"); },
  };
  for (const auto& replace : replacements) {
    walk_and_call("tree/sub/file", [&](const tree_entry& entry) {
      move_away("tree/sub/file");
      EXPECT_EQ(file_source::open(entry).error().system_error(), ENOENT);
      replace();
      const auto file = file_source::open(entry);
      EXPECT_EQ(file.error().system_error(), ESTALE) << file.error().message();
      EXPECT_THAT(file.error().message(), testing::HasSubstr("was replaced by another file"));
      EXPECT_EQ(read_extended_attributes(entry).error().system_error(), ESTALE);
      std::filesystem::remove(folder_ / "tree/sub/file");
      ASSERT_EQ(::rename((folder_ / "moved").c_str(), entry.path.c_str()), 0);
      auto same = file_source::open(entry);
      ASSERT_TRUE(same.ok()) << same.error().message();
      EXPECT_EQ(read_all(*same), "what was walked");
    });
  }
}

TEST_F(walk_replaced, folders_above_do_not_lead_elsewhere) {
  walk_and_call("tree/sub/file", [&](const tree_entry& entry) {
    move_away("tree/sub");
    folder_.make_link("../secret", "tree/sub");
    auto file = file_source::open(entry);
    ASSERT_TRUE(file.ok()) << file.error().message();
    EXPECT_EQ(read_all(*file), "what was walked");
    EXPECT_TRUE(read_extended_attributes(entry).ok());
  });
}

/// A folder is open when the walk yields it.
TEST_F(walk_replaced, folders_are_those_that_were_yielded) {
  const std::function<void()> replacements[] = {
      [&] { folder_.make_link("../secret", "tree/sub"); },
      [&] { ASSERT_EQ(::rename((folder_ / "secret").c_str(), (folder_ / "tree/sub").c_str()), 0); },
  };
  ASSERT_EQ(::rename((folder_ / "tree/sub/file").c_str(), (folder_ / "tree/sub/walked").c_str()), 0);
  for (const auto& replace : replacements) {
    const walked tree = walk_and_call("tree/sub", [&](const tree_entry&) {
      move_away("tree/sub");
      replace();
    });
    EXPECT_THAT(tree.all, ElementsAre("tree", "tree/sub", "tree/sub/walked"));
    EXPECT_THAT(tree.problems, IsEmpty());
    std::filesystem::remove_all(folder_ / "tree/sub");
    ASSERT_EQ(::rename((folder_ / "moved").c_str(), (folder_ / "tree/sub").c_str()), 0);
  }
}

TEST_F(walk_replaced, files_are_described_again) {
  walk_and_call("tree/sub/file", [&](const tree_entry& entry) {
    move_away("tree/sub/file");
    folder_.make_file("tree/sub/file", "another");
    const auto now = describe_again(entry);
    ASSERT_TRUE(now.ok());
    EXPECT_EQ(now->size, 7u);
    auto file = file_source::open(*now);
    ASSERT_TRUE(file.ok()) << file.error().message();
    EXPECT_EQ(read_all(*file), "another");
  });
}

TEST_F(walk_replaced, given_links_are_followed_unless_the_walk_must_not) {
  folder_.make_link("secret", "link");
  EXPECT_EQ(walk_all("", folder_ / "link").files.size(), 1u);
  const walked itself = walk_all("", folder_ / "link", {.given_link = symlinks::skip});
  EXPECT_THAT(itself.directories, testing::IsEmpty());
  EXPECT_EQ(itself.all.size(), 1u);
}

TEST(walk_entries_flags, are_those_of_the_file_system) {
  const temporary_folder folder;
  const std::string path = folder.make_file("file");
  EXPECT_EQ(describe_file(path, symlinks::skip)->flags, 0u);
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  int flags = 0;
  const bool is_supported = ::ioctl(file, FS_IOC_GETFLAGS, &flags) == 0 && (flags |= FS_NODUMP_FL, true) &&
                            ::ioctl(file, FS_IOC_SETFLAGS, &flags) == 0;
  ::close(file);
  if (!is_supported) GTEST_SKIP() << "no file flags in " << folder.path();
  EXPECT_EQ(describe_file(path, symlinks::skip)->flags, no_dump_flag);
  static_assert(no_dump_flag == FS_NODUMP_FL && immutable_flag == FS_IMMUTABLE_FL && append_only_flag == FS_APPEND_FL);
}

}  // namespace
}  // namespace cutpoint::tests
