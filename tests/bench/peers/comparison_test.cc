// Comparisons: what is measured in which order, which answers are compared, and what the report says of them.
#include <cutpoint/speed.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "bench/peers/peers.h"

namespace cutpoint::bench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

TEST(comparison, takes_turns_and_compares_within_a_round) {
  std::vector<std::string> turns;
  comparison all;
  for (const char* name : {"read", "ours", "theirs"}) {
    all.contenders.push_back({.name = name, .run = [&turns, name] { turns.emplace_back(name); }});
  }
  // In the second round the machine is ten times as slow.
  const std::vector<double> scripted = {100, 20, 5, 2, 0.5, 10, 10, 100, 20};
  measure(all, 3, [&](const std::function<void()>& run) {
    run();
    return scripted[turns.size() - 1];
  });
  EXPECT_THAT(turns, ElementsAre("read", "ours", "theirs", "ours", "theirs", "read", "theirs", "read", "ours"));
  EXPECT_EQ(all.contenders[0].bytes_per_second, 100);
  EXPECT_EQ(all.contenders[1].bytes_per_second, 20);
  EXPECT_DOUBLE_EQ(all.contenders[1].share_of_read, 0.2);
  EXPECT_EQ(all.contenders[2].bytes_per_second, 5);
  EXPECT_DOUBLE_EQ(all.contenders[2].share_of_read, 0.05);
  EXPECT_DOUBLE_EQ(all.contenders[2].our_ratio, 4);
}

/// A peer that cuts every 8 KiB, as `fixed` does, and one that is a byte late.
template <std::size_t Late>
std::size_t cut_fixed(const std::uint8_t*, std::size_t size, std::uint64_t* ends) {
  std::size_t count = 0;
  for (std::size_t end = 8 * KiB + Late; end < size; end += 8 * KiB) ends[count++] = end;
  ends[count++] = size;
  return count;
}

template <bool IsRight>
void hash_by_library(const message* messages, std::size_t count) {
  fingerprinter sha1 = *fingerprinter::make(fingerprint_kind::sha1);
  for (std::size_t i = 0; i < count; ++i) {
    const digest reference_digest = *sha1({messages[i].bytes, messages[i].size});
    std::copy(reference_digest.view().begin(), reference_digest.view().end(), messages[i].digest);
  }
  if constexpr (!IsRight) ++messages[count - 1].digest[19];
}

peer cutter(const char* name, decltype(peer::cut) cut, bool has_same_definition = true) {
  return {
      .name = name, .work = "fixed", .size = "8K", .has_same_definition = has_same_definition, .cut = cut, .hash = {}};
}

peer hasher(const char* name, decltype(peer::hash) hash) {
  return {.name = name, .work = "sha1", .size = "", .has_same_definition = true, .cut = {}, .hash = hash};
}

TEST(comparison, compares_every_cut) {
  const aligned_bytes data = aligned_bytes::random(100'001);
  const std::vector<peer> peers = {cutter("right", cut_fixed<0>), cutter("late", cut_fixed<1>),
                                   cutter("another", cut_fixed<1>, false)};
  const auto contenders = cutting_contenders(peers, data.view());
  ASSERT_TRUE(contenders) << contenders.error().message();
  ASSERT_EQ(contenders->size(), 5u);
  EXPECT_EQ(contenders->at(1).chunk_count, 13u);
  EXPECT_EQ(contenders->at(2).answer, agreement::equal);
  EXPECT_EQ(contenders->at(3).answer, agreement::wrong);
  EXPECT_EQ(contenders->at(4).answer, agreement::other_definition);
  EXPECT_EQ(contenders->at(4).chunk_count, 13u);
}

TEST(comparison, compares_every_digest) {
  const aligned_bytes data = aligned_bytes::random(100'001);
  const std::vector<peer> peers = {hasher("right", hash_by_library<true>), hasher("wrong", hash_by_library<false>)};
  for (const message_set& set : message_sets(data.view())) {
    std::uint64_t covered = 0;
    for (const chunk& each : set.messages) covered += each.length;
    EXPECT_EQ(covered, data.view().size()) << set.name;
    const auto contenders = hashing_contenders(peers, data.view(), set.messages);
    ASSERT_TRUE(contenders) << contenders.error().message();
    EXPECT_EQ(contenders->at(2).answer, agreement::equal) << set.name;
    EXPECT_EQ(contenders->at(3).answer, agreement::wrong) << set.name;
  }
}

TEST(comparison, refuses_what_this_build_cannot_do) {
  peer unknown = cutter("some project", cut_fixed<0>);
  unknown.work = "no-such-algorithm";
  EXPECT_FALSE(cutting_contenders(std::vector{unknown}, aligned_bytes::random(1).view()));
}

TEST(peers, with_the_same_work_and_size_meet) {
  peer other_size = cutter("c", cut_fixed<0>);
  other_size.size = "16K";
  const auto groups = group_by_work(
      {cutter("a", cut_fixed<0>), hasher("h", hash_by_library<true>), other_size, cutter("b", cut_fixed<0>)});
  ASSERT_EQ(groups.size(), 3u);
  EXPECT_EQ(groups[0].work, "fixed 8K");
  EXPECT_EQ(groups[0].peers.size(), 2u);
  EXPECT_EQ(groups[1].work, "sha1");
  EXPECT_EQ(groups[2].work, "fixed 16K");
}

peers_report a_report(agreement answer) {
  comparison all{.input = "random bytes", .data_bytes = 512 * KiB, .work = "fixed 8K", .contenders = {}};
  all.contenders = {{.name = "read", .run = {}, .bytes_per_second = 100e9},
                    {.name = "avx2", .run = {}, .chunk_count = 64, .bytes_per_second = 4e9},
                    {.name = "theirs 1.0", .run = {}, .chunk_count = 65, .answer = answer, .our_ratio = 2}};
  return {.machine = "a processor", .build = "a commit", .rounds = 5, .comparisons = {std::move(all)}};
}

TEST(peers_report, has_no_ratio_for_unequal_answers) {
  const std::string equal = a_report(agreement::equal).table();
  EXPECT_THAT(equal, HasSubstr("random bytes, 512K\n"));
  EXPECT_THAT(equal, HasSubstr(" 2.00  65, equal\n"));
  const std::string other = a_report(agreement::other_definition).table();
  EXPECT_THAT(other, HasSubstr("  -  64 and 65: another definition\n"));
  EXPECT_THAT(a_report(agreement::wrong).table(), HasSubstr("  -  64 and 65: WRONG\n"));
  const auto json = nlohmann::json::parse(a_report(agreement::other_definition).json());
  const auto& peer = json["comparisons"][0]["peers"][0];
  EXPECT_EQ(peer["answer"], "other_definition");
  EXPECT_TRUE(peer["our_ratio"].is_null());
  EXPECT_EQ(json["comparisons"][0]["ours"]["chunk_count"], 64);
}

TEST(peers_report, is_right_unless_an_answer_is_wrong) {
  EXPECT_TRUE(a_report(agreement::equal).is_right());
  EXPECT_TRUE(a_report(agreement::other_definition).is_right());
  EXPECT_FALSE(a_report(agreement::wrong).is_right());
}

}  // namespace
}  // namespace cutpoint::bench
