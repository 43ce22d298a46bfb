// Tests of super-chunks: they cover the files and keep classes apart. tests/cluster_cli/models.py has a plain model of their ends.
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

/// A super-chunk, or a file to make some of.
struct super_chunk {
  class_number application;
  std::vector<routed_chunk> chunks;
};

std::vector<super_chunk> build(const std::vector<super_chunk>& files, const cluster::super_chunk_options& options) {
  std::vector<super_chunk> built;
  super_chunk_builder builder(options, [&](class_number application, std::span<const routed_chunk> chunks) {
    built.push_back({application, {chunks.begin(), chunks.end()}});
  });
  for (const super_chunk& each : files) {
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
    std::vector<super_chunk> files;
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

TEST(cluster_super_chunks, by_content_meet_again_after_a_change) {
  splitmix64 random(4);
  super_chunk original{0, random_chunks(random, 20'000)};
  super_chunk changed = original;
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

}  // namespace
}  // namespace cutpoint::tests
