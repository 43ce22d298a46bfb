// A session that lost its lease commits only what exists and will stay, whatever a prune does meanwhile.
#include "store/access/commit.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "store/index/shard_rebuild.h"
#include "store/objects/removal_list.h"
#include "store/session/write_session.h"
#include "tests/store/support/made_store.h"

namespace cutpoint::tests {
namespace {

using store::object_kind;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

/// A session that has stored a tree with one file, /file, and has not committed it.
struct open_session {
  explicit open_session(const made_store& disk_store)
      : opened_store(disk_store.open()),
        objects(disk_store.open_storage("w")),
        lease_objects(disk_store.open_storage("l")) {
    auto lease_of_session =
        store::held_lease::take(*lease_objects, opened_store->key(), "abc", std::chrono::hours(1), 0);
    EXPECT_TRUE(lease_of_session.ok());
    lease = std::move(*lease_of_session);
    store::record_writer records(*objects, opened_store->key(), opened_store->config().container_bytes,
                                 blake3_fingerprinter());
    auto digests = *store::record_fingerprinter::make(opened_store->fingerprint());
    store::write_session writer(opened_store->config(), opened_store->shards(), records,
                                *store::record_fingerprinter::make(opened_store->fingerprint()));
    const std::vector<std::uint8_t> content(1000, 7);
    delivered_chunk chunk;
    chunk.bytes = content;
    chunk.length = content.size();
    chunk.fingerprint = *digests(content);
    std::vector<std::unique_ptr<chunk_work>> work(1);
    EXPECT_TRUE(writer.select({&chunk, 1}, work).ok() && (!work[0] || work[0]->perform(chunk).ok()));
    chunk.work = work[0].get();
    store::folder_entry file;
    file.name = "file";
    file.size = content.size();
    file.extents = {*writer.store(chunk)};
    store::node_list_writer root(store::node_kind::folder, writer);
    EXPECT_TRUE(root.add(file).ok());
    facts.root = *root.finish();
    EXPECT_TRUE(writer.finish().ok());
  }
  [[nodiscard]] result<store::open_store::listed_snapshot> commit() {
    return store::commit_snapshot(*opened_store, *objects, *lease, facts);
  }

  std::unique_ptr<store::open_store> opened_store;
  std::unique_ptr<store::storage> objects;
  std::unique_ptr<store::storage> lease_objects;
  std::unique_ptr<store::held_lease> lease;
  store::snapshot facts;
};

std::vector<std::string> names(const made_store& disk_store, object_kind kind) {
  return *disk_store.open_storage("n")->list(kind);
}

TEST(commit, takes_a_lost_lease_again) {
  const made_store disk_store;
  open_session session(disk_store);
  ASSERT_TRUE(disk_store.files->remove("leases/abc.00000000").ok());
  seeded_choices random(1);
  int containers_read = 0;
  disk_store.files->meanwhile = [&](const std::string& path) {
    if (!path.starts_with("containers/")) return;
    ++containers_read;
    for (int state = 0; state < 8; ++state) {
      EXPECT_THAT(names(made_store(disk_store.files->crash(random)), object_kind::lease),
                  testing::Contains("abc.00000001"))
          << "the lease is durable before containers are looked for";
    }
  };
  const auto done = session.commit();
  ASSERT_TRUE(done.ok()) << done.error().message();
  EXPECT_GT(containers_read, 0);
  EXPECT_THAT(names(disk_store, object_kind::snapshot), ElementsAre(done->id));
  EXPECT_THAT(names(disk_store, object_kind::lease), IsEmpty());
}

TEST(commit, names_what_was_removed_while_the_lease_was_lost) {
  const made_store disk_store;
  open_session session(disk_store);
  ASSERT_TRUE(disk_store.files->remove("leases/abc.00000000").ok());
  for (const std::string& each : names(disk_store, object_kind::container)) {
    ASSERT_TRUE(disk_store.files->remove("containers/" + each).ok());
  }
  const auto refused = session.commit();
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().message(), HasSubstr("nothing was committed"));
  EXPECT_THAT(refused.error().message(), HasSubstr("the record " + to_hex(session.facts.root.content)));
  EXPECT_THAT(names(disk_store, object_kind::snapshot), IsEmpty());
}

TEST(commit, reads_nothing_again_while_the_lease_is_held) {
  const made_store disk_store;
  open_session session(disk_store);
  disk_store.files->meanwhile = [](const std::string& path) { EXPECT_FALSE(path.starts_with("containers")) << path; };
  EXPECT_TRUE(session.commit().ok());
}

// --- beside a prune -----------------------------------------------------------------------------------------------------

/// A prune as docs/formats/store.md describes it, which takes the first lease of a session for expired.
class modelled_prune {
 public:
  explicit modelled_prune(const made_store& disk_store)
      : disk_store_(disk_store), objects_(disk_store.open_storage("prune")) {
    listed_ = names(disk_store, object_kind::container);
    put_list(1, store::removal_state::proposed);
  }

  /// Steps 2 and 3: passes over the session, unless it has another lease, and looks for its snapshot.
  void pass_over_session() {
    ASSERT_TRUE(objects_->remove({object_kind::lease, "abc.00000000"}).ok() && objects_->sync().ok());
    has_begun_removals_ = names(disk_store_, object_kind::lease).empty();
    if (!names(disk_store_, object_kind::snapshot).empty()) listed_.clear();
  }
  /// Steps 4 and 5.
  void remove_containers() {
    if (!has_begun_removals_) return;
    if (!std::exchange(has_decided_, true)) put_list(2, store::removal_state::decided);
    for (const std::string& each : listed_) ASSERT_TRUE(objects_->remove({object_kind::container, each}).ok());
    ASSERT_TRUE(objects_->sync().ok());
  }
  /// Step 6.
  void remove_list() {
    if (!has_begun_removals_) return;
    ASSERT_TRUE(store::remove_lists_before(*objects_, 2).ok() && objects_->sync().ok());
  }

 private:
  void put_list(std::uint64_t epoch, store::removal_state state) {
    store::removal_list list{epoch, state, {}};
    for (const std::string& each : listed_) list.containers.insert(*store::container_name_of(each));
    ASSERT_TRUE(store::put_removal_list(*objects_, {}, list).ok() && objects_->sync().ok());
  }

  const made_store& disk_store_;
  std::unique_ptr<store::storage> objects_;
  std::vector<std::string> listed_;
  bool has_begun_removals_ = false;
  bool has_decided_ = false;
};

using commit_function = std::function<result<store::open_store::listed_snapshot>(open_session&)>;

/// What came of commits beside a prune that takes its steps at all combinations of calls.
struct pruned_commits {
  std::uint64_t call_count = 1;
  int committed = 0;
  int refused = 0;
  std::vector<std::string> faults;  ///< where a snapshot has no container, or one is there that was not committed
};

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
        disk_store.files->meanwhile = [&](const std::string&) {
          if (call == first) prune.pass_over_session();
          if (call == second) prune.remove_containers();
          if (call == third) prune.remove_list();
          ++call;
        };
        const auto done = commit(session);
        disk_store.files->meanwhile = nullptr;
        prune.remove_containers();  // as late as can be
        call_count = std::max(call_count, call);
        const std::size_t snapshots = names(disk_store, object_kind::snapshot).size();
        if (snapshots != (done ? 1u : 0u) || (done && names(disk_store, object_kind::container).empty())) {
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

TEST(commit, without_a_look_at_the_lease_is_detected) {
  const auto outcomes = commit_between_prunes([](open_session& session) -> result<store::open_store::listed_snapshot> {
    auto id = store::put_snapshot(*session.objects, session.facts, session.opened_store->key());
    EXPECT_TRUE(id.ok() && session.objects->sync().ok());
    return store::open_store::listed_snapshot{*id, session.facts};
  });
  EXPECT_THAT(outcomes.faults, testing::Not(IsEmpty()));
}

TEST(commit, numbers_snapshots_in_their_order) {
  const made_store disk_store;
  const auto opened_store = disk_store.open();
  const auto objects = disk_store.open_storage("w");
  std::vector<std::string> ids;
  for (const int time : {300, 200, 100}) {  // a clock that goes back
    const auto lease_of_session =
        store::held_lease::take(*objects, opened_store->key(), "s" + std::to_string(time), std::chrono::hours(1), 0);
    store::snapshot facts;
    facts.time = time;
    const auto done = store::commit_snapshot(*opened_store, *objects, **lease_of_session, facts);
    ASSERT_TRUE(done.ok());
    ids.push_back(done->id);
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
