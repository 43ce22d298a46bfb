// A tree that was backed up, and is restored.
#pragma once

#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "tests/host/io/temporary_folder.h"
#include "tests/store/support/file_store.h"

namespace cutpoint::tests {

/// The tree is `source_ / "tree"`, and its restored copy `target_ / "t"`.
class restored_tree : public testing::Test {
 protected:
  void back_up() {
    const auto done = file_store(files_).backup(source_ / "tree");
    ASSERT_TRUE(done.ok());
    id_ = done->id;
  }
  void expect_restored() {
    EXPECT_EQ(problems_, problem_map());
    EXPECT_EQ(facts_of(target_ / "t"), facts_of(source_ / "tree"));
  }

  const temporary_folder source_;
  const temporary_folder target_;
  std::shared_ptr<volatile_file_system> files_ = make_file_store();
  std::string id_;  ///< of the snapshot
  problem_map problems_;
};

}  // namespace cutpoint::tests
