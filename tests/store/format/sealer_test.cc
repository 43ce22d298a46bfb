// Sealers detect changes, and encryption equals the published vectors and the command of OpenSSL.
#include "store/format/sealer.h"

#include <gtest/gtest.h>

#include "tests/store/support/containers.h"

namespace cutpoint::tests {
namespace {

using store::seal_key;
using store::sealed_content;

std::string hex(byte_span bytes) {
  std::string text;
  for (const std::uint8_t each : bytes) {
    static constexpr char digits[] = "0123456789abcdef";
    text += {digits[each >> 4], digits[each & 15]};
  }
  return text;
}

class sealing : public testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(with, sealing, testing::Bool(),
                         [](const auto& tested) { return tested.param ? "encryption" : "checksums"; });

TEST_P(sealing, detects_other_bytes_parts_positions_salts_and_keys) {
  const seal_key key = GetParam() ? seal_key(numbered_key(1)) : seal_key();
  const auto seals = key.sealer_of({1}, "log/1");
  for (const std::size_t size : {0u, 1u, 15u, 16u, 48u, 1000u}) {
    const std::vector<std::uint8_t> plain(size, 7);
    std::vector<std::uint8_t> sealed = plain;
    const store::seal_tag tag = seals->seal(sealed_content::record_payload, 16 * size, sealed);
    const auto opens = [&](sealed_content content, std::uint64_t position, std::vector<std::uint8_t> bytes,
                           const store::seal_tag& other_tag) {
      const bool is_opened = seals->open(content, position, bytes, other_tag);
      if (is_opened) {
        EXPECT_EQ(bytes, plain);
      }
      return is_opened;
    };
    EXPECT_TRUE(opens(sealed_content::record_payload, 16 * size, sealed, tag));
    EXPECT_FALSE(opens(sealed_content::record_header, 16 * size, sealed, tag));
    EXPECT_FALSE(opens(sealed_content::record_payload, 16 * size + 16, sealed, tag));
    for (std::size_t i = 0; i < tag.size(); ++i) {
      store::seal_tag wrong = tag;
      wrong[i] ^= 1;
      EXPECT_FALSE(opens(sealed_content::record_payload, 16 * size, sealed, wrong));
    }
    for (std::size_t i = 0; i < size; i += 13) {
      std::vector<std::uint8_t> wrong = sealed;
      wrong[i] ^= 1;
      EXPECT_FALSE(opens(sealed_content::record_payload, 16 * size, wrong, tag));
    }
    if (GetParam()) {
      store::store_identity other_store = {1};
      const auto others = {seal_key(numbered_key(2)), seal_key(numbered_key(1), other_store)};
      std::vector<std::unique_ptr<store::sealer>> sealers;
      for (const seal_key& each : others) sealers.push_back(each.sealer_of({1}, "log/1"));
      sealers.push_back(key.sealer_of({2}, "log/1"));
      sealers.push_back(key.sealer_of({1}, "log/2"));
      for (const auto& other : sealers) {
        std::vector<std::uint8_t> bytes = sealed;
        EXPECT_FALSE(other->open(sealed_content::record_payload, 16 * size, bytes, tag));
      }
    }
  }
}

// The expected values were made with Python's `cryptography` (HKDF, AESGCM), the first one also with `openssl kdf`.
TEST(key_derivation, is_hkdf_of_rfc_5869) {
  fingerprint_key secret = numbered_key(0);
  std::vector<std::uint8_t> salt(32, 9);
  EXPECT_EQ(hex(store::derive_key(secret, salt, "cutpoint store object")),
            "34bb05e7e4b373f5372e9ee74e5bdfa085e0b488bc00a36bd576b3353b3c992a");
}

TEST(encryption, is_aes_256_gcm_with_the_documented_key_and_nonce) {
  const store::object_salt salt = [] {
    store::object_salt nines;
    nines.fill(9);
    return nines;
  }();
  store::store_identity identity;
  identity.fill(5);
  std::vector<std::uint8_t> bytes = {1, 2, 3, 4, 5};
  const auto tag =
      seal_key(numbered_key(0), identity).sealer_of(salt, "log/1")->seal(sealed_content::record_payload, 0x1020, bytes);
  EXPECT_EQ(hex(bytes), "85d44308ad");
  EXPECT_EQ(hex(tag), "e4c0d572803d3a5ddbf8c3bc5b9411d2");
}

}  // namespace
}  // namespace cutpoint::tests
