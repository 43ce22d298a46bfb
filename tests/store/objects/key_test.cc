// A key is opened by its own secret only, and by no other after any byte of it was changed.
#include "store/objects/key.h"

#include <gtest/gtest.h>

#include "store/format/failure.h"
#include "tests/store/support/small_store.h"

namespace cutpoint::tests {
namespace {

using store::key_secret;
using store::secret_kind;

constexpr store::scrypt_cost cheap = {.log2_n = 4, .r = 1, .p = 1};

class keys : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(store::make_storage_folders(*files_).ok()); }
  std::shared_ptr<volatile_file_system> files_ = std::make_shared<volatile_file_system>();
  small_store store_{files_};
  store::key_facts facts_{.config = numbered_key(3), .time = -4, .label = "user@host"};
};

TEST_F(keys, are_opened_by_their_secrets) {
  const key_secret password{secret_kind::password, "correct horse"};
  const key_secret file{secret_kind::key_file, std::string(100, '\0')};
  EXPECT_FALSE(store::open_any_key(store_.objects(), password, facts_.config).ok());
  const auto first = store::put_key(store_.objects(), numbered_key(1), facts_, password, cheap);
  const auto second = store::put_key(store_.objects(), numbered_key(1), facts_, file);
  ASSERT_TRUE(first.ok() && second.ok());
  for (const auto& [id, secret] : {std::pair(*first, password), std::pair(*second, file)}) {
    const auto unlocked_key = store::open_key(store_.objects(), id, secret);
    ASSERT_TRUE(unlocked_key.ok()) << unlocked_key.error().message();
    EXPECT_EQ(unlocked_key->store_key, numbered_key(1));
    EXPECT_EQ(unlocked_key->facts, facts_);
    EXPECT_TRUE(store::open_any_key(store_.objects(), secret, facts_.config).ok());
    const auto other = store::open_any_key(store_.objects(), secret, numbered_key(4));
    EXPECT_TRUE(!other.ok() && store::is_damage(other.error()));
  }
  EXPECT_EQ(store::open_key(store_.objects(), *first, file).error().code(), status_code::invalid_argument);
  for (const key_secret& wrong :
       {key_secret{secret_kind::password, "correct horsf"}, key_secret{secret_kind::key_file, std::string(101, '\0')},
        key_secret{secret_kind::key_file, "correct horse"}}) {
    EXPECT_EQ(store::open_any_key(store_.objects(), wrong, facts_.config).error().code(),
              status_code::invalid_argument);
  }
}

TEST_F(keys, refuse_empty_secrets_and_costs_out_of_bounds) {
  const auto code = [&](const std::string& password, const store::scrypt_cost& cost) {
    return store::put_key(store_.objects(), numbered_key(1), facts_, {secret_kind::password, password}, cost)
        .error()
        .code();
  };
  EXPECT_EQ(code("", cheap), status_code::invalid_argument);
  EXPECT_EQ(code("x", {.log2_n = 21, .r = 8, .p = 1}), status_code::invalid_argument);
  EXPECT_EQ(code("x", {.log2_n = 4, .r = 9, .p = 1}), status_code::invalid_argument);
  EXPECT_EQ(code("x", {.log2_n = 4, .r = 1, .p = 0}), status_code::invalid_argument);
}

TEST_F(keys, are_useless_if_a_byte_is_changed) {
  const key_secret secret{secret_kind::key_file, "bytes"};
  const auto id = store::put_key(store_.objects(), numbered_key(1), facts_, secret);
  ASSERT_TRUE(id.ok());
  std::vector<std::uint8_t>& bytes = *files_->bytes_of("keys/" + *id);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    for (const auto change : {std::uint8_t{1}, std::uint8_t{0x80}}) {
      bytes[i] ^= change;
      EXPECT_FALSE(store::open_key(store_.objects(), *id, secret).ok()) << i;
      bytes[i] ^= change;
    }
  }
  EXPECT_TRUE(store::open_key(store_.objects(), *id, secret).ok());
}

}  // namespace
}  // namespace cutpoint::tests
