// Containers that no shard names lie below sessions that have leases, so that few of them are ever listed.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "store/format/failure.h"
#include "store/objects/lease.h"
#include "store/session/leased_session.h"
#include "store/upkeep/upkeep.h"
#include "tests/store/support/made_store.h"
#include "tests/store/support/small_store.h"
#include "tests/store/support/whole_session.h"

namespace cutpoint::tests {
namespace {

using store::object_kind;
using testing::Contains;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

/// Returns the containers that no shard names.
std::vector<std::string> unnamed(const made_store& disk_store) {
  auto ids = names(disk_store, object_kind::container);
  disk_store.open()->shards().leave_unnamed(ids);
  return ids;
}

/// Puts about `count` containers of a session, of which no shard knows.
void put_containers(store::leased_session& session, std::uint64_t count) {
  auto records = *session.open_records();
  for (std::uint64_t i = 0; i <= count; ++i) {
    const std::vector<std::uint8_t> bytes(60'000, static_cast<std::uint8_t>(i));
    const auto size = static_cast<std::uint32_t>(bytes.size());
    ASSERT_TRUE(
        records.append({store::record_kind::chunk, store::record_codec::none, size, size, digest_of(bytes)}, bytes)
            .ok());
  }
  ASSERT_TRUE(session.objects().sync().ok());
}

/// Leaves a session as a process does that was killed. Returns its id.
std::string abandon_session(const made_store& disk_store) {
  const auto opened_store = disk_store.open();
  auto session = *store::leased_session::begin(*opened_store);
  put_containers(*session, 3);
  disk_store.files->stop_at(0);
  const std::string name = session->name();
  session.reset();
  disk_store.files->stop_at(volatile_file_system::never);
  // The process runs still, so the lease is replaced by one that has expired.
  const auto objects = disk_store.open_storage("x");
  for (const std::string& each : names(disk_store, object_kind::lease)) {
    EXPECT_TRUE(objects->remove({object_kind::lease, each}).ok());
  }
  const store::lease expired{.time = 1, .duration = 1, .epoch = 0, .process = {}, .owner = "dead"};
  EXPECT_TRUE(store::put_lease(*objects, name + ".00000009", expired, {}).ok());
  return name;
}

std::uint64_t problems_of(const made_store& disk_store) {
  const auto opened_store = disk_store.open();
  return store::check_store(opened_store->reading(), {})->object_problems;
}

TEST(ended_sessions, leave_nothing_unnamed) {
  const made_store disk_store;
  const auto opened_store = disk_store.open();
  auto session = *store::leased_session::begin(*opened_store);
  put_containers(*session, 3);
  EXPECT_THAT(unnamed(disk_store), SizeIs(3));
  session.reset();
  EXPECT_THAT(names(disk_store, object_kind::container), SizeIs(3));
  EXPECT_THAT(unnamed(disk_store), IsEmpty());
  EXPECT_THAT(names(disk_store, object_kind::lease), IsEmpty());
}

TEST(ended_sessions, remove_what_there_is_no_room_to_name) {
  const made_store disk_store;
  const auto opened_store = disk_store.open();
  auto session = *store::leased_session::begin(*opened_store);
  put_containers(*session, 3);
  disk_store.files->full_folder = "shards/";
  session.reset();
  EXPECT_THAT(names(disk_store, object_kind::container), IsEmpty());
  EXPECT_THAT(names(disk_store, object_kind::lease), IsEmpty());

  // What a dead session has stored stays, and its lease with it. Sessions and prunes do not wait for that.
  const std::string dead = abandon_session(disk_store);
  EXPECT_TRUE(store::leased_session::begin(*opened_store).ok());
  EXPECT_THAT(names(disk_store, object_kind::lease), Contains(dead + ".00000009"));
  EXPECT_THAT(names(disk_store, object_kind::container), SizeIs(3));
  EXPECT_TRUE(store::is_lack_of_room(store::end_sessions(*opened_store, {dead})));
  disk_store.files->full_folder.clear();
  EXPECT_THAT(value_of(store::prune_store(*opened_store, {})).awaited, IsEmpty());
  EXPECT_THAT(names(disk_store, object_kind::container), IsEmpty());
  EXPECT_THAT(names(disk_store, object_kind::lease), IsEmpty());
}

TEST(ended_sessions, keep_what_others_have_named) {
  const made_store disk_store;
  const auto opened_store = disk_store.open();
  auto session = *store::leased_session::begin(*opened_store);
  put_containers(*session, 3);
  ASSERT_TRUE(store::end_sessions(*disk_store.open(), {session->name()}).ok());  // which takes it for dead
  const auto named = names(disk_store, object_kind::container);
  put_containers(*session, 3);
  EXPECT_THAT(names(disk_store, object_kind::container), SizeIs(6));
  disk_store.files->full_folder = "shards/";
  session.reset();
  EXPECT_EQ(names(disk_store, object_kind::container), named);
  EXPECT_EQ(problems_of(disk_store), 0u);
}

TEST(ended_sessions, are_used_by_the_next) {
  const made_store disk_store;
  abandon_session(disk_store);
  EXPECT_THAT(unnamed(disk_store), SizeIs(3));
  EXPECT_EQ(problems_of(disk_store), 0u);
  EXPECT_TRUE(store::leased_session::begin(*disk_store.open()).ok());
  EXPECT_THAT(names(disk_store, object_kind::container), SizeIs(3));
  EXPECT_THAT(unnamed(disk_store), IsEmpty());
  EXPECT_THAT(names(disk_store, object_kind::lease), IsEmpty());
}

TEST(containers, are_not_all_listed_in_the_normal_course) {
  const made_store disk_store;
  const auto opened_store = disk_store.open();
  abandon_session(disk_store);
  ASSERT_TRUE(back_up(*opened_store, overlapping_files(1, 60'000)).ok());  // makes the first index
  disk_store.files->listed.clear();
  snapshot_map snapshots;
  const file_map files = overlapping_files(2, 60'000);
  const auto forgotten = value_of(back_up(*opened_store, overlapping_files(3, 60'000)));
  snapshots[value_of(back_up(*opened_store, files))] = files;
  ASSERT_TRUE(forget(*opened_store, forgotten).ok());
  ASSERT_TRUE(store::prune_store(*opened_store, {.most_unused = 0}).ok());
  EXPECT_EQ(loss_in(*disk_store.open(), snapshots), "");
  EXPECT_TRUE(store::report_store(*opened_store, {}).ok());
  EXPECT_THAT(disk_store.files->listed, Contains("shards"));
  EXPECT_THAT(disk_store.files->listed, Not(Contains("containers")));
}

TEST(containers, are_found_though_a_shard_is_damaged_or_lost) {
  const made_store disk_store;
  snapshot_map snapshots;
  for (std::uint64_t i = 1; i <= 3; ++i) {
    const file_map files = overlapping_files(i, 60'000);
    snapshots[value_of(back_up(*disk_store.open(), files))] = files;
  }
  const auto shards = names(disk_store, object_kind::shard);
  ASSERT_GT(shards.size(), 1u);
  disk_store.files->bytes_of("shards/" + shards.front())->resize(50);
  EXPECT_EQ(loss_in(*disk_store.open(), snapshots), "") << "readers find them";
  EXPECT_GT(problems_of(disk_store), 0u) << "a check names them";
  EXPECT_EQ(value_of(store::repair_store(*disk_store.open(), {})).lost_files, 0u);
  EXPECT_EQ(problems_of(disk_store), 0u) << "a repair names them";
  ASSERT_TRUE(disk_store.files->remove("shards/" + names(disk_store, object_kind::shard).back()).ok());
  ASSERT_TRUE(store::prune_store(*disk_store.open(), {.most_unused = 0}).ok());
  EXPECT_EQ(problems_of(disk_store), 0u) << "so does a prune that misses a record";
  EXPECT_EQ(loss_in(*disk_store.open(), snapshots), "");
}

// A session commits only what exists and will stay, whatever a prune does meanwhile, and nobody sees a snapshot that is not whole.

using testing::HasSubstr;

/// A session that has stored a folder of one file, and has not committed it.
struct open_session {
  explicit open_session(const made_store& disk_store)
      : opened_store(disk_store.open()), session(*store::leased_session::begin(*opened_store)) {
    const auto writer = *session->open_writer();
    auto digests = *store::record_fingerprinter::make(opened_store->fingerprint());
    facts.root = *store_files(writer->records, digests, {{"file", std::vector<std::uint8_t>(1000, 7)}});
    EXPECT_TRUE(writer->records.finish().ok());
  }
  [[nodiscard]] result<store::open_store::listed_snapshot> commit() { return store::commit_snapshot(*session, facts); }
  /// Commits as a program would that publishes first and audits after that.
  [[nodiscard]] result<store::open_store::listed_snapshot> commit_without_audit() {
    auto id = value_of(store::put_snapshot(session->objects(), facts, opened_store->key()));
    EXPECT_TRUE(session->objects().sync().ok());
    store::log_entry entry;
    entry.snapshots = {id};
    EXPECT_TRUE(store::append_change(*session, entry).ok());
    return store::open_store::listed_snapshot{id, facts};
  }

  std::unique_ptr<store::open_store> opened_store;
  std::unique_ptr<store::leased_session> session;
  store::snapshot facts;
};

store::store_log log_of(const made_store& disk_store) { return *store::read_log(*disk_store.open_storage("n"), {}); }

std::set<store::container_name> containers_of(const made_store& disk_store) {
  std::set<store::container_name> containers;
  for (const std::string& each : names(disk_store, object_kind::container)) {
    containers.insert(*store::container_name_of(each));
  }
  return containers;
}

/// Appends to the log what another process may append. Returns whether it counts.
bool append(const made_store& disk_store, const store::store_log& known, const store::log_entry& entry) {
  const auto number =
      value_of(store::append_to_log(*disk_store.open_storage(store::new_session_id()), {}, known, entry));
  return number.has_value();
}

store::log_entry decision_on(std::set<store::container_name> containers, const store::store_log& known) {
  store::log_entry entry;
  entry.kind = store::log_entry_kind::decision;
  entry.removed_containers = std::move(containers);
  entry.snapshots = known.snapshots;
  return entry;
}

TEST(commit, names_what_was_decided_to_be_removed_or_found_to_be_damaged) {
  for (const bool is_removed : {true, false}) {
    const made_store disk_store;
    open_session session(disk_store);
    const auto log = log_of(disk_store);
    store::log_entry entry = decision_on(containers_of(disk_store), log);
    if (!is_removed) {
      entry = {};
      entry.condemned_containers = containers_of(disk_store);
    }
    ASSERT_TRUE(append(disk_store, log, entry));
    const status refused = error_of(session.commit());
    EXPECT_THAT(refused.message(), HasSubstr("nothing was committed"));
    EXPECT_THAT(refused.message(), HasSubstr("the record " + to_hex(session.facts.root.content)));
    EXPECT_THAT(log_of(disk_store).snapshots, IsEmpty());
  }
}

TEST(commit, reads_no_container_again_if_nothing_was_removed) {
  const made_store disk_store;
  open_session session(disk_store);
  ASSERT_TRUE(back_up(*disk_store.open(), {}).ok());  // another commit is no reason
  disk_store.files->meanwhile = [](const std::string& path) { EXPECT_FALSE(path.starts_with("containers")) << path; };
  EXPECT_TRUE(session.commit().ok());
}

TEST(commit, counts_if_the_lease_cannot_be_given_up) {
  const made_store disk_store;
  open_session session(disk_store);
  const auto done = value_of(session.commit());
  disk_store.files->stop_at(disk_store.files->calls());
  EXPECT_FALSE(session.session->lease().give_up().ok());
  EXPECT_THAT(log_of(disk_store).snapshots, testing::ElementsAre(done.id));
}

TEST(commit, takes_the_place_of_another_snapshot_or_fails) {
  const made_store disk_store;
  const auto opened_store = disk_store.open();
  const auto first = back_up(*opened_store, {{"a", {1}}});
  ASSERT_TRUE(back_up(*opened_store, {{"b", {1}}}).ok());
  open_session session(disk_store);
  session.facts.sequence = opened_store->read(*first)->sequence;
  const store::original_snapshot original{*first};
  const auto done = value_of(store::commit_snapshot(*session.session, session.facts, original));
  const auto all = *disk_store.open()->snapshots({});
  ASSERT_THAT(all, SizeIs(2));
  EXPECT_EQ(all.front().id, done.id) << "it keeps the sequence number";
  EXPECT_EQ(all.front().facts, done.facts) << "also with its original";
  EXPECT_EQ(all.front().facts.original, *first);
  EXPECT_GT(all.front().facts.edited, 0);
  EXPECT_TRUE(store::is_absence(store::commit_snapshot(*session.session, session.facts, original).error()));
  EXPECT_THAT(log_of(disk_store).snapshots, SizeIs(2));
}

TEST(commit, brings_no_snapshot_back_that_was_removed) {
  for (const bool is_replaced : {true, false}) {
    const made_store disk_store;
    const auto opened_store = disk_store.open();
    const auto first = back_up(*opened_store, {{"a", {1}}});
    open_session session(disk_store);
    ASSERT_TRUE(disk_store.open_storage("other")->remove({object_kind::snapshot, *first}).ok());
    const auto version =
        store::commit_snapshot(*session.session, session.facts, store::original_snapshot{*first, is_replaced});
    EXPECT_TRUE(store::is_absence(error_of(version)));
    EXPECT_THAT(*disk_store.open()->snapshots({}), IsEmpty());
  }
}

TEST(commit, puts_a_version_behind_the_snapshot_that_stays) {
  const made_store disk_store;
  const auto opened_store = disk_store.open();
  const auto first = back_up(*opened_store, {{"a", {1}}});
  const auto second = back_up(*opened_store, {{"b", {1}}});
  open_session session(disk_store);
  std::vector<std::string> expected = {*first};
  for (std::uint8_t i = 0; i < 5; ++i) {  // whatever their ids are
    session.facts = *opened_store->read(expected.back());
    session.facts.tags = {std::to_string(i)};
    const auto done = value_of(store::commit_snapshot(
        *session.session, session.facts, store::original_snapshot{.id = expected.back(), .is_replaced = false}));
    EXPECT_EQ(done.facts.original, *first) << "not a version of it";
    expected.push_back(done.id);
  }
  expected.push_back(*second);
  std::vector<std::string> ids;
  const auto all = *disk_store.open()->snapshots({});
  for (const auto& each : all) ids.push_back(each.id);
  EXPECT_EQ(ids, expected);
}

// --- beside a prune -----------------------------------------------------------------------------------------------------

/// A prune as docs/formats/store.md describes it, which takes all sessions for dead.
class modelled_prune {
 public:
  explicit modelled_prune(const made_store& disk_store) : disk_store_(disk_store) {}

  /// Reads the log, and marks.
  void choose() {
    known_ = log_of(disk_store_);
    chosen_ = known_.snapshots.empty() ? containers_of(disk_store_) : std::set<store::container_name>();
  }
  void remove_containers() {
    is_decided_ = is_decided_ || append(disk_store_, known_, decision_on(chosen_, known_));
    if (!is_decided_) return;
    const auto objects = disk_store_.open_storage("prune");
    for (const auto& each : chosen_) EXPECT_TRUE(objects->remove({object_kind::container, store::id_of(each)}).ok());
    EXPECT_TRUE(objects->sync().ok());
  }
  void remove_entries() {
    if (!is_decided_) return;
    const auto objects = disk_store_.open_storage("prune");
    EXPECT_TRUE(store::remove_entries_before(*objects, log_of(disk_store_).decision).ok() && objects->sync().ok());
  }

 private:
  const made_store& disk_store_;
  store::store_log known_;
  std::set<store::container_name> chosen_;
  bool is_decided_ = false;
};

using commit_function = std::function<result<store::open_store::listed_snapshot>(open_session&)>;

/// What came of commits beside a prune that takes its steps at all combinations of calls.
struct pruned_commits {
  std::uint64_t call_count = 1;
  int committed = 0;
  int refused = 0;
  std::vector<std::string>
      faults;  ///< where somebody saw a snapshot without its containers, or one that was not committed
};

/// Returns whether everything is there of the snapshots that others see now.
bool shows_whole_snapshots(const made_store& disk_store) {
  const auto log = log_of(disk_store);
  const auto opened_store = disk_store.open();
  return std::ranges::all_of(log.snapshots, [&](const std::string& id) { return read_back(*opened_store, id).ok(); });
}

pruned_commits commit_between_prunes(const commit_function& commit) {
  pruned_commits outcomes;
  std::uint64_t& call_count = outcomes.call_count;
  for (std::uint64_t first = 0; first < call_count; ++first) {
    for (std::uint64_t second = first; second < call_count; ++second) {
      for (std::uint64_t third = second; third < std::min(second + 3, call_count); ++third) {
        const made_store disk_store;
        open_session session(disk_store);
        modelled_prune prune(disk_store);
        std::uint64_t call = 0;
        bool is_whole = true;
        disk_store.files->meanwhile = [&](const std::string&) {
          if (call == first) prune.choose();
          if (call == second) prune.remove_containers();
          if (call == third) prune.remove_entries();
          if (call > second) is_whole = is_whole && shows_whole_snapshots(disk_store);
          ++call;
        };
        const auto done = commit(session);
        disk_store.files->meanwhile = nullptr;
        prune.remove_containers();  // as late as can be
        is_whole = is_whole && shows_whole_snapshots(disk_store);
        call_count = std::max(call_count, call);
        if (!is_whole || log_of(disk_store).snapshots.size() != (done ? 1u : 0u)) {
          outcomes.faults.push_back(fmt::format("steps at calls {}, {} and {}", first, second, third));
        }
        ++(done ? outcomes.committed : outcomes.refused);
        if (!done) {
          EXPECT_THAT(done.error().message(), HasSubstr("nothing was committed"));
        }
      }
    }
  }
  return outcomes;
}

TEST(commit, is_right_wherever_a_prune_takes_its_steps) {
  const auto outcomes = commit_between_prunes([](open_session& session) { return session.commit(); });
  EXPECT_THAT(outcomes.faults, IsEmpty());
  EXPECT_GT(outcomes.call_count, 15u);
  EXPECT_GT(outcomes.committed, 100);
  EXPECT_GT(outcomes.refused, 100);
}

TEST(commit, without_a_look_at_the_decisions_is_detected) {
  const auto outcomes = commit_between_prunes([](open_session& session) { return session.commit_without_audit(); });
  EXPECT_THAT(outcomes.faults, testing::Not(IsEmpty()));
}

TEST(commit, numbers_snapshots_in_their_order) {
  const made_store disk_store;
  const auto opened_store = disk_store.open();
  std::vector<std::string> ids;
  for (const int time : {300, 200, 100}) {  // a clock that goes back
    const auto session = *store::leased_session::begin(*opened_store);
    store::snapshot facts;
    facts.time = time;
    ids.push_back(value_of(store::commit_snapshot(*session, facts)).id);
  }
  const auto all = opened_store->snapshots({});
  ASSERT_EQ(all->size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ((*all)[i].id, ids[i]);
    EXPECT_EQ((*all)[i].facts.sequence, i + 1);
  }
  EXPECT_THAT(names(disk_store, object_kind::lease), IsEmpty());
}

}  // namespace
}  // namespace cutpoint::tests
