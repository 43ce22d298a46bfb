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

comparison scripted(const std::string& work, std::vector<std::string>& turns) {
  comparison all{.input = {}, .place = {}, .buffer_bytes = 1, .buffer_count = 2, .work = work, .contenders = {}};
  for (const char* name : {"read", "ours", "theirs"}) {
    all.contenders.push_back({.name = name, .run = [&turns, work, name](std::size_t buffer) {
                                turns.push_back(work + " " + name + " " + std::to_string(buffer));
                              }});
  }
  return all;
}

TEST(comparison, takes_turns_and_compares_within_a_round) {
  std::vector<std::string> turns;
  std::vector<comparison> all = {scripted("a", turns)};
  // In the second round the machine is ten times as slow.
  const std::vector<double> rates = {100, 20, 5, 2, 0.5, 10, 10, 100, 20};
  measure(all, 3, [&](const std::function<void()>& run, std::uint64_t) {
    run();
    return rates[turns.size() - 1];
  });
  EXPECT_THAT(turns, ElementsAre("a read 0", "a ours 0", "a theirs 0", "a ours 1", "a theirs 1", "a read 1",
                                 "a theirs 0", "a read 0", "a ours 0"));
  EXPECT_EQ(all[0].contenders[0].bytes_per_second, 100);
  EXPECT_EQ(all[0].contenders[1].bytes_per_second, 20);
  EXPECT_DOUBLE_EQ(all[0].contenders[1].share_of_read, 0.2);
  EXPECT_EQ(all[0].contenders[2].bytes_per_second, 5);
  EXPECT_DOUBLE_EQ(all[0].contenders[2].share_of_read, 0.05);
  EXPECT_DOUBLE_EQ(all[0].contenders[2].our_ratio, 4);
}

TEST(comparison, a_slow_spell_of_the_machine_changes_no_median) {
  constexpr std::uint64_t rounds = 9;
  std::vector<std::string> turns;
  std::vector<comparison> all = {scripted("a", turns), scripted("b", turns), scripted("c", turns)};
  // The spell has as many turns as a comparison, wherever it begins.
  const std::size_t turns_of_one = rounds * all[0].contenders.size();
  for (std::size_t begin = 0; begin < turns_of_one * all.size(); ++begin) {
    turns.clear();
    measure(all, rounds, [&](const std::function<void()>& run, std::uint64_t) {
      run();
      const std::size_t turn = turns.size() - 1;
      return turn >= begin && turn < begin + turns_of_one ? 1.0 : 2.0;
    });
    for (const comparison& each : all) {
      for (const contender& one : each.contenders) ASSERT_EQ(one.bytes_per_second, 2) << each.work << one.name << begin;
    }
  }
}

TEST(comparison, shows_how_far_the_middle_half_of_the_rounds_lies_apart) {
  std::vector<std::string> turns;
  std::vector<comparison> all = {scripted("a", turns)};
  const std::vector<double> rates = {4, 1, 3, 5, 40, 4, 3, 5, 4};
  measure(all, rates.size(), [&](const std::function<void()>& run, std::uint64_t) {
    run();
    return rates[(turns.size() - 1) / 3];
  });
  EXPECT_DOUBLE_EQ(all[0].contenders[1].spread, 0.5);
}

TEST(comparison, names_the_nearest_cache_that_a_buffer_fills_to_half) {
  const std::vector<cache_info> caches = {{.level = 1, .kind = "data", .bytes = 32 * KiB},
                                          {.level = 1, .kind = "instruction", .bytes = 8 * MiB},
                                          {.level = 2, .kind = "unified", .bytes = 1 * MiB},
                                          {.level = 3, .kind = "unified", .bytes = 32 * MiB}};
  EXPECT_EQ(place_of(512 * KiB, caches), "L2");
  EXPECT_EQ(place_of(512 * KiB + 1, caches), "L3");
  EXPECT_EQ(place_of(1 * GiB, caches), "memory");
  EXPECT_EQ(place_of(512 * KiB, {}), "memory");
}

/// A peer that cuts every 8 KiB, as `fixed` does, and one that is a byte late.
template <std::size_t Late>
std::size_t cut_fixed(const std::uint8_t*, std::size_t size, std::uint64_t* ends) {
  std::size_t count = 0;
  for (std::size_t end = 8 * KiB + Late; end < size; end += 8 * KiB) ends[count++] = end;
  ends[count++] = size;
  return count;
}

/// A peer that is a byte late in the second buffer that it gets.
std::size_t cut_late_in_second(const std::uint8_t* bytes, std::size_t size, std::uint64_t* ends) {
  static int calls = 0;
  return ++calls == 2 ? cut_fixed<1>(bytes, size, ends) : cut_fixed<0>(bytes, size, ends);
}

std::vector<byte_span> buffers_of(const aligned_bytes& data) {
  const std::uint64_t half = data.view().size() / 2;
  return {data.view().first(half), data.view().subspan(half)};
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
  const aligned_bytes data = aligned_bytes::random(200'002);
  const std::vector<peer> peers = {cutter("right", cut_fixed<0>), cutter("late", cut_late_in_second),
                                   cutter("another", cut_fixed<1>, false)};
  const auto contenders = cutting_contenders(peers, buffers_of(data), backend::scalar);
  ASSERT_TRUE(contenders) << contenders.error().message();
  ASSERT_EQ(contenders->size(), 5u);
  EXPECT_EQ(contenders->at(1).name, "scalar");
  EXPECT_EQ(contenders->at(1).chunk_count, 26u);
  EXPECT_EQ(contenders->at(2).answer, agreement::equal);
  EXPECT_EQ(contenders->at(3).answer, agreement::wrong);
  EXPECT_EQ(contenders->at(4).answer, agreement::other_definition);
  EXPECT_EQ(contenders->at(4).chunk_count, 26u);
}

TEST(comparison, compares_every_digest) {
  const aligned_bytes data = aligned_bytes::random(200'002);
  const std::vector<byte_span> buffers = buffers_of(data);
  const std::vector<peer> peers = {hasher("right", hash_by_library<true>), hasher("wrong", hash_by_library<false>)};
  for (const message_set& set : message_sets(buffers)) {
    for (std::size_t i = 0; i < buffers.size(); ++i) {
      std::uint64_t covered = 0;
      for (const byte_span each : set.buffers[i]) covered += each.size();
      EXPECT_EQ(covered, buffers[i].size()) << set.name;
    }
    const auto contenders = hashing_contenders(peers, buffers, set, backend::scalar);
    ASSERT_TRUE(contenders) << contenders.error().message();
    EXPECT_EQ(contenders->at(2).answer, agreement::equal) << set.name;
    EXPECT_EQ(contenders->at(3).answer, agreement::wrong) << set.name;
  }
}

TEST(comparison, refuses_what_this_build_cannot_do) {
  peer unknown = cutter("some project", cut_fixed<0>);
  unknown.work = "no-such-algorithm";
  EXPECT_FALSE(cutting_contenders(std::vector{unknown}, buffers_of(aligned_bytes::random(2)), backend::automatic));
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
  comparison all{.input = "random bytes",
                 .place = "L2",
                 .buffer_bytes = 512 * KiB,
                 .buffer_count = 5,
                 .work = "fixed 8K",
                 .contenders = {}};
  all.contenders = {
      {.name = "read", .run = {}, .bytes_per_second = 100e9},
      {.name = "avx2", .run = {}, .chunk_count = 64, .bytes_per_second = 4e9},
      {.name = "theirs 1.0", .run = {}, .chunk_count = 65, .answer = answer, .our_ratio = 2, .spread = 0.07}};
  return {.machine = "a processor", .build = "a commit", .rounds = 5, .comparisons = {std::move(all)}};
}

TEST(peers_report, has_no_ratio_for_unequal_answers) {
  const std::string equal = a_report(agreement::equal).table();
  EXPECT_THAT(equal, HasSubstr("random bytes, 5 times 512K in L2\n"));
  EXPECT_THAT(equal, HasSubstr(" 2.00    7 %  65, equal\n"));
  const std::string other = a_report(agreement::other_definition).table();
  EXPECT_THAT(other, HasSubstr("  -    7 %  64 and 65: another definition\n"));
  EXPECT_THAT(a_report(agreement::wrong).table(), HasSubstr("  -    7 %  64 and 65: WRONG\n"));
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
