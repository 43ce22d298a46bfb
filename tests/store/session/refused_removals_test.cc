// Who may not remove backs up all the same, whatever happens, and leaves nothing that harms: the owner's next prune removes it.
#include <cerrno>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <cutpoint/store.h>
#include <gtest/gtest.h>

#include "tests/host/io/temporary_folder.h"
#include "tests/host/support/streams.h"
#include "tests/host/support/value_of.h"
#include "tests/store/support/far_storage.h"
#include "tests/store/support/stored_files.h"

namespace cutpoint::tests {
namespace {

using store::object_kind;
using kinds = std::set<object_kind>;

constexpr std::int64_t hour = 3'600'000'000'000;

kinds all_kinds() {
  kinds all;
  for (std::size_t i = 0; i < store::object_kind_count; ++i) all.insert(static_cast<object_kind>(i));
  return all;
}

/// What may not be removed: nothing, each kind by itself, and everything.
std::vector<kinds> all_refusals() {
  std::vector<kinds> refusals = {{}, all_kinds()};
  for (const object_kind each : all_kinds()) refusals.push_back({each});
  return refusals;
}

class refused_removals : public testing::TestWithParam<kinds> {
 protected:
  /// A place with a store that has a snapshot.
  [[nodiscard]] std::shared_ptr<far_place> make_place() {
    auto place = std::make_shared<far_place>();
    EXPECT_TRUE(backup_store::create({far_opener(place), "far"}, {.cuts = {}, .container_bytes = 64 * KiB}).ok());
    auto opened_store = value_of(open(place));
    EXPECT_TRUE(back_up(opened_store, 0).ok());
    static_cast<void>(place->take_requests());
    return place;
  }
  [[nodiscard]] static result<backup_store> open(const std::shared_ptr<far_place>& place) {
    return backup_store::open({far_opener(place), "far"});
  }
  result<store_snapshot> back_up(backup_store& opened_store, std::uint64_t seed) {
    folder_.make_file("tree/file", drawn_text(content::random, 200'000, seed));
    return opened_store.back_up(threads_, {.paths = {folder_ / "tree"}, .host = "h"});
  }
  /// Expects that nothing was tried that is refused.
  static void expect_obedience(far_place& place) {
    const auto asked = place.take_requests();
    for (const object_kind each : place.refused_removals) {
      const std::string folder(each == object_kind::config ? "config" : folder_of(each));
      EXPECT_EQ(asked.count("remove " + folder), 0u);
    }
  }
  /// Expects that the owner finds a whole store with so many snapshots, and that nothing is left after two prunes.
  static void expect_whole(const std::shared_ptr<far_place>& place, std::size_t snapshots) {
    place->refused_removals.clear();
    auto owner = value_of(open(place));
    EXPECT_EQ(owner.snapshots()->size(), snapshots);
    expect_clean(owner);
    for (int i = 0; i < 2; ++i) EXPECT_TRUE(value_of(owner.prune({.most_unused = 0})).awaited.empty());
    EXPECT_EQ(place->count(object_kind::lease), 0u);
    EXPECT_EQ(place->count(object_kind::temporary), 0u);
    EXPECT_EQ(owner.snapshots()->size(), snapshots);
    expect_clean(owner);
  }

  const temporary_folder folder_;
  engine threads_ = value_of(engine::make({.threads = 2}));
};

TEST_P(refused_removals, cost_no_backup) {
  const auto place = make_place();
  place->refused_removals = GetParam();
  for (std::uint64_t i = 1; i < 6; ++i) {
    auto opened_store = value_of(open(place));
    const auto snapshot = back_up(opened_store, i);
    ASSERT_TRUE(snapshot.ok()) << snapshot.error().message();
    EXPECT_TRUE(opened_store.sessions()->empty()) << "they have ended, though their leases may be there";
  }
  expect_obedience(*place);
  expect_whole(place, 6);
}

TEST_P(refused_removals, change_no_outcome_of_a_backup_without_room) {
  for (std::size_t puts = 0;; ++puts) {
    std::vector<int> outcomes;
    for (const kinds& refused : {kinds(), GetParam()}) {
      const auto place = make_place();
      place->refused_removals = refused;
      auto opened_store = value_of(open(place));
      place->objects->puts_until_full = puts;
      const auto snapshot = back_up(opened_store, 1);
      outcomes.push_back(snapshot ? 0 : snapshot.error().system_error());
      place->objects->puts_until_full = SIZE_MAX;
      EXPECT_EQ(open(place)->snapshots()->size(), snapshot ? 2u : 1u);
      place->clock_offset = hour;  // whatever was left has expired
      auto later = value_of(open(place));
      EXPECT_TRUE(back_up(later, 2).ok());
      expect_obedience(*place);
      expect_whole(place, snapshot ? 3 : 2);
    }
    ASSERT_EQ(outcomes[0], outcomes[1]) << puts;
    if (outcomes[0] == 0) break;
    ASSERT_EQ(outcomes[0], ENOSPC);
    ASSERT_LT(puts, 100u);
  }
}

TEST_P(refused_removals, change_no_outcome_of_a_backup_that_is_killed) {
  for (std::size_t changes = 0;; ++changes) {
    const auto place = make_place();
    place->refused_removals = GetParam();
    {
      auto opened_store = value_of(open(place));
      place->changes_until_cut_off = changes;
      static_cast<void>(back_up(opened_store, 1));
    }
    const bool was_cut_off = place->is_cut_off();
    place->changes_until_cut_off = SIZE_MAX;
    place->clock_offset = hour;  // its lease has expired
    const std::size_t before = open(place)->snapshots()->size();
    EXPECT_GE(before, 1u);
    for (std::uint64_t i = 2; i < 4; ++i) {
      auto later = value_of(open(place));
      ASSERT_TRUE(back_up(later, i).ok());
    }
    expect_obedience(*place);
    expect_whole(place, before + 2);
    if (!was_cut_off) break;
    ASSERT_LT(changes, 100u);
  }
}

TEST_P(refused_removals, change_no_outcome_of_a_backup_whose_number_another_takes) {
  const auto place = make_place();
  place->refused_removals = GetParam();
  auto opened_store = value_of(open(place));
  auto other = value_of(open(place));
  folder_.make_file("other/file", "other");
  bool has_begun = false;
  place->before_put = [&](const store::object_name& name) {
    if (name.kind != object_kind::log_entry || std::exchange(has_begun, true)) return;
    ASSERT_TRUE(other.back_up(threads_, {.paths = {folder_ / "other"}, .host = "h"}).ok());
  };
  ASSERT_TRUE(back_up(opened_store, 1).ok());
  EXPECT_TRUE(has_begun);
  EXPECT_EQ(open(place)->snapshots()->size(), 3u);
  expect_obedience(*place);
  expect_whole(place, 3);
  auto owner = value_of(open(place));
  ASSERT_TRUE(owner.remove_snapshot(owner.snapshots()->front().id).ok());
  ASSERT_TRUE(owner.prune({.most_unused = 0}).ok());
  EXPECT_EQ(place->count(object_kind::snapshot), 2u) << "a decision sweeps the one that lost its number";
}

INSTANTIATE_TEST_SUITE_P(of_kinds, refused_removals, testing::ValuesIn(all_refusals()), [](const auto& tested) {
  if (tested.param.empty()) return std::string("none");
  if (tested.param.size() > 1) return std::string("all");
  const std::string_view folder = folder_of(*tested.param.begin());
  return folder.empty() ? std::string("config") : std::string(folder);
});

using refused_removal = refused_removals;

TEST_F(refused_removal, is_named_by_what_needs_it) {
  const auto place = make_place();
  auto opened_store = value_of(open(place));
  const auto snapshot = value_of(back_up(opened_store, 1));
  static_cast<void>(place->take_requests());
  for (const object_kind each : {object_kind::container, object_kind::shard, object_kind::snapshot, object_kind::key,
                                 object_kind::log_entry, object_kind::removal}) {
    place->refused_removals = {each};
    const auto pruned = opened_store.prune({});
    ASSERT_FALSE(pruned.ok());
    EXPECT_EQ(pruned.error().system_error(), EACCES);
    EXPECT_NE(pruned.error().message().find("does not let this user remove " + std::string(folder_of(each))),
              std::string::npos)
        << pruned.error().message();
  }
  place->refused_removals = {object_kind::snapshot};
  EXPECT_EQ(opened_store.remove_snapshot(snapshot.id).system_error(), EACCES);
  EXPECT_EQ(place->take_requests().count("remove"), 0u);
  EXPECT_EQ(opened_store.snapshots()->size(), 2u);
  EXPECT_TRUE(back_up(opened_store, 2).ok()) << "nothing has failed for good";
}

TEST_F(refused_removal, of_shards_leaves_the_index_as_it_is) {
  const auto place = make_place();
  place->refused_removals = {object_kind::shard};
  for (std::uint64_t i = 1; i < 9; ++i) {
    auto opened_store = value_of(open(place));
    ASSERT_TRUE(back_up(opened_store, i).ok());
  }
  EXPECT_EQ(place->count(object_kind::shard), 9u) << "no merge leaves a copy of it";
  place->refused_removals.clear();
  auto owner = value_of(open(place));
  ASSERT_TRUE(back_up(owner, 9).ok());
  EXPECT_LT(place->count(object_kind::shard), 9u) << "whoever may remove merges them";
}

TEST_F(refused_removal, of_leases_hides_no_lost_entry_of_the_log) {
  const auto place = make_place();
  place->refused_removals = {object_kind::lease};
  auto opened_store = value_of(open(place));
  ASSERT_TRUE(back_up(opened_store, 1).ok());
  ASSERT_EQ(place->objects->objects.erase({object_kind::log_entry, "0000000000000002"}), 1u);
  ASSERT_NE(place->count(object_kind::lease), 0u) << "of a session that has ended";
  auto reader = value_of(open(place));
  EXPECT_EQ(reader.check({})->object_problems, 1u);
}

TEST_F(refused_removal, of_leases_ends_a_session_of_others_once) {
  const auto place = make_place();
  place->refused_removals = {object_kind::lease};
  {
    auto opened_store = value_of(open(place));
    place->changes_until_cut_off = 3;  // its lease, and some of what it stores
    ASSERT_FALSE(back_up(opened_store, 1).ok());
    place->changes_until_cut_off = SIZE_MAX;
  }
  ASSERT_EQ(place->count(object_kind::lease), 1u);
  EXPECT_EQ(open(place)->sessions()->size(), 1u);
  place->clock_offset = hour;
  auto opened_store = value_of(open(place));
  ASSERT_TRUE(back_up(opened_store, 2).ok());
  EXPECT_EQ(place->count(object_kind::lease), 4u) << "an end of the session, and two leases of the next";
  EXPECT_TRUE(opened_store.sessions()->empty());
  ASSERT_TRUE(back_up(opened_store, 3).ok());
  EXPECT_EQ(place->count(object_kind::lease), 6u) << "nothing more is done for those that have ended";
}

}  // namespace
}  // namespace cutpoint::tests
