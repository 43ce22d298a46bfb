// Tests that the tables are those of their systems: those with a derivation are derived again, and all are pinned.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "host/tables/borg1_buzhash32.h"
#include "host/tables/casync_buzhash32.h"
#include "host/tables/fastcdc2020_gear64.h"
#include "host/tables/ipfs_buzhash32.h"
#include "host/tables/kopia_buzhash32.h"
#include "host/tables/ronomon_gear31.h"
#include "host/tables/xet_gear64.h"
#include "tests/host/hash/sha256.h"
#include "tests/host/naive/hashes.h"

namespace cutpoint::tests {
namespace {

/// Returns the SHA-256 of the entries as hexadecimal lines without leading zeros.
template <class Table>
std::string sha256_of_lines(const Table& table) {
  std::string lines;
  for (const auto entry : table) lines += fmt::format("{:x}\n", entry);
  return sha256_hex(as_bytes(lines));
}

TEST(tables, fastcdc_gear_is_md5_of_each_byte_repeated) {
  EXPECT_EQ(tables::fastcdc2020_gear64, naive::derived_gear_table());
}

TEST(tables, ronomon_gear_is_the_key_stream_of_aes_256) {
  EXPECT_EQ(tables::ronomon_gear31, naive::derived_ronomon_table());
}

TEST(tables, never_change) {
  EXPECT_EQ(sha256_of_lines(tables::fastcdc2020_gear64),
            "61209d8788570ceb59ebf330772169a59decffc7b9c35b58147e8efd0b818b61");
  EXPECT_EQ(sha256_of_lines(tables::ronomon_gear31),
            "7c5fa112315f39e724d2be754c39ca8bb1aa973a8e382eb324df0c8022388e33");
  EXPECT_EQ(sha256_of_lines(tables::xet_gear64), "5dd9bf88cb6516bab9dae1e54c5c9ef0c6888c0b82f4df7fd85a988f734fd055");
  EXPECT_EQ(sha256_of_lines(tables::casync_buzhash32),
            "71f9a7d72f2482ea87d52abfb2486a4a97e767191db00618f7feeb86db14ee74");
  EXPECT_EQ(sha256_of_lines(tables::kopia_buzhash32),
            "f748d6a2ff9206c27bfe07b6b2d5ef80bd2ddb15ce2a8c806354b59a8de89575");
  EXPECT_EQ(sha256_of_lines(tables::ipfs_buzhash32),
            "fe0691d06a731282f4f37370c3cbfbe684f112936b524a9918d56ce85bd60e18");
  EXPECT_EQ(sha256_of_lines(tables::borg1_buzhash32),
            "1ee7c026f65733c4622a7dcccd1c861fa4118ed00364f475a95a32a6b96f6642");
}

}  // namespace
}  // namespace cutpoint::tests
