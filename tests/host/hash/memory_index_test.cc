// The fingerprint index in memory: a digest is absent once, batches answer as single digests do, and the table takes
// the memory that its contract says.
#include <cstring>

#include <cutpoint/memory_index.h>
#include <gtest/gtest.h>

#include "tests/host/algorithms/chunkers.h"

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

/// Whether the digest was absent.
bool insert(memory_index& index, const digest& fingerprint) {
  index_answer answer = index_answer::present;
  EXPECT_TRUE(index.insert({&fingerprint, 1}, {&answer, 1}).ok());
  return answer == index_answer::absent;
}

class memory_index_of : public testing::TestWithParam<fingerprint_info> {};

TEST_P(memory_index_of, knows_what_was_inserted_and_keeps_it_when_moved) {
  memory_index index(GetParam().kind);
  for (int round = 0; round < 2; ++round) {
    for (std::uint64_t i = 0; i < 5000; ++i) EXPECT_EQ(insert(index, numbered(GetParam(), i)), round == 0) << i;
    EXPECT_EQ(index.size(), 5000u);
  }
  memory_index moved = std::move(index);
  EXPECT_FALSE(insert(moved, numbered(GetParam(), 1)));
  moved = memory_index(GetParam().kind);
  EXPECT_TRUE(insert(moved, numbered(GetParam(), 1)));
}

TEST_P(memory_index_of, tells_digests_apart_by_every_byte) {
  memory_index index(GetParam().kind);
  digest base = numbered(GetParam(), 1);
  EXPECT_TRUE(insert(index, base));
  for (std::size_t i = 0; i < GetParam().digest_bytes; ++i) {
    digest other = base;
    other.bytes[i] ^= 1;
    EXPECT_TRUE(insert(index, other)) << i;
  }
  EXPECT_FALSE(insert(index, base));
  EXPECT_EQ(index.size(), 1 + GetParam().digest_bytes);
}

TEST_P(memory_index_of, takes_the_bytes_that_its_contract_says) {
  memory_index index(GetParam().kind);
  EXPECT_EQ(index.memory_bytes(), 0u);
  const auto entry = static_cast<double>(GetParam().digest_bytes + 1);
  for (std::uint64_t i = 0; i < 20'000; ++i) {
    insert(index, numbered(GetParam(), i));
    if (i < 1000) continue;
    const double each = static_cast<double>(index.memory_bytes()) / static_cast<double>(index.size());
    ASSERT_GE(each, entry * 8 / 7 * 0.99);
    ASSERT_LE(each, entry * 16 / 7 * 1.01);
  }
}

TEST_P(memory_index_of, answers_batches_of_any_size_as_single_digests) {
  std::vector<digest> digests;  // with repetitions at many distances, most of them within a batch
  for (std::uint64_t i = 0; i < 3000; ++i) digests.push_back(numbered(GetParam(), i * i % 1009));
  memory_index single(GetParam().kind);
  std::vector<index_answer> expected;
  for (const digest& each : digests) {
    expected.push_back(insert(single, each) ? index_answer::absent : index_answer::present);
  }
  for (const std::size_t batch :
       {std::size_t{1}, std::size_t{15}, std::size_t{17}, std::size_t{1000}, digests.size()}) {
    memory_index index(GetParam().kind);
    std::vector<index_answer> answers(digests.size());
    for (std::size_t i = 0; i < digests.size(); i += batch) {
      const std::size_t count = std::min(batch, digests.size() - i);
      ASSERT_TRUE(index.insert(std::span(digests).subspan(i, count), std::span(answers).subspan(i, count)).ok());
    }
    EXPECT_EQ(answers, expected) << "batches of " << batch;
    EXPECT_EQ(index.size(), single.size());
  }
}

TEST_P(memory_index_of, looks_up_without_inserting) {
  memory_index index(GetParam().kind);
  std::vector<digest> digests;
  for (std::uint64_t i = 0; i < 100; ++i) {
    digests.push_back(numbered(GetParam(), i));
    if (i % 3 == 0) {
      EXPECT_TRUE(insert(index, digests.back()));
    }
  }
  digests.push_back(digests[1]);  // absent twice in one batch
  for (int round = 0; round < 2; ++round) {
    std::vector<index_answer> answers(digests.size());
    ASSERT_TRUE(index.look_up(digests, answers).ok());
    for (std::size_t i = 0; i < 100; ++i) {
      EXPECT_EQ(answers[i], i % 3 == 0 ? index_answer::present : index_answer::absent) << i;
    }
    EXPECT_EQ(answers.back(), index_answer::absent);
  }
  EXPECT_EQ(index.size(), 34u);
  EXPECT_TRUE(index.look_up({}, {}).ok());
}

std::vector<fingerprint_info> real_kinds() {
  std::vector<fingerprint_info> kinds;
  for (const fingerprint_info& info : fingerprints()) {
    if (info.kind != fingerprint_kind::none) kinds.push_back(info);
  }
  return kinds;
}

INSTANTIATE_TEST_SUITE_P(every_kind, memory_index_of, testing::ValuesIn(real_kinds()),
                         [](const auto& tested) { return test_name(tested.param.name); });

}  // namespace
}  // namespace cutpoint::tests
