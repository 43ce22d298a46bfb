// Whatever removals of keys run at once, a key is left that opens the store.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "store/session/open_store.h"
#include "tests/store/support/made_store.h"

namespace cutpoint::tests {
namespace {

using store::key_secret;
using testing::HasSubstr;
using testing::SizeIs;

const key_secret first_secret{store::secret_kind::key_file, "first"};
const key_secret second_secret{store::secret_kind::key_file, "second"};

std::string key_of(const made_store& disk_store, const key_secret& secret) {
  return (*disk_store.try_open(secret))->opened_by()->id;
}

std::vector<store::listed_key> keys_of(const made_store& disk_store, const key_secret& secret) {
  const auto opened_store = *disk_store.try_open(secret);
  return *store::list_keys(*opened_store, *opened_store->read_log());
}

TEST(store_keys, are_not_all_removed_by_removals_at_once) {
  std::uint64_t calls = 1;
  int refused = 0;
  for (std::uint64_t call = 0; call < calls; ++call) {
    const made_store disk_store(first_secret);
    ASSERT_TRUE(store::add_key(*disk_store.open(), second_secret).ok());
    const std::string first = key_of(disk_store, first_secret);
    const std::string second = key_of(disk_store, second_secret);
    const auto opened_store = disk_store.open();
    const auto other = *disk_store.try_open(second_secret);
    std::uint64_t count = 0;
    status other_outcome;
    disk_store.files->meanwhile = [&](const std::string&) {
      if (count++ == call) other_outcome = store::remove_key(*other, first);
    };
    const status outcome = store::remove_key(*opened_store, second);
    disk_store.files->meanwhile = nullptr;
    if (count <= call) other_outcome = store::remove_key(*other, first);
    calls = std::max(calls, count);
    refused += outcome.ok() ? 0 : 1;
    ASSERT_NE(outcome.ok(), other_outcome.ok()) << "at call " << call;
    EXPECT_THAT((outcome.ok() ? other_outcome : outcome).message(), HasSubstr("last key"));
    const key_secret& left = outcome.ok() ? first_secret : second_secret;
    ASSERT_TRUE(disk_store.try_open(left).ok()) << "at call " << call;
    EXPECT_THAT(keys_of(disk_store, left), SizeIs(1));
    EXPECT_FALSE(disk_store.try_open(outcome.ok() ? second_secret : first_secret).ok());
  }
  EXPECT_GT(calls, 15u);
  EXPECT_GT(refused, 3);
}

TEST(store_keys, count_only_if_they_open_the_store) {
  const made_store disk_store(first_secret);
  const auto objects = disk_store.open_storage("x");
  // An init that was interrupted has left a key of another store with another config.
  fingerprint_key foreign = {};
  ASSERT_TRUE(store::put_key(*objects, foreign, {}, second_secret).ok());
  ASSERT_TRUE(disk_store.files->create("keys/00000000000000000000000000000000").ok());
  EXPECT_THAT(keys_of(disk_store, first_secret), SizeIs(1));
  const status refused = store::remove_key(*disk_store.open(), key_of(disk_store, first_secret));
  EXPECT_THAT(refused.message(), HasSubstr("last key"));
  EXPECT_TRUE(disk_store.try_open(first_secret).ok());
}

TEST(store_keys, that_are_removed_open_nothing_wherever_the_removal_stops) {
  seeded_choices random(1);
  for (std::uint64_t stop = 0;; ++stop) {
    const made_store disk_store(first_secret);
    ASSERT_TRUE(store::add_key(*disk_store.open(), second_secret).ok());
    const std::string second = key_of(disk_store, second_secret);
    const auto opened_store = disk_store.open();
    disk_store.files->stop_at(disk_store.files->calls() + stop);
    const bool is_done = store::remove_key(*opened_store, second).ok();
    for (int state = 0; state < 8; ++state) {
      const made_store crashed(disk_store.files->crash(random), first_secret);
      ASSERT_TRUE(crashed.try_open(first_secret).ok()) << "stopped at " << stop;
      EXPECT_FALSE(is_done && crashed.try_open(second_secret).ok());
    }
    if (is_done) break;
    ASSERT_LT(stop, 200u);
  }
}

}  // namespace
}  // namespace cutpoint::tests
