// Tests that secret keys are read, named and kept apart from text. secret_memory_test.cc tests their memory.
#include <cutpoint/secret_key.h>
#include <gmock/gmock.h>

#include "host/algorithms/secrets.h"
#include "tests/host/algorithms/chunkers.h"
#include "tests/host/hash/sha256.h"
#include "tests/host/io/temporary_folder.h"

namespace cutpoint::tests {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr std::string_view key_names[] = {"toeplitz-aes", "rabin-aes", "toeplitz128-aes", "borg2-toeplitz-aes",
                                          "borg2-rabin-aes"};

secret_key key_of(std::uint8_t seed) {
  std::array<std::uint8_t, secret_key::byte_count> bytes;
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(seed + 7 * i);
  return secret_key(bytes);
}

std::string digits_of(const secret_key& key) { return fmt::format("{:02x}", fmt::join(key.bytes(), "")); }

TEST(secret_key, is_named_by_the_beginning_of_a_labelled_sha256) {
  const secret_key key = key_of(1);
  std::string text = "cutpoint phte";
  for (const std::uint8_t byte : key.bytes()) text += static_cast<char>(byte);
  EXPECT_EQ(key.fingerprint(), sha256_hex(as_bytes(text)).substr(0, 16));
  EXPECT_EQ(secret_key().fingerprint(), "09408fecf594e2b1");
  EXPECT_TRUE(key == key_of(1) && !(key == key_of(2)) && !(key == secret_key()));
}

TEST(secret_key, is_read_from_bytes_and_from_digits) {
  const temporary_folder folder;
  const std::string path = folder.path() + "/key";
  const secret_key key = key_of(5);
  const std::string bytes(reinterpret_cast<const char*>(key.bytes().data()), secret_key::byte_count);
  const auto read = [&](const std::string& content) {
    std::ofstream(path, std::ios::binary) << content;
    return read_secret_key(path);
  };
  for (const std::string& content : {bytes, digits_of(key), digits_of(key) + "\n", digits_of(key) + "\r\n"}) {
    const auto read_key = read(content);
    ASSERT_TRUE(read_key.ok()) << read_key.error().message();
    EXPECT_TRUE(*read_key == key);
  }
  for (const std::string& content :
       {std::string(), bytes.substr(1), bytes + "x", digits_of(key).substr(1), digits_of(key) + "0",
        digits_of(key) + "\n\n", digits_of(key) + " \n", "x" + digits_of(key).substr(1)}) {
    const auto read_key = read(content);
    ASSERT_FALSE(read_key.ok()) << content.size();
    EXPECT_EQ(read_key.error().code(), status_code::invalid_argument);
    EXPECT_EQ(read_key.error().message(), path + ": a key is 32 bytes or 64 hexadecimal digits");
  }
  const auto none = read_secret_key(folder.path() + "/none");
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().code(), status_code::io_error);
  EXPECT_THAT(none.error().message(), HasSubstr("/none: No such file"));
}

TEST(secret_key, is_never_in_text) {
  const secret_key key = key_of(9);
  for (const std::string_view name : key_names) {
    const auto cuts = make_chunker(name, {}, key);
    ASSERT_TRUE(cuts.ok()) << cuts.error().message();
    EXPECT_TRUE(cuts->warnings.empty());
    EXPECT_THAT(cuts->chunker.canonical(), HasSubstr(",key=" + key.fingerprint() + ")"));
    EXPECT_THAT(cuts->chunker.canonical(), Not(HasSubstr(digits_of(key).substr(0, 8))));
    for (const std::optional<secret_key>& user_key : {std::optional<secret_key>(), std::optional(key)}) {
      const auto refused = make_chunker(name, settings_of("key=" + digits_of(key)), user_key);
      ASSERT_FALSE(refused.ok());
      EXPECT_THAT(refused.error().message(), HasSubstr("key is not the fingerprint of the key that was given"));
      EXPECT_THAT(refused.error().message(), Not(HasSubstr(digits_of(key))));
    }
  }
}

TEST(secret_key, is_needed_to_read_a_canonical_string) {
  const secret_key key = key_of(11);
  for (const std::string_view name : key_names) {
    const chunker cuts = make_chunker(name, settings_of("min_exp=6,mask_bits=8,max_exp=10"), key)->chunker;
    EXPECT_TRUE(parse_canonical(cuts.canonical(), key).ok());
    for (const std::optional<secret_key>& other : {std::optional<secret_key>(), std::optional(key_of(12))}) {
      const auto refused = parse_canonical(cuts.canonical(), other);
      ASSERT_FALSE(refused.ok()) << name;
      EXPECT_EQ(refused.error().code(), status_code::invalid_argument);
      EXPECT_THAT(refused.error().message(), HasSubstr("key is not the fingerprint of the key that was given"));
    }
  }
}

TEST(secret_key, that_is_missing_is_a_warning_and_one_too_many_an_error) {
  for (const std::string_view name : key_names) {
    EXPECT_THAT(make_chunker(name, {})->warnings,
                testing::ElementsAre(std::string(name) + " has no key: its cuts hide nothing"));
  }
  for (const std::string_view name : {"gear", "borg2-fastcdc"}) {
    const auto refused = make_chunker(name, {}, key_of(1));
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().message(), std::string(name) + ": the algorithm takes no secret key");
  }
}

}  // namespace
}  // namespace cutpoint::tests
