// Tests that the fingerprint index finds each digest new once, and that its table takes the memory that its contract
// says.
#include <cstring>
#include <utility>

#include <cutpoint/fingerprint_index.h>
#include <gtest/gtest.h>

namespace cutpoint::tests {
namespace {

/// Makes a digest of the kind for a number. Different numbers give different digests, and each execution gives the
/// same.
digest numbered(const fingerprint_info& kind, std::uint64_t number) {
  auto make = fingerprinter::make(kind.kind);
  EXPECT_TRUE(make.ok());
  std::array<std::uint8_t, sizeof number> bytes;
  std::memcpy(bytes.data(), &number, sizeof number);
  return *(*make)(bytes);
}

class fingerprint_index_of : public testing::TestWithParam<fingerprint_info> {};

TEST_P(fingerprint_index_of, knows_what_was_inserted) {
  fingerprint_index index(GetParam().kind);
  EXPECT_EQ(index.size(), 0u);
  for (int round = 0; round < 2; ++round) {
    for (std::uint64_t i = 0; i < 5000; ++i) EXPECT_EQ(index.insert(numbered(GetParam(), i)), round == 0) << i;
    EXPECT_EQ(index.size(), 5000u);
  }
}

TEST_P(fingerprint_index_of, tells_digests_apart_by_every_byte) {
  fingerprint_index index(GetParam().kind);
  digest base = numbered(GetParam(), 1);
  EXPECT_TRUE(index.insert(base));
  for (std::size_t i = 0; i < GetParam().digest_bytes; ++i) {
    digest other = base;
    other.bytes[i] ^= 1;
    EXPECT_TRUE(index.insert(other)) << i;
  }
  EXPECT_FALSE(index.insert(base));
  EXPECT_EQ(index.size(), 1 + GetParam().digest_bytes);
}

TEST_P(fingerprint_index_of, takes_the_bytes_that_its_contract_says) {
  fingerprint_index index(GetParam().kind);
  EXPECT_EQ(index.memory_bytes(), 0u);
  const auto entry = static_cast<double>(GetParam().digest_bytes + 1);
  for (std::uint64_t i = 0; i < 20'000; ++i) {
    index.insert(numbered(GetParam(), i));
    if (i < 1000) continue;
    const double each = static_cast<double>(index.memory_bytes()) / static_cast<double>(index.size());
    ASSERT_GE(each, entry * 8 / 7 * 0.99);
    ASSERT_LE(each, entry * 16 / 7 * 1.01);
  }
}

TEST_P(fingerprint_index_of, keeps_its_entries_when_moved) {
  fingerprint_index index(GetParam().kind);
  EXPECT_TRUE(index.insert(numbered(GetParam(), 1)));
  fingerprint_index moved = std::move(index);
  EXPECT_FALSE(moved.insert(numbered(GetParam(), 1)));
  moved = fingerprint_index(GetParam().kind);
  EXPECT_TRUE(moved.insert(numbered(GetParam(), 1)));
}

std::vector<fingerprint_info> real_kinds() {
  std::vector<fingerprint_info> kinds;
  for (const fingerprint_info& info : fingerprints()) {
    if (info.kind != fingerprint_kind::none) kinds.push_back(info);
  }
  return kinds;
}

INSTANTIATE_TEST_SUITE_P(every_kind, fingerprint_index_of, testing::ValuesIn(real_kinds()), [](const auto& tested) {
  std::string name(tested.param.name);
  for (char& c : name) c = c == '-' || c == '/' ? '_' : c;
  return name;
});

}  // namespace
}  // namespace cutpoint::tests
