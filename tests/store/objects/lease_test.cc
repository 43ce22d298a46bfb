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
  ASSERT_TRUE(store::remove_sessions(*objects, {dead}).ok());
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
  EXPECT_GT(facts.time_left().count(), hour / 2);
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  facts.process.process = static_cast<std::uint64_t>(child);
  siginfo_t ended = {};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT), 0);
  EXPECT_LT(facts.time_left().count(), 0) << "the child has ended, and nobody has waited for it";
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_LT(facts.time_left().count(), 0) << "the child has ended";
  facts.process.process = static_cast<std::uint64_t>(::getpid());
  facts.process.start_time += 1;
  EXPECT_LT(facts.time_left().count(), 0) << "another process has its number";
  facts.process.boot[0] ^= 1;
  EXPECT_GT(facts.time_left().count(), 0) << "of another boot nothing is known";
  facts.process = store::process_identity::own();
  facts.process.process = static_cast<std::uint64_t>(child);
  facts.process.pid_namespace += 1;
  EXPECT_GT(facts.time_left().count(), 0) << "of another namespace nothing is known";
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
  EXPECT_GT(facts.time_left().count(), 0);
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
  EXPECT_EQ(facts.time_left(), std::chrono::hours(24));
}

}  // namespace
}  // namespace cutpoint::tests
