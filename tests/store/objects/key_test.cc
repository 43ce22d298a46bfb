// A key is opened by its own secret only, and by no other after any byte of it was changed.
#include "store/objects/key.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "store/format/failure.h"
#include "store/session/open_store.h"
#include "tests/store/support/made_store.h"

namespace cutpoint::tests {
namespace {

using store::key_secret;
using store::secret_kind;

constexpr store::scrypt_cost cheap = {.log2_n = 4, .r = 1, .p = 1};

class keys : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(store::make_storage_folders(*files_).ok()); }
  disk files_ = std::make_shared<volatile_file_system>();
  std::unique_ptr<store::storage> objects_ = made_store(files_).open_storage("k");
  store::key_facts facts_{.config = numbered_key(3), .time = -4, .label = "user@host"};
};

TEST_F(keys, are_opened_by_their_secrets) {
  const key_secret password{secret_kind::password, "correct horse"};
  const key_secret file{secret_kind::key_file, std::string(100, '\0')};
  EXPECT_FALSE(store::open_any_key(*objects_, password, facts_.config).ok());
  const auto first = value_of(store::put_key(*objects_, numbered_key(1), facts_, password, cheap));
  const auto second = value_of(store::put_key(*objects_, numbered_key(1), facts_, file));
  for (const auto& [id, secret] : {std::pair(first, password), std::pair(second, file)}) {
    const auto unlocked_key = value_of(store::open_key(*objects_, id, secret));
    EXPECT_EQ(unlocked_key.store_key, numbered_key(1));
    EXPECT_EQ(unlocked_key.facts, facts_);
    EXPECT_TRUE(store::open_any_key(*objects_, secret, facts_.config).ok());
    const auto other = store::open_any_key(*objects_, secret, numbered_key(4));
    EXPECT_TRUE(!other.ok() && store::is_damage(other.error()));
  }
  EXPECT_EQ(store::open_key(*objects_, first, file).error().code(), status_code::invalid_argument);
  for (const key_secret& wrong :
       {key_secret{secret_kind::password, "correct horsf"}, key_secret{secret_kind::key_file, std::string(101, '\0')},
        key_secret{secret_kind::key_file, "correct horse"}}) {
    EXPECT_EQ(store::open_any_key(*objects_, wrong, facts_.config).error().code(), status_code::invalid_argument);
  }
}

TEST_F(keys, refuse_empty_secrets_and_costs_out_of_bounds) {
  const auto code = [&](const std::string& password, const store::scrypt_cost& cost) {
    return store::put_key(*objects_, numbered_key(1), facts_, {secret_kind::password, password}, cost).error().code();
  };
  EXPECT_EQ(code("", cheap), status_code::invalid_argument);
  EXPECT_EQ(code("x", {.log2_n = 21, .r = 8, .p = 1}), status_code::invalid_argument);
  EXPECT_EQ(code("x", {.log2_n = 4, .r = 9, .p = 1}), status_code::invalid_argument);
  EXPECT_EQ(code("x", {.log2_n = 4, .r = 1, .p = 0}), status_code::invalid_argument);
}

TEST_F(keys, are_useless_if_a_byte_is_changed) {
  const key_secret secret{secret_kind::key_file, "bytes"};
  const auto id = value_of(store::put_key(*objects_, numbered_key(1), facts_, secret));
  std::vector<std::uint8_t>& bytes = *files_->bytes_of("keys/" + id);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    for (const auto change : {std::uint8_t{1}, std::uint8_t{0x80}}) {
      bytes[i] ^= change;
      EXPECT_FALSE(store::open_key(*objects_, id, secret).ok()) << i;
      bytes[i] ^= change;
    }
  }
  EXPECT_TRUE(store::open_key(*objects_, id, secret).ok());
}

// Whatever removals of keys run at once, a key is left that opens the store.

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
  const made_store disk_store(first_secret);
  ASSERT_TRUE(store::add_key(*disk_store.open(), second_secret).ok());
  const std::string second = key_of(disk_store, second_secret);
  const auto remove = [&](const disk& files) {
    return store::remove_key(*made_store(files, first_secret).open(), second).ok();
  };
  const auto judge = [](const disk& files, bool is_done) -> std::string {
    const made_store crashed(files, first_secret);
    if (!crashed.try_open(first_secret).ok()) return "the other key is lost";
    return is_done && crashed.try_open(second_secret).ok() ? "a key that was removed opens the store" : "";
  };
  EXPECT_EQ(fault_of_stops(disk_store.files, 8, remove, judge), "");
}

}  // namespace
}  // namespace cutpoint::tests
