// Leases protect the temporary files of a session while it lives, and a session knows that it has lost its lease.
#include "store/objects/lease.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "store/format/failure.h"
#include "store/storage/directory_storage.h"
#include "tests/store/support/made_store.h"

namespace cutpoint::tests {
namespace {

using store::object_kind;
using testing::ElementsAre;

TEST(lease, ends_with_its_time) {
  const made_store disk_store;
  const auto objects = disk_store.open_storage("w");
  const store::seal_key key;
  const std::string dead = store::new_session_id();
  const std::string alive = store::new_session_id();
  ASSERT_TRUE(store::put_lease(*objects, dead + ".00000003", {.time = 1, .duration = 1000, .owner = "x"}, key).ok());
  const auto lease_of_session = store::held_lease::take(*objects, key, alive, std::chrono::hours(1), 0);
  ASSERT_TRUE(lease_of_session.ok());
  for (const std::string& session : {dead, alive}) {
    ASSERT_TRUE(disk_store.files->create("temporary/" + session + "-0").ok());
  }
  ASSERT_TRUE(store::drop_expired_sessions(*objects, key).ok());
  EXPECT_THAT(*objects->list(object_kind::temporary), ElementsAre(alive + "-0"));
  EXPECT_THAT(*objects->list(object_kind::lease), ElementsAre(alive + ".00000000"));
  EXPECT_TRUE(*(*lease_of_session)->is_held());
  ASSERT_TRUE((*lease_of_session)->give_up().ok());
  EXPECT_THAT(*objects->list(object_kind::lease), ElementsAre());
}

TEST(lease, is_renewed_while_it_is_held) {
  const made_store disk_store;
  const auto objects = disk_store.open_storage("w");
  const store::seal_key key;
  const std::string session = store::new_session_id();
  const auto lease_of_session = store::held_lease::take(*objects, key, session, std::chrono::milliseconds(60), 0);
  ASSERT_TRUE(lease_of_session.ok());
  while (*objects->list(object_kind::lease) == std::vector<std::string>{session + ".00000000"}) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  EXPECT_TRUE(*(*lease_of_session)->is_held());
}

TEST(lease, has_all_its_fields) {
  const made_store disk_store;
  const auto objects = disk_store.open_storage("w");
  const store::lease facts{.time = -5, .duration = 7, .epoch = 9, .owner = "host, process 1, user 0"};
  const store::seal_key key(numbered_key(1));
  ASSERT_TRUE(store::put_lease(*objects, "a.00000000", facts, key).ok());
  EXPECT_EQ(*store::read_lease(*objects, "a.00000000", key), facts);
  const store::lease too_late{.time = INT64_MAX, .duration = 7, .epoch = 0, .owner = ""};
  ASSERT_TRUE(store::put_lease(*objects, "a.00000001", too_late, key).ok());
  EXPECT_TRUE(store::is_damage(store::read_lease(*objects, "a.00000001", key).error()));
  EXPECT_FALSE(store::find_live_lease(*objects, key)->has_value()) << "one has expired, one is damaged";
}

TEST(lease, is_lost_if_another_process_removes_it_while_it_is_renewed) {
  const made_store disk_store;
  const auto objects = disk_store.open_storage("w");
  const store::seal_key key;
  std::atomic<bool> is_renewing = false;
  disk_store.files->meanwhile = [&](const std::string& path) {
    if (!path.starts_with("leases/") || !path.ends_with(".00000001") || is_renewing.exchange(true)) return;
    EXPECT_TRUE(disk_store.files->remove("leases/s.00000000").ok());
  };
  const auto lease_of_session = store::held_lease::take(*objects, key, "s", std::chrono::milliseconds(3), 0);
  ASSERT_TRUE(lease_of_session.ok());
  while (!is_renewing) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_FALSE(*(*lease_of_session)->is_held())
      << "the other process has listed the leases before the new one was there";
  EXPECT_THAT(*objects->list(object_kind::lease), ElementsAre());
  ASSERT_TRUE((*lease_of_session)->take_again().ok());
  EXPECT_TRUE(*(*lease_of_session)->is_held());
}

}  // namespace
}  // namespace cutpoint::tests
