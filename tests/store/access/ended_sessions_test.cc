// Containers that no shard names lie below sessions that have leases, so that few of them are ever listed.
#include "store/access/ended_sessions.h"

#include <cerrno>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "store/access/leased_session.h"
#include "store/check/check.h"
#include "store/format/failure.h"
#include "store/objects/lease.h"
#include "store/prune/prune.h"
#include "store/repair/repair.h"
#include "store/report/store_report.h"
#include "tests/store/support/made_store.h"
#include "tests/store/support/small_store.h"
#include "tests/store/support/whole_session.h"

namespace cutpoint::tests {
namespace {

using store::object_kind;
using testing::Contains;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

/// Returns the containers that no shard names.
std::vector<std::string> unnamed(const made_store& disk_store) {
  auto ids = names(disk_store, object_kind::container);
  disk_store.open()->shards().leave_unnamed(ids);
  return ids;
}

/// Puts about `count` containers of a session, of which no shard knows.
void put_containers(store::leased_session& session, std::uint64_t count) {
  auto records = *session.open_records();
  for (std::uint64_t i = 0; i <= count; ++i) {
    const std::vector<std::uint8_t> bytes(60'000, static_cast<std::uint8_t>(i));
    const auto size = static_cast<std::uint32_t>(bytes.size());
    ASSERT_TRUE(
        records.append({store::record_kind::chunk, store::record_codec::none, size, size, digest_of(bytes)}, bytes)
            .ok());
  }
  ASSERT_TRUE(session.objects().sync().ok());
}

/// Leaves a session as a process does that was killed. Returns its id.
std::string abandon_session(const made_store& disk_store) {
  const auto opened_store = disk_store.open();
  auto session = *store::leased_session::begin(*opened_store);
  put_containers(*session, 3);
  disk_store.files->stop_at(0);
  const std::string name = session->name();
  session.reset();
  disk_store.files->stop_at(volatile_file_system::never);
  // The process runs still, so the lease is replaced by one that has expired.
  const auto objects = disk_store.open_storage("x");
  for (const std::string& each : names(disk_store, object_kind::lease)) {
    EXPECT_TRUE(objects->remove({object_kind::lease, each}).ok());
  }
  const store::lease expired{.time = 1, .duration = 1, .epoch = 0, .process = {}, .owner = "dead"};
  EXPECT_TRUE(store::put_lease(*objects, name + ".00000009", expired, {}).ok());
  return name;
}

std::uint64_t problems_of(const made_store& disk_store) {
  const auto opened_store = disk_store.open();
  return store::check_store(opened_store->reading(), {})->object_problems;
}

TEST(ended_sessions, leave_nothing_unnamed) {
  const made_store disk_store;
  const auto opened_store = disk_store.open();
  auto session = *store::leased_session::begin(*opened_store);
  put_containers(*session, 3);
  EXPECT_THAT(unnamed(disk_store), SizeIs(3));
  session.reset();
  EXPECT_THAT(names(disk_store, object_kind::container), SizeIs(3));
  EXPECT_THAT(unnamed(disk_store), IsEmpty());
  EXPECT_THAT(names(disk_store, object_kind::lease), IsEmpty());
}

/// A disk that is full for shards.
class disk_without_room final : public store::file_system {
 public:
  explicit disk_without_room(std::shared_ptr<volatile_file_system> files) : files_(std::move(files)) {}

  bool has_room = true;

  result<std::unique_ptr<store::open_file>> create(const std::string& path) override { return files_->create(path); }
  result<std::unique_ptr<store::open_file>> open(const std::string& path) override { return files_->open(path); }
  status rename(const std::string& old_path, const std::string& new_path) override {
    if (!has_room && new_path.starts_with("shards/")) return {status_code::io_error, "full", ENOSPC};
    return files_->rename(old_path, new_path);
  }
  status remove(const std::string& path) override { return files_->remove(path); }
  status make_folder(const std::string& path) override { return files_->make_folder(path); }
  status remove_folder(const std::string& path) override { return files_->remove_folder(path); }
  status sync_folder(const std::string& path) override { return files_->sync_folder(path); }
  result<std::uint64_t> free_bytes() override { return files_->free_bytes(); }
  result<std::vector<std::string>> list(const std::string& path) override { return files_->list(path); }

 private:
  std::shared_ptr<volatile_file_system> files_;
};

std::unique_ptr<store::open_store> open_store_on(const std::shared_ptr<disk_without_room>& disk) {
  return *store::open_store::open(
      [disk](const std::string& writer, std::size_t) {
        return store::open_directory_storage(disk, {.writer_id = writer, .pending_objects = 0});
      },
      {});
}

TEST(ended_sessions, remove_what_there_is_no_room_to_name) {
  const made_store disk_store;
  const auto disk = std::make_shared<disk_without_room>(disk_store.files);
  const auto opened_store = open_store_on(disk);
  auto session = *store::leased_session::begin(*opened_store);
  put_containers(*session, 3);
  disk->has_room = false;
  session.reset();
  EXPECT_THAT(names(disk_store, object_kind::container), IsEmpty());
  EXPECT_THAT(names(disk_store, object_kind::lease), IsEmpty());

  // What a dead session has stored stays, and its lease with it. Sessions and prunes do not wait for that.
  const std::string dead = abandon_session(disk_store);
  EXPECT_TRUE(store::leased_session::begin(*opened_store).ok());
  EXPECT_THAT(names(disk_store, object_kind::lease), Contains(dead + ".00000009"));
  EXPECT_THAT(names(disk_store, object_kind::container), SizeIs(3));
  EXPECT_TRUE(store::is_lack_of_room(store::end_sessions(*opened_store, {dead})));
  disk->has_room = true;
  const auto pruned = store::prune_store(*opened_store, {});
  ASSERT_TRUE(pruned.ok()) << pruned.error().message();
  EXPECT_THAT(pruned->awaited, IsEmpty());
  EXPECT_THAT(names(disk_store, object_kind::container), IsEmpty());
  EXPECT_THAT(names(disk_store, object_kind::lease), IsEmpty());
}

TEST(ended_sessions, keep_what_others_have_named) {
  const made_store disk_store;
  const auto disk = std::make_shared<disk_without_room>(disk_store.files);
  const auto opened_store = open_store_on(disk);
  auto session = *store::leased_session::begin(*opened_store);
  put_containers(*session, 3);
  ASSERT_TRUE(store::end_sessions(*disk_store.open(), {session->name()}).ok());  // which takes it for dead
  const auto named = names(disk_store, object_kind::container);
  put_containers(*session, 3);
  EXPECT_THAT(names(disk_store, object_kind::container), SizeIs(6));
  disk->has_room = false;
  session.reset();
  EXPECT_EQ(names(disk_store, object_kind::container), named);
  EXPECT_EQ(problems_of(disk_store), 0u);
}

TEST(ended_sessions, are_used_by_the_next) {
  const made_store disk_store;
  abandon_session(disk_store);
  EXPECT_THAT(unnamed(disk_store), SizeIs(3));
  EXPECT_EQ(problems_of(disk_store), 0u);
  EXPECT_TRUE(store::leased_session::begin(*disk_store.open()).ok());
  EXPECT_THAT(names(disk_store, object_kind::container), SizeIs(3));
  EXPECT_THAT(unnamed(disk_store), IsEmpty());
  EXPECT_THAT(names(disk_store, object_kind::lease), IsEmpty());
}

TEST(containers, are_not_all_listed_in_the_normal_course) {
  const made_store disk_store;
  const auto opened_store = disk_store.open();
  abandon_session(disk_store);
  ASSERT_TRUE(back_up(*opened_store, overlapping_files(1, 60'000)).ok());  // makes the first index
  disk_store.files->listed.clear();
  snapshot_map snapshots;
  const file_map files = overlapping_files(2, 60'000);
  const auto forgotten = back_up(*opened_store, overlapping_files(3, 60'000));
  const auto id = back_up(*opened_store, files);
  ASSERT_TRUE(id.ok() && forgotten.ok());
  snapshots[*id] = files;
  ASSERT_TRUE(forget(*opened_store, *forgotten).ok());
  ASSERT_TRUE(store::prune_store(*opened_store, {.most_unused = 0}).ok());
  EXPECT_EQ(loss_in(*disk_store.open(), snapshots), "");
  EXPECT_TRUE(store::report_store(*opened_store, {}).ok());
  EXPECT_THAT(disk_store.files->listed, Contains("shards"));
  EXPECT_THAT(disk_store.files->listed, Not(Contains("containers")));
}

TEST(containers, are_found_though_a_shard_is_lost) {
  const made_store disk_store;
  snapshot_map snapshots;
  for (std::uint64_t i = 1; i <= 3; ++i) {
    const file_map files = overlapping_files(i, 60'000);
    const auto id = back_up(*disk_store.open(), files);
    ASSERT_TRUE(id.ok());
    snapshots[*id] = files;
  }
  const auto shards = names(disk_store, object_kind::shard);
  ASSERT_GT(shards.size(), 1u);
  const auto lose_shard = [&](const std::string& id) { ASSERT_TRUE(disk_store.files->remove("shards/" + id).ok()); };
  lose_shard(shards.front());
  EXPECT_EQ(loss_in(*disk_store.open(), snapshots), "") << "readers find them";
  EXPECT_GT(problems_of(disk_store), 0u) << "a check names them";
  ASSERT_TRUE(store::repair_store(*disk_store.open(), {}).ok());
  EXPECT_EQ(problems_of(disk_store), 0u) << "a repair names them";
  lose_shard(names(disk_store, object_kind::shard).back());
  ASSERT_TRUE(store::prune_store(*disk_store.open(), {.most_unused = 0}).ok());
  EXPECT_EQ(problems_of(disk_store), 0u) << "so does a prune that misses a record";
  EXPECT_EQ(loss_in(*disk_store.open(), snapshots), "");
}

}  // namespace
}  // namespace cutpoint::tests
