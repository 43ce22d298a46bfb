// Leases protect the temporary files of a session while it lives, and a session that lost its lease does not commit.
#include "store/objects/lease.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "store/access/commit.h"
#include "store/storage/directory_storage.h"
#include "tests/store/access/made_store.h"

namespace cutpoint::tests {
namespace {

using store::object_kind;
using testing::ElementsAre;
using testing::UnorderedElementsAre;

store::snapshot snapshot_at(std::int64_t time) {
  store::snapshot taken;
  taken.time = time;
  return taken;
}

TEST(lease, ends_with_its_time) {
  const made_store made;
  const auto objects = made.open_storage("w");
  const store::seal_key key;
  const std::string dead = store::new_session_id();
  const std::string alive = store::new_session_id();
  ASSERT_TRUE(store::put_lease(*objects, dead + ".00000003", {.time = 1, .duration = 1000, .owner = "x"}, key).ok());
  const auto held = store::held_lease::take(*objects, key, alive, std::chrono::hours(1));
  ASSERT_TRUE(held.ok());
  for (const std::string& session : {dead, alive}) {
    ASSERT_TRUE(made.files->create("temporary/" + session + "-0").ok());
  }
  ASSERT_TRUE(store::drop_expired_sessions(*objects, key).ok());
  EXPECT_THAT(*objects->list(object_kind::temporary), ElementsAre(alive + "-0"));
  EXPECT_THAT(*objects->list(object_kind::lease), ElementsAre(alive + ".00000000"));
  EXPECT_TRUE(*(*held)->is_held());
  ASSERT_TRUE((*held)->give_up().ok());
  EXPECT_THAT(*objects->list(object_kind::lease), ElementsAre());
}

TEST(lease, is_renewed_while_it_is_held) {
  const made_store made;
  const auto objects = made.open_storage("w");
  const store::seal_key key;
  const std::string session = store::new_session_id();
  const auto held = store::held_lease::take(*objects, key, session, std::chrono::milliseconds(60));
  ASSERT_TRUE(held.ok());
  while (*objects->list(object_kind::lease) == std::vector<std::string>{session + ".00000000"}) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  EXPECT_TRUE(*(*held)->is_held());
}

TEST(lease, has_all_its_fields) {
  const made_store made;
  const auto objects = made.open_storage("w");
  const store::lease taken{.time = -5, .duration = 7, .epoch = 9, .owner = "host, process 1, user 0"};
  const store::seal_key key(numbered_key(1));
  ASSERT_TRUE(store::put_lease(*objects, "a.00000000", taken, key).ok());
  EXPECT_EQ(*store::read_lease(*objects, "a.00000000", key), taken);
}

TEST(commit, is_taken_back_without_the_lease) {
  const made_store made;
  const auto opened = made.open();
  const auto objects = made.open_storage("w");
  const auto held = store::held_lease::take(*objects, opened->key(), "abc", std::chrono::hours(1));
  ASSERT_TRUE(held.ok());
  ASSERT_TRUE(objects->remove({object_kind::lease, "abc.00000000"}).ok());
  const auto refused = store::commit_snapshot(*opened, *objects, **held, {});
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().message(), testing::HasSubstr("nothing was committed"));
  EXPECT_THAT(*objects->list(object_kind::snapshot), ElementsAre());
}

TEST(commit, numbers_snapshots_in_their_order) {
  const made_store made;
  const auto opened = made.open();
  const auto objects = made.open_storage("w");
  std::vector<std::string> ids;
  for (const int time : {300, 200, 100}) {  // a clock that goes back
    const auto held =
        store::held_lease::take(*objects, opened->key(), "s" + std::to_string(time), std::chrono::hours(1));
    const auto done = store::commit_snapshot(*opened, *objects, **held, snapshot_at(time));
    ASSERT_TRUE(done.ok());
    ids.push_back(done->id);
  }
  const auto all = opened->snapshots({});
  ASSERT_EQ(all->size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ((*all)[i].id, ids[i]);
    EXPECT_EQ((*all)[i].taken.sequence, i + 1);
  }
  EXPECT_THAT(*objects->list(object_kind::lease), ElementsAre());
}

}  // namespace
}  // namespace cutpoint::tests
