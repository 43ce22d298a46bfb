// A capped backup refers to few containers of earlier sessions, and restores from those.
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "store/check/check.h"
#include "store/session/container_cap.h"
#include "tests/host/io/temporary_folder.h"
#include "tests/store/support/file_store.h"
#include "tests/store/support/made_trees.h"

namespace cutpoint::tests {
namespace {

using choice = store::container_cap::choice;
using testing::ElementsAre;

std::vector<std::uint64_t> chosen(store::container_cap& cap, std::vector<choice> chunks) {
  cap.choose(chunks);
  std::vector<std::uint64_t> containers;
  for (const choice& each : chunks) containers.push_back(each.chosen);
  return containers;
}

// The limit is one container, and one more for each 100 MiB.

TEST(container_caps, choose_the_containers_with_the_most_bytes) {
  store::container_cap cap(1);
  const std::vector<choice> chunks = {
      {25 * MiB, {1}}, {30 * MiB, {2}}, {10 * MiB, {}}, {15 * MiB, {3}}, {20 * MiB, {3}}};
  EXPECT_THAT(chosen(cap, chunks), ElementsAre(0, 2, 0, 3, 3));
}

TEST(container_caps, count_a_chunk_once_if_several_containers_have_it) {
  store::container_cap cap(1);
  // Container 2 has 80 MiB. Of the rest, container 3 has more than container 1, which has 65 MiB of all.
  const std::vector<choice> chunks = {
      {35 * MiB, {1, 2}}, {25 * MiB, {2, 1}}, {5 * MiB, {1}}, {20 * MiB, {3, 2}}, {15 * MiB, {3}}};
  EXPECT_THAT(chosen(cap, chunks), ElementsAre(2, 2, 0, 2, 3));
}

TEST(container_caps, count_a_container_once_for_several_segments) {
  store::container_cap cap(1);
  EXPECT_THAT(chosen(cap, {{15 * MiB, {1}}, {10 * MiB, {2}}}), ElementsAre(1, 0));
  EXPECT_THAT(chosen(cap, {{20 * MiB, {2}}, {10 * MiB, {1}}}), ElementsAre(0, 1));
  EXPECT_THAT(chosen(cap, {{45 * MiB, {2}}, {5 * MiB, {3, 1}}}), ElementsAre(2, 1)) << "after 100 MiB one more";
  EXPECT_THAT(chosen(cap, {{1025 * MiB, {}}}), ElementsAre(0));
  EXPECT_THAT(chosen(cap, {{2 * MiB, {1}}, {1 * MiB, {2}}}), ElementsAre(1, 0))
      << "after a GiB both are forgotten, and only one was saved up";
}

/// A backup without new content may store the nodes of folders again, whose change times can be trusted meanwhile: the more, the slower
/// the machine is (11,044 bytes were seen). The contents that could be stored again have 30,000 and more.
constexpr std::uint64_t most_node_bytes = 20'000;

/// Backups of a folder that changes a little each time.
class capped_backups : public testing::Test {
 protected:
  void SetUp() override {
    make_small_tree(source_);
    for (int version = 0; version < 6; ++version) {
      // The new bytes come to the container of this version.
      source_.make_file("tree/large" + std::to_string(version),
                        drawn_text(content::random, 30'000, 100 + static_cast<std::uint64_t>(version)));
      source_.make_file("tree/small" + std::to_string(version), std::to_string(version));
      ASSERT_TRUE(file_store(files_).backup(source_ / "tree").ok());
    }
  }
  /// Backs up with a cap, and returns the raw bytes that were stored.
  std::uint64_t backup(std::uint64_t most_old_containers) {
    file_store opened_store(files_);
    opened_store.most_old_containers = most_old_containers;
    const auto done = opened_store.backup(source_ / "tree");
    EXPECT_TRUE(done.ok());
    id_ = done->id;
    return done->facts.statistics.new_raw_bytes;
  }
  /// Restores the last backup, compares it with the source, and returns how many containers were read.
  std::uint64_t read_containers() {
    const temporary_folder target;
    problem_map problems;
    const auto restored = file_store(files_).restore(
        id_, {.path = source_ / "tree", .target = target / "t", .problem = note_in(problems)});
    EXPECT_TRUE(restored.ok());
    EXPECT_EQ(problems, problem_map());
    EXPECT_EQ(facts_of(target / "t"), facts_of(source_ / "tree"));
    return restored->read_containers;
  }
  std::uint64_t moved_chunks() {
    return file_store(files_)
        .with_reading([](const store::store_reading& reading) { return store::check_store(reading, {}); })
        ->moved_chunks;
  }

  const temporary_folder source_;
  std::shared_ptr<volatile_file_system> files_ = make_file_store();
  std::string id_;
};

// The tree is 0.4 MiB long, so that a cap of 1 allows one container, and one of 700 three more.

TEST_F(capped_backups, are_read_from_few_containers) {
  EXPECT_LT(backup(0), most_node_bytes);
  const std::uint64_t scattered = read_containers();
  EXPECT_GE(scattered, 10u);
  const std::uint64_t stored_again = backup(1);
  EXPECT_GT(stored_again, 300'000u);
  EXPECT_LT(stored_again, 400'000u) << "all but one container";
  const std::uint64_t container_of_new = stored_again / (64 * KiB) + 2;
  EXPECT_LE(read_containers(), 1 + container_of_new);
  EXPECT_LT(read_containers(), scattered);
}

TEST_F(capped_backups, store_nothing_again_if_the_cap_allows_all_containers) {
  EXPECT_LT(backup(1'000'000), most_node_bytes);
}

TEST_F(capped_backups, have_hints_that_lead_to_the_containers_that_were_chosen) {
  EXPECT_EQ(moved_chunks(), 0u);
  static_cast<void>(backup(1));
  // Each reference is found where its hint says, also those of nodes whose content was stored before.
  EXPECT_EQ(moved_chunks(), 0u);
  const std::uint64_t first = read_containers();
  // What was stored again is together now, and is chosen before what was scattered.
  static_cast<void>(backup(700));
  EXPECT_LE(read_containers(), first + 1);
}

TEST_F(capped_backups, store_a_chunk_again_once) {
  for (const char* const name : {"copy1", "copy2"}) {
    std::filesystem::copy(source_ / "tree/large", source_ / ("tree/" + std::string(name)));
  }
  const std::uint64_t stored_again = backup(1);
  EXPECT_LT(stored_again, 480'000u) << "the copies are stored with the first";
  static_cast<void>(read_containers());
}

}  // namespace
}  // namespace cutpoint::tests
