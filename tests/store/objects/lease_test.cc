// Leases protect the temporary files of a session while it lives.
#include "store/objects/lease.h"

#include <csignal>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store/format/clock.h"
#include "store/format/failure.h"
#include "store/storage/directory_storage.h"
#include "tests/store/support/forwarding_storage.h"
#include "tests/store/support/made_store.h"

namespace cutpoint::tests {
namespace {

using store::object_kind;
using testing::ElementsAre;

store::held_lease::storage_function opener_of(const made_store& disk_store) {
  return [&disk_store] { return disk_store.open_storage(store::new_session_id()); };
}

TEST(lease, ends_with_its_time) {
  const made_store disk_store;
  const auto objects = disk_store.open_storage("w");
  const store::seal_key key;
  const std::string dead = store::new_session_id();
  const std::string alive = store::new_session_id();
  ASSERT_TRUE(store::put_lease(*objects, dead + ".00000003",
                               {.time = 1, .duration = 1000, .epoch = 0, .process = {}, .owner = "x"}, key)
                  .ok());
  const auto lease_of_session =
      value_of(store::held_lease::take(opener_of(disk_store), key, alive, std::chrono::hours(1), 0));
  for (const std::string& session : {dead, alive}) {
    ASSERT_TRUE(disk_store.files->create("temporary/" + session + "-0").ok());
  }
  EXPECT_THAT(*store::expired_sessions(*objects, key), ElementsAre(dead));
  ASSERT_TRUE(store::remove_sessions(*objects, key, {dead}).ok());
  EXPECT_THAT(*objects->list(object_kind::temporary), ElementsAre(alive + "-0"));
  EXPECT_THAT(*objects->list(object_kind::lease), ElementsAre(alive + ".00000000"));
  ASSERT_TRUE(lease_of_session->give_up().ok());
  EXPECT_THAT(*objects->list(object_kind::lease), ElementsAre());
}

TEST(lease, is_renewed_while_it_is_held) {
  const made_store disk_store;
  const auto objects = disk_store.open_storage("w");
  const store::seal_key key;
  const std::string session = store::new_session_id();
  const auto lease_of_session =
      value_of(store::held_lease::take(opener_of(disk_store), key, session, std::chrono::milliseconds(60), 0));
  while (*objects->list(object_kind::lease) == std::vector<std::string>{session + ".00000000"}) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

TEST(lease, outlives_a_renewal_that_fails_and_tells_whether_others_may_have_taken_it_for_expired) {
  const made_store disk_store;
  const store::seal_key key;
  const auto lasting = value_of(store::held_lease::take(opener_of(disk_store), key, "a", std::chrono::hours(1), 0));
  EXPECT_FALSE(lasting->may_have_expired());
  for (const bool all_fail : {false, true}) {
    std::atomic<int> open_count = 0;
    const auto open = [&] {
      const std::string writer = fmt::format("b{}-{}", all_fail ? 1 : 0, open_count++);
      // A storage cannot put if its writer's file exists already. The first one can.
      const bool fails = all_fail ? open_count > 1 : open_count == 2;
      if (fails) static_cast<void>(disk_store.files->create("temporary/" + writer + "-0"));
      return disk_store.open_storage(writer);
    };
    const auto brief = value_of(store::held_lease::take(open, key, "b", std::chrono::milliseconds(3), 0));
    while (all_fail ? !brief->may_have_expired() : open_count < 5) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    if (all_fail) break;
    ASSERT_TRUE(brief->give_up().ok());
    EXPECT_THAT(names(disk_store, object_kind::lease), ElementsAre("a.00000000"));
  }
}

/// Has a clock of its own, and may not let leases be removed.
class other_storage final : public forwarding_storage {
 public:
  other_storage(std::unique_ptr<store::storage> target, std::int64_t time, bool may_remove_leases = true)
      : forwarding_storage(*target), target_(std::move(target)), time_(time), may_remove_leases_(may_remove_leases) {}
  std::int64_t now() override { return time_; }
  bool may_remove(object_kind kind) override { return kind != object_kind::lease || may_remove_leases_; }
  status remove(const store::object_name& name) override {
    EXPECT_TRUE(may_remove(name.kind));
    return forwarding_storage::remove(name);
  }

 private:
  std::unique_ptr<store::storage> target_;
  std::int64_t time_;
  bool may_remove_leases_;
};

TEST(lease, is_put_and_judged_by_the_clock_of_the_storage) {
  const made_store disk_store;
  const store::seal_key key;
  constexpr std::int64_t begin = 1'000'000'000'000;  // far from the clock of this machine
  constexpr std::int64_t minute = 60'000'000'000;
  const auto at = [&](std::int64_t time) {
    return std::make_unique<other_storage>(disk_store.open_storage(store::new_session_id()), time);
  };
  const auto lease_of_session =
      value_of(store::held_lease::take([&] { return at(begin); }, key, "a", std::chrono::minutes(30), 0));
  EXPECT_THAT(*store::expired_sessions(*at(begin + 29 * minute), key), ElementsAre());
  EXPECT_THAT(*store::expired_sessions(*at(begin + 31 * minute), key), ElementsAre("a"));
  EXPECT_EQ(store::list_leases(*at(begin), key)->front().facts.time, begin);
}

TEST(lease, that_cannot_be_removed_is_ended_by_a_last_one) {
  const made_store disk_store;
  const store::seal_key key;
  const auto open = [&](bool may_remove_leases) {
    return std::make_unique<other_storage>(disk_store.open_storage(store::new_session_id()), store::nanoseconds_now(),
                                           may_remove_leases);
  };
  const auto lease_of_session =
      value_of(store::held_lease::take([&] { return open(false); }, key, "a", std::chrono::hours(1), 0));
  EXPECT_EQ(store::list_leases(*open(false), key)->size(), 1u);
  ASSERT_TRUE(lease_of_session->give_up().ok());
  EXPECT_THAT(names(disk_store, object_kind::lease), testing::UnorderedElementsAre("a.00000000", "a.00000001"));
  EXPECT_TRUE(store::list_leases(*open(false), key)->empty()) << "though the first lease lasts for an hour";
  EXPECT_THAT(*store::expired_sessions(*open(false), key), ElementsAre()) << "nothing is left to do";
  EXPECT_THAT(*store::expired_sessions(*open(true), key), ElementsAre("a")) << "but to remove its leases";
  ASSERT_TRUE(store::remove_sessions(*open(true), key, {"a"}).ok());
  EXPECT_THAT(names(disk_store, object_kind::lease), ElementsAre());
}

TEST(lease, is_renewed_where_it_cannot_be_removed) {
  const made_store disk_store;
  const auto open = [&] {
    return std::make_unique<other_storage>(disk_store.open_storage(store::new_session_id()), store::nanoseconds_now(),
                                           false);
  };
  const store::seal_key key;
  const auto lease_of_session = value_of(store::held_lease::take(open, key, "a", std::chrono::milliseconds(30), 0));
  const auto lease_count = [&] { return names(disk_store, object_kind::lease).size(); };
  for (int waits = 0; waits < 2000 && lease_count() < 3; ++waits) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  EXPECT_GE(lease_count(), 3u);
}

TEST(lease, of_others_that_cannot_be_removed_is_ended_once) {
  const made_store disk_store;
  const store::seal_key key;
  const auto open = [&] {
    return std::make_unique<other_storage>(disk_store.open_storage(store::new_session_id()), store::nanoseconds_now(),
                                           false);
  };
  const store::lease expired{.time = 1, .duration = 1000, .epoch = 0, .process = {}, .owner = "x"};
  for (const char* id : {"a.00000003", "a.00000004"}) ASSERT_TRUE(store::put_lease(*open(), id, expired, key).ok());
  ASSERT_THAT(*store::expired_sessions(*open(), key), ElementsAre("a"));
  ASSERT_TRUE(store::remove_sessions(*open(), key, {"a"}).ok());
  EXPECT_THAT(names(disk_store, object_kind::lease),
              testing::UnorderedElementsAre("a.00000003", "a.00000004", "a.00000005"));
  EXPECT_THAT(*store::expired_sessions(*open(), key), ElementsAre());
}

TEST(lease, of_a_session_is_the_newest_that_can_be_read) {
  const made_store disk_store;
  const auto objects = disk_store.open_storage("w");
  const store::seal_key key;
  const store::lease expired{.time = 1, .duration = 1000, .epoch = 0, .process = {}, .owner = "old"};
  store::lease lasting = expired;
  lasting.time = store::nanoseconds_now();
  lasting.duration = 3'600'000'000'000;
  lasting.owner = "new";
  ASSERT_TRUE(store::put_lease(*objects, "a.00000001", expired, key).ok());
  ASSERT_TRUE(store::put_lease(*objects, "a.00000002", lasting, key).ok());
  ASSERT_TRUE(objects->put({object_kind::lease, "a.00000003"}, {1, 2, 3}).ok());
  ASSERT_TRUE(objects->put({object_kind::lease, "b.00000000"}, {1, 2, 3}).ok());
  const auto leases = value_of(store::list_leases(*objects, key));
  ASSERT_EQ(leases.size(), 2u);
  EXPECT_EQ(leases[0].facts.owner, "new");
  EXPECT_THAT(*store::expired_sessions(*objects, key), ElementsAre("b"));
}

TEST(lease, has_all_its_fields) {
  const made_store disk_store;
  const auto objects = disk_store.open_storage("w");
  const store::lease facts{.time = -5,
                           .duration = 7,
                           .epoch = 9,
                           .process = store::process_identity::own(),
                           .owner = "host, process 1, user 0"};
  const store::seal_key key(numbered_key(1));
  ASSERT_TRUE(store::put_lease(*objects, "a.00000000", facts, key).ok());
  EXPECT_EQ(*store::read_lease(*objects, "a.00000000", key), facts);
  const store::lease too_late{.time = INT64_MAX, .duration = 7, .epoch = 0, .process = {}, .owner = ""};
  ASSERT_TRUE(store::put_lease(*objects, "a.00000001", too_late, key).ok());
  EXPECT_TRUE(store::is_damage(store::read_lease(*objects, "a.00000001", key).error()));
}

TEST(lease, of_a_process_that_has_ended_has_expired) {
  const std::int64_t hour = 3'600'000'000'000;
  store::lease facts{.time = store::nanoseconds_now(),
                     .duration = hour,
                     .epoch = 0,
                     .process = store::process_identity::own(),
                     .owner = ""};
  EXPECT_GT(facts.time_left(store::nanoseconds_now()).count(), hour / 2);
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  facts.process.process = static_cast<std::uint64_t>(child);
  siginfo_t ended = {};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT), 0);
  EXPECT_LT(facts.time_left(store::nanoseconds_now()).count(), 0)
      << "the child has ended, and nobody has waited for it";
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_LT(facts.time_left(store::nanoseconds_now()).count(), 0) << "the child has ended";
  facts.process.process = static_cast<std::uint64_t>(::getpid());
  facts.process.start_time += 1;
  EXPECT_LT(facts.time_left(store::nanoseconds_now()).count(), 0) << "another process has its number";
  facts.process.boot[0] ^= 1;
  EXPECT_GT(facts.time_left(store::nanoseconds_now()).count(), 0) << "of another boot nothing is known";
  facts.process = store::process_identity::own();
  facts.process.process = static_cast<std::uint64_t>(child);
  facts.process.pid_namespace += 1;
  EXPECT_GT(facts.time_left(store::nanoseconds_now()).count(), 0) << "of another namespace nothing is known";
}

TEST(lease, of_a_process_whose_main_thread_has_ended_lasts) {
  store::lease facts{
      .time = store::nanoseconds_now(), .duration = 3'600'000'000'000, .epoch = 0, .process = {}, .owner = ""};
  int answer[2] = {};
  ASSERT_EQ(::pipe(answer), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    std::thread([end = answer[1], process = store::process_identity::own()] {
      if (::write(end, &process, sizeof process) == ssize_t{sizeof process}) ::pause();
    }).detach();
    ::syscall(SYS_exit, 0);  // of the main thread alone
  }
  ASSERT_EQ(::read(answer[0], &facts.process, sizeof facts.process), ssize_t{sizeof facts.process});
  const auto stat_of_child = [&] {
    std::ifstream file(fmt::format("/proc/{}/stat", child));
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  while (stat_of_child().find(") Z ") == std::string::npos) std::this_thread::yield();
  EXPECT_GT(facts.time_left(store::nanoseconds_now()).count(), 0);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  for (const int each : answer) ::close(each);
}

TEST(lease, from_the_future_lasts_as_long_as_is_legal) {
  const store::lease facts{.time = store::nanoseconds_now() + (std::int64_t{1} << 60),
                           .duration = 1,
                           .epoch = 0,
                           .process = {},
                           .owner = ""};
  EXPECT_EQ(facts.time_left(store::nanoseconds_now()), std::chrono::hours(24));
}

}  // namespace
}  // namespace cutpoint::tests
