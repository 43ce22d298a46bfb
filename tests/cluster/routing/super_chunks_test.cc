// Tests of super-chunks: they cover the files, keep classes apart and have lengths near the target.
#include "cluster/routing/super_chunks.h"

#include <map>
#include <set>

#include <gtest/gtest.h>

#include "tests/cluster/support/trace_bytes.h"

namespace cutpoint::tests {
namespace {

using cluster::class_number;
using cluster::routed_chunk;
using cluster::super_chunk_builder;
using cluster::super_chunk_cuts;

struct super_chunk {
  class_number application;
  std::vector<routed_chunk> chunks;

  [[nodiscard]] std::uint64_t byte_count() const {
    std::uint64_t sum = 0;
    for (const routed_chunk& each : chunks) sum += each.length;
    return sum;
  }
};

struct file {
  class_number application;
  std::vector<routed_chunk> chunks;
};

std::vector<super_chunk> build(const std::vector<file>& files, const cluster::super_chunk_options& options) {
  std::vector<super_chunk> built;
  super_chunk_builder builder(options, [&](class_number application, std::span<const routed_chunk> chunks) {
    built.push_back({application, {chunks.begin(), chunks.end()}});
  });
  for (const file& each : files) {
    builder.begin_file(each.application);
    for (const routed_chunk& chunk : each.chunks) builder.add(chunk);
    builder.end_file();
  }
  builder.finish();
  return built;
}

std::vector<std::uint64_t> fingerprints(const std::vector<routed_chunk>& chunks) {
  std::vector<std::uint64_t> all;
  for (const routed_chunk& each : chunks) all.push_back(each.fingerprint);
  return all;
}

TEST(cluster_super_chunks, have_each_chunk_once_and_only_of_their_class) {
  splitmix64 random(1);
  for (const super_chunk_cuts cuts : {super_chunk_cuts::content, super_chunk_cuts::fixed}) {
    std::vector<file> files;
    std::map<class_number, std::multiset<std::uint64_t>> expected;
    for (int i = 0; i < 200; ++i) {
      files.push_back({static_cast<class_number>(random.next() % 4), random_chunks(random, random.next() % 90)});
      for (const std::uint64_t each : fingerprints(files.back().chunks)) {
        expected[files.back().application].insert(each);
      }
    }
    std::map<class_number, std::multiset<std::uint64_t>> chunks;
    for (const super_chunk& each : build(files, {.cuts = cuts, .target_bytes = 128 * 1024})) {
      ASSERT_FALSE(each.chunks.empty());
      const auto all = fingerprints(each.chunks);
      chunks[each.application].insert(all.begin(), all.end());
    }
    EXPECT_EQ(chunks, expected);
  }
}

TEST(cluster_super_chunks, by_content_have_lengths_about_the_target) {
  constexpr std::uint64_t target = 1024 * 1024;
  constexpr std::uint64_t longest_chunk = 6144;
  splitmix64 random(2);
  const auto built = build({{0, random_chunks(random, 400'000)}}, {.target_bytes = target});
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i + 1 < built.size(); ++i) {
    ASSERT_GE(built[i].byte_count(), target / 2);
    ASSERT_LT(built[i].byte_count(), 2 * target + longest_chunk);
    sum += built[i].byte_count();
  }
  EXPECT_NEAR(static_cast<double>(sum) / static_cast<double>(built.size() - 1), target, target / 20.0);
}

TEST(cluster_super_chunks, of_fixed_length_end_at_the_target) {
  splitmix64 random(3);
  const auto built = build({{0, random_chunks(random, 5000)}}, {super_chunk_cuts::fixed, 100'000});
  for (std::size_t i = 0; i + 1 < built.size(); ++i) {
    ASSERT_GE(built[i].byte_count(), 100'000U);
    ASSERT_LT(built[i].byte_count() - built[i].chunks.back().length, 100'000U);
  }
}

TEST(cluster_super_chunks, by_content_meet_again_after_a_change) {
  splitmix64 random(4);
  file original{0, random_chunks(random, 20'000)};
  file changed = original;
  changed.chunks.erase(changed.chunks.begin() + 10, changed.chunks.begin() + 15);
  const auto common_super_chunks = [&](super_chunk_cuts cuts) {
    std::set<std::vector<std::uint64_t>> known;
    for (const super_chunk& each : build({original}, {.cuts = cuts})) known.insert(fingerprints(each.chunks));
    std::size_t common = 0;
    for (const super_chunk& each : build({changed}, {.cuts = cuts})) common += known.count(fingerprints(each.chunks));
    return static_cast<double>(common) / static_cast<double>(known.size());
  };
  EXPECT_GT(common_super_chunks(super_chunk_cuts::content), 0.9);
  EXPECT_LT(common_super_chunks(super_chunk_cuts::fixed), 0.5);
}

TEST(cluster_super_chunks, small_files_share_and_large_files_do_not) {
  constexpr std::uint64_t target = 64 * 1024;
  splitmix64 random(5);
  const file small{0, random_chunks(random, 3)};
  const file large{0, random_chunks(random, 100)};
  const file other_small{0, random_chunks(random, 2)};
  const auto built = build({small, large, other_small}, {.target_bytes = target});
  ASSERT_GE(built.size(), 3U);
  EXPECT_EQ(built.front().chunks.front().fingerprint, large.chunks.front().fingerprint);
  std::vector<routed_chunk> both = small.chunks;
  both.insert(both.end(), other_small.chunks.begin(), other_small.chunks.end());
  EXPECT_EQ(fingerprints(built.back().chunks), fingerprints(both));
}

}  // namespace
}  // namespace cutpoint::tests
