// A store works in a storage of the caller, which is written against the installed headers alone.
#include <algorithm>
#include <cerrno>
#include <memory>

#include <cutpoint/store.h>
#include <cutpoint/store_push.h>
#include <gtest/gtest.h>

#include "examples/storage/memory_storage.h"
#include "tests/host/io/temporary_folder.h"
#include "tests/host/support/value_of.h"
#include "tests/store/support/stored_files.h"

namespace cutpoint::tests {
namespace {

using examples::memory_storage;
using examples::object_map;

class own_storage : public testing::TestWithParam<store_secret::kind> {
 protected:
  [[nodiscard]] store_storage where() const {
    return {[shared = shared_](const std::string& writer_id, std::size_t) {
              EXPECT_FALSE(writer_id.empty());
              return std::make_unique<memory_storage>(shared);
            },
            "memory"};
  }
  [[nodiscard]] static store_secret secret() {
    return GetParam() == store_secret::kind::none ? store_secret() : store_secret{GetParam(), "secret"};
  }
  [[nodiscard]] result<backup_store> open() const { return backup_store::open(where(), secret()); }

  const temporary_folder folder_;
  const std::shared_ptr<object_map> shared_ = std::make_shared<object_map>();
  engine threads_ = *engine::make({.threads = 2});
};

TEST_P(own_storage, has_everything_that_a_folder_has) {
  EXPECT_EQ(open().error().code(), status_code::unavailable);
  EXPECT_EQ(open().error().message(), "memory: this is not a store");
  ASSERT_TRUE(backup_store::create(where(), {.cuts = {}, .container_bytes = 64 * KiB}, secret()).ok());
  EXPECT_EQ(backup_store::create(where(), {}, secret()).message(), "memory: a store is there already");
  auto opened_store = value_of(open());

  std::string text;
  for (int i = 0; i < 100'000; ++i) text += std::to_string(i * 7919);
  folder_.make_file("tree/file", text);
  const auto first = value_of(opened_store.back_up(threads_, {.paths = {folder_ / "tree"}, .host = "h"}));
  auto second_store = value_of(open());  // two use the objects at once
  auto session = value_of(push_session::begin(second_store, threads_));
  auto stream = value_of(session.begin_stream("/pushed"));
  ASSERT_TRUE(stream.write({reinterpret_cast<const std::uint8_t*>(text.data()), text.size() / 2}).ok());
  ASSERT_TRUE(opened_store.remove_snapshot(first.id).ok());
  ASSERT_TRUE(stream.end().ok());
  const auto pushed = value_of(session.commit());

  ASSERT_TRUE(opened_store.prune({.most_unused = 0}).ok());
  ASSERT_TRUE(opened_store.prune({.most_unused = 0}).ok());
  expect_clean(opened_store);
  ASSERT_EQ(opened_store.snapshots()->size(), 1u);
  ASSERT_TRUE(opened_store.restore(pushed.id, {.target = folder_ / "target"}).ok());
  EXPECT_TRUE(read_file(opened_store, pushed.id, "/pushed") == text.substr(0, text.size() / 2));
  EXPECT_TRUE(opened_store.sessions()->empty());
  const auto left_over = std::ranges::count_if(
      shared_->objects, [](const auto& each) { return each.first.kind == store::object_kind::temporary; });
  EXPECT_EQ(left_over, 0);
}

TEST_P(own_storage, without_times_tells_no_times_of_snapshots) {
  ASSERT_TRUE(backup_store::create(where(), {}, secret()).ok());
  auto opened_store = value_of(open());
  EXPECT_TRUE(opened_store.put_times()->empty());
  folder_.make_file("file", "text");
  ASSERT_TRUE(opened_store.back_up(threads_, {.paths = {folder_ / "file"}, .host = "h"}).ok());
  const status unknown = error_of(opened_store.put_times());
  EXPECT_EQ(unknown.code(), status_code::unavailable);
  EXPECT_EQ(
      unknown.message(),
      "memory: it is not known here when snapshots were put, so the times that they have cannot be compared with that");
}

TEST_P(own_storage, is_read_though_the_index_is_merged_meanwhile) {
  ASSERT_TRUE(backup_store::create(where(), {.cuts = {}, .container_bytes = 64 * KiB}, secret()).ok());
  std::vector<backup_store> readers;  // some have shards that later backups merge, and that cannot be read then
  std::vector<std::string> ids;
  for (int i = 0; i < 5; ++i) {
    folder_.make_file("tree/file" + std::to_string(i), std::to_string(i) + std::string(50'000, 'x'));
    ids.push_back(value_of(open()->back_up(threads_, {.paths = {folder_ / "tree"}, .host = "h"})).id);
    readers.push_back(*open());
  }
  for (std::size_t i = 0; i < readers.size(); ++i) {
    const auto restored = value_of(readers[i].restore(ids[i], {.target = folder_ / ("target" + std::to_string(i))}));
    EXPECT_EQ(restored.problems, 0u);
  }
}

TEST_P(own_storage, a_failure_commits_nothing_and_is_named) {
  ASSERT_TRUE(backup_store::create(where(), {.cuts = {}, .container_bytes = 64 * KiB}, secret()).ok());
  folder_.make_file("tree/file", std::string(300'000, 'x') + std::string(1'000, 'y'));
  int failures = 0;
  for (std::size_t puts = 0;; ++puts) {
    auto opened_store = value_of(open());
    shared_->puts_until_full = puts;
    const auto snapshot = opened_store.back_up(threads_, {.paths = {folder_ / "tree"}, .host = "h"});
    shared_->puts_until_full = SIZE_MAX;
    if (snapshot.ok()) break;
    ++failures;
    EXPECT_EQ(snapshot.error().code(), status_code::io_error);
    EXPECT_EQ(snapshot.error().system_error(), ENOSPC);
    EXPECT_TRUE(snapshot.error().message().starts_with("memory: ")) << snapshot.error().message();
    EXPECT_TRUE(open()->snapshots()->empty());
  }
  EXPECT_GE(failures, 3) << "the lease, a container, the snapshot, the log";
  auto opened_store = value_of(open());
  EXPECT_EQ(opened_store.snapshots()->size(), 1u);
  expect_clean(opened_store);
}

INSTANTIATE_TEST_SUITE_P(with, own_storage, testing::Values(store_secret::kind::none, store_secret::kind::password));

}  // namespace
}  // namespace cutpoint::tests
