// A prune removes what no snapshot refers to and nothing else, wherever backups run, sessions expire or the machine stops.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "store/upkeep/removal.h"
#include "store/upkeep/upkeep.h"
#include "tests/host/support/choices.h"
#include "tests/store/support/whole_session.h"

namespace cutpoint::tests {
namespace {

using store::object_kind;
using testing::IsEmpty;
using testing::SizeIs;

const store_prune_options everything{.most_unused = 0, .threads = 1};

class prunes : public testing::TestWithParam<bool> {
 protected:
  made_store disk_store_{GetParam() ? std::optional(store::key_secret{store::secret_kind::key_file, "p"})
                                    : std::nullopt};
};
INSTANTIATE_TEST_SUITE_P(with, prunes, testing::Bool(),
                         [](const auto& tested) { return tested.param ? "encryption" : "checksums"; });

TEST_P(prunes, remove_what_no_snapshot_refers_to) {
  const auto opened_store = disk_store_.open();
  snapshot_map kept_snapshots;
  std::vector<std::string> forgotten;
  for (std::uint64_t i = 1; i <= 6; ++i) {
    const file_map files = overlapping_files(i, 60'000);
    const auto id = value_of(back_up(*opened_store, files));
    if (i % 2 == 0) {
      kept_snapshots[id] = files;
    } else {
      forgotten.push_back(id);
    }
  }
  const auto foreseen = value_of(store::prune_store(
      *opened_store, {.most_unused = 0, .is_dry_run = true, .forgotten = {forgotten.begin(), forgotten.end()}}));
  for (const std::string& each : forgotten) ASSERT_TRUE(forget(*opened_store, each).ok());
  const auto dry_run = value_of(store::prune_store(*opened_store, {.most_unused = 0, .is_dry_run = true}));
  EXPECT_EQ(dry_run.containers, names(disk_store_, object_kind::container).size()) << "a dry run changes nothing";
  EXPECT_THAT(names(disk_store_, object_kind::log_entry), SizeIs(6)) << "the commits";
  const auto pruned = value_of(store::prune_store(*opened_store, everything));
  EXPECT_GT(pruned.rewritten_containers, 0u);
  EXPECT_GT(pruned.removed_containers, 0u);
  EXPECT_EQ(pruned.removed_bytes, dry_run.removed_bytes);
  EXPECT_EQ(pruned.rewritten_bytes, dry_run.rewritten_bytes);
  EXPECT_EQ(foreseen.removed_bytes, dry_run.removed_bytes);
  EXPECT_EQ(foreseen.rewritten_bytes, dry_run.rewritten_bytes);
  EXPECT_EQ(pruned.left_unused_bytes, 0u);
  EXPECT_EQ(loss_in(*opened_store, kept_snapshots), "");
  EXPECT_THAT(opened_store->shards().containers(), SizeIs(names(disk_store_, object_kind::container).size()))
      << "the index names no container that was removed";
  EXPECT_THAT(names(disk_store_, object_kind::lease), IsEmpty());
  const auto again = value_of(store::prune_store(*opened_store, everything));
  EXPECT_EQ(again.unused_bytes + again.removed_containers + again.rewritten_containers, 0u);
}

TEST_P(prunes, rewrite_no_more_than_is_allowed) {
  const auto opened_store = disk_store_.open();
  const auto first = value_of(back_up(*opened_store, drawn_files(1, 8, 60'000)));
  file_map half = drawn_files(1, 4, 60'000);
  const auto second = value_of(back_up(*opened_store, half));
  ASSERT_TRUE(forget(*opened_store, first).ok());
  const auto none = value_of(store::prune_store(*opened_store, {.most_unused = 1}));
  EXPECT_EQ(none.rewritten_containers, 0u);
  EXPECT_GT(none.left_unused_bytes, 0u);
  const auto budget = value_of(store::prune_store(*opened_store, {.most_unused = 0, .most_rewritten_bytes = 0}));
  EXPECT_EQ(budget.rewritten_containers, 0u);
  EXPECT_GT(value_of(store::prune_store(*opened_store, everything)).rewritten_bytes, 0u);
  EXPECT_EQ(loss_in(*opened_store, {{second, half}}), "");
}

/// Makes `count` snapshots of little data, each of which has a container of its own.
snapshot_map small_backups(store::open_store& opened_store, std::uint64_t count) {
  snapshot_map all;
  for (std::uint64_t i = 0; i < count; ++i) {
    const file_map files = drawn_files(100 + i, 1, 1000);
    all[value_of(back_up(opened_store, files))] = files;
  }
  return all;
}

TEST_P(prunes, merge_small_containers) {
  const auto opened_store = disk_store_.open();
  snapshot_map kept_snapshots = small_backups(*opened_store, 5);
  ASSERT_THAT(names(disk_store_, object_kind::container), SizeIs(5));
  EXPECT_EQ(value_of(store::prune_store(*opened_store, everything)).rewritten_containers, 0u);

  kept_snapshots.merge(small_backups(*opened_store, 9));  // five of them are there
  ASSERT_THAT(names(disk_store_, object_kind::container), SizeIs(9));
  EXPECT_EQ(store::prune_store(*opened_store, {.most_unused = 1})->rewritten_containers, 0u);
  const auto dry_run = value_of(store::prune_store(*opened_store, {.most_unused = 0, .is_dry_run = true}));
  const auto pruned = value_of(store::prune_store(*opened_store, everything));
  EXPECT_EQ(pruned.unused_bytes, 0u);
  EXPECT_EQ(pruned.rewritten_containers, 9u);
  EXPECT_EQ(pruned.removed_containers, 9u);
  EXPECT_EQ(pruned.rewritten_bytes, dry_run.rewritten_bytes);
  EXPECT_THAT(names(disk_store_, object_kind::container), SizeIs(1));
  EXPECT_EQ(loss_in(*opened_store, kept_snapshots), "");
  EXPECT_EQ(store::prune_store(*opened_store, everything)->rewritten_containers, 0u);
}

TEST(prune, leaves_a_damaged_container_where_it_is) {
  const made_store disk_store;
  const auto opened_store = disk_store.open();
  snapshot_map kept_snapshots = small_backups(*opened_store, 9);
  const std::vector<std::string> containers = names(disk_store, object_kind::container);
  (*disk_store.files->bytes_of("containers/" + containers.front()))[130] ^= 1;  // in the payload of a record
  EXPECT_EQ(value_of(store::prune_store(*opened_store, everything)).removed_containers, 8u);
  EXPECT_THAT(names(disk_store, object_kind::container), testing::Contains(containers.front()));
}

/// Two snapshots of the same files, each with containers of its own.
struct copied_store {
  copied_store() {
    first = *back_up(*disk_store.open(), files);
    first_containers = names(disk_store, object_kind::container);
    // The second session does not refer to the containers of the first: they are proposed.
    const auto opened_store = disk_store.open();
    store::log_entry proposal;
    proposal.kind = store::log_entry_kind::proposal;
    for (const std::string& each : first_containers) {
      proposal.removed_containers.insert(*store::container_name_of(each));
    }
    EXPECT_TRUE(
        *store::append_to_log(*disk_store.open_storage("p"), opened_store->key(), *opened_store->read_log(), proposal));
    second = *back_up(*disk_store.open(), files);
    store::log_entry decision;  // to remove none of them
    decision.kind = store::log_entry_kind::decision;
    decision.snapshots = {first, second};
    EXPECT_TRUE(
        *store::append_to_log(*disk_store.open_storage("d"), opened_store->key(), *opened_store->read_log(), decision));
    EXPECT_GT(names(disk_store, object_kind::container).size(), first_containers.size());
  }
  /// Damages a chunk in the containers of one of the snapshots, of which the other has a copy.
  void damage(bool is_of_first) {
    const auto opened_store = disk_store.open();
    for (const std::string& each : names(disk_store, object_kind::container)) {
      if ((std::ranges::count(first_containers, each) != 0) != is_of_first) continue;
      const auto table = *store::read_container_table(opened_store->objects(), each, opened_store->key());
      if (table.records.front().description.kind != store::record_kind::chunk) continue;
      (*disk_store.files->bytes_of("containers/" +
                                   each))[table.records.front().position + store::record_header_bytes] ^= 1;
      return;
    }
    ADD_FAILURE() << "no container has a chunk";
  }

  made_store disk_store;
  file_map files = drawn_files(1, 3, 30'000);
  std::string first;
  std::string second;
  std::vector<std::string> first_containers;
};

TEST(prune, gives_up_no_copy_before_the_other_was_read) {
  for (const bool keeps_first : {false, true}) {
    copied_store store;
    const made_store& disk_store = store.disk_store;
    // What is kept has a damaged copy of a chunk, and what is forgotten the whole one.
    store.damage(keeps_first);
    ASSERT_TRUE(forget(*disk_store.open(), keeps_first ? store.second : store.first).ok());
    const snapshot_map expected{{keeps_first ? store.first : store.second, store.files}};
    std::uint64_t damaged_copies = 0;
    for (int round = 0; round < 3; ++round) {
      damaged_copies += value_of(store::prune_store(*disk_store.open(), everything)).damaged_copies;
    }
    EXPECT_GT(damaged_copies, 0u);
    const auto repaired = value_of(store::repair_store(*disk_store.open(), {.threads = 1}));
    EXPECT_EQ(repaired.lost_files, 0u) << "the whole copy was removed";
    EXPECT_EQ(loss_in(*disk_store.open(), expected), "");
    ASSERT_TRUE(store::prune_store(*disk_store.open(), everything).ok());
    EXPECT_EQ(loss_in(*disk_store.open(), expected), "");
    EXPECT_EQ(store::prune_store(*disk_store.open(), everything)->unused_bytes, 0u);
  }
}

TEST(prune, waits_for_sessions_and_keeps_what_they_committed) {
  const made_store disk_store;
  const auto opened_store = disk_store.open();
  const file_map files = drawn_files(1, 3, 30'000);
  ASSERT_TRUE(forget(*opened_store, *back_up(*opened_store, files)).ok());
  const auto running = disk_store.open();
  auto session = value_of(store::leased_session::begin(*running));
  const auto waiting = value_of(store::prune_store(*opened_store, everything));
  EXPECT_THAT(waiting.awaited, SizeIs(1));
  EXPECT_GT(waiting.waiting_containers, 0u);
  EXPECT_EQ(waiting.removed_containers, 0u);

  // A session that begins now stores what the proposed containers have once more.
  const std::size_t before = names(disk_store, object_kind::container).size();
  const auto later = disk_store.open();
  const auto own = value_of(back_up(*later, {*files.begin()}));
  EXPECT_GT(names(disk_store, object_kind::container).size(), before);
  ASSERT_TRUE(forget(*opened_store, own).ok());

  // The one that began before refers to them.
  const auto output = *session->open_writer();
  auto digests = *store::record_fingerprinter::make(running->fingerprint());
  store::snapshot facts;
  facts.root = *store_files(output->records, digests, files);
  ASSERT_TRUE(output->records.finish().ok());
  EXPECT_EQ(output->containers.stored_bytes(), 0u);
  const auto committed = value_of(store::commit_snapshot(*session, facts));
  session.reset();
  EXPECT_GT(value_of(store::prune_store(*opened_store, everything)).kept_containers, 0u);
  EXPECT_EQ(loss_in(*opened_store, {{committed.id, files}}), "");
  EXPECT_EQ(store::prune_store(*opened_store, everything)->unused_bytes, 0u);
}

TEST(prune, frees_a_full_disk_in_steps) {
  const made_store disk_store;
  snapshot_map kept_snapshots;
  for (std::uint64_t i = 1; i <= 8; ++i) {
    const file_map files = overlapping_files(i, 60'000);
    const auto id = value_of(back_up(*disk_store.open(), files));
    if (i % 2 == 0) {
      kept_snapshots[id] = files;
    } else {
      ASSERT_TRUE(forget(*disk_store.open(), id).ok());
    }
  }
  disk_store.files->room = 0;
  const auto dead = value_of(store::prune_store(*disk_store.open(), everything));
  EXPECT_EQ(dead.rewritten_containers, 0u);
  EXPECT_GT(dead.missing_bytes, 0u);
  EXPECT_EQ(loss_in(*disk_store.open(), kept_snapshots), "");
  disk_store.files->room = MiB + MiB / 2;  // for one container at a time
  std::size_t largest = 0;
  disk_store.files->meanwhile = [&](const std::string&) {
    largest = std::max(largest, names(disk_store, object_kind::container).size());
  };
  const std::size_t before = names(disk_store, object_kind::container).size();
  const auto pruned = value_of(store::prune_store(*disk_store.open(), everything));
  disk_store.files->meanwhile = nullptr;
  EXPECT_GT(pruned.rewritten_containers, 1u);
  EXPECT_EQ(pruned.left_unused_bytes, 0u);
  EXPECT_LE(largest, before + 1) << "one container is copied, and the old one removed, before the next";
  EXPECT_EQ(loss_in(*disk_store.open(), kept_snapshots), "");
}

TEST(prune, removes_the_temporary_files_of_no_session) {
  const made_store disk_store;
  const auto running = disk_store.open();
  const auto session = value_of(store::leased_session::begin(*running));
  const std::string own = session->name() + "-0";
  for (const std::string& each : {own, std::string("abandoned-0")}) {
    ASSERT_TRUE(disk_store.files->create("temporary/" + each).ok());
  }
  ASSERT_TRUE(store::prune_store(*disk_store.open(), everything).ok());
  EXPECT_THAT(names(disk_store, object_kind::temporary), testing::ElementsAre(own));
}

TEST(prune, refuses_to_guess_what_an_unreadable_snapshot_needs) {
  const made_store disk_store;
  const auto opened_store = disk_store.open();
  static_cast<void>(value_of(back_up(*opened_store, drawn_files(1, 3, 30'000))));
  const auto lost = back_up(*opened_store, drawn_files(2, 3, 30'000));
  (*disk_store.files->bytes_of("snapshots/" + *lost))[70] ^= 1;
  const status refused = error_of(store::prune_store(*opened_store, everything));
  EXPECT_THAT(refused.message(), testing::HasSubstr("snapshots/" + *lost));
  EXPECT_THAT(names(disk_store, object_kind::log_entry), SizeIs(2)) << "the commits";
}

TEST(prune, refuses_to_go_on_without_a_record) {
  const made_store disk_store;
  const auto opened_store = disk_store.open();
  ASSERT_TRUE(back_up(*opened_store, drawn_files(1, 3, 30'000)).ok());
  for (const std::string& each : names(disk_store, object_kind::container)) {
    ASSERT_TRUE(disk_store.files->remove("containers/" + each).ok());
  }
  EXPECT_TRUE(store::is_damage(store::prune_store(*opened_store, everything).error()));
}

TEST(prune, sums_a_long_log_up_though_nothing_is_to_be_removed) {
  const made_store disk_store;
  const auto opened_store = disk_store.open();
  ASSERT_TRUE(back_up(*opened_store, drawn_files(1, 2, 3000)).ok());
  const auto entry_count = [&] { return names(disk_store, object_kind::log_entry).size(); };
  store::log_entry commit;
  commit.snapshots = {"x"};
  const auto objects = disk_store.open_storage("w");
  const auto append_until = [&](std::size_t count) {
    while (entry_count() < count) {
      ASSERT_TRUE(*store::append_to_log(*objects, opened_store->key(), *value_of(opened_store->follow_log()), commit));
    }
  };
  append_until(1000);
  ASSERT_TRUE(store::prune_store(*opened_store, everything).ok());
  EXPECT_EQ(entry_count(), 1000u);
  append_until(1001);
  const auto before = *opened_store->snapshots({});
  ASSERT_TRUE(store::prune_store(*opened_store, everything).ok());
  EXPECT_EQ(entry_count(), 1u);
  EXPECT_EQ(names(disk_store, object_kind::removal).size(), 1u);
  EXPECT_EQ(opened_store->snapshots({})->size(), before.size());
}

TEST(prune, that_was_suspended_is_overtaken) {
  const made_store disk_store;
  const auto opened_store = disk_store.open();
  ASSERT_TRUE(back_up(*opened_store, {}).ok());
  const auto before = *opened_store->read_log();
  const auto append = [&](const store::store_log& known, store::log_entry_kind kind) {
    store::log_entry entry;
    entry.kind = kind;
    entry.snapshots = before.snapshots;
    return *store::append_to_log(*disk_store.open_storage(store::new_session_id()), opened_store->key(), known, entry);
  };
  ASSERT_TRUE(append(before, store::log_entry_kind::decision));
  EXPECT_FALSE(append(before, store::log_entry_kind::decision)) << "the number is taken";
  ASSERT_TRUE(append(*opened_store->read_log(), store::log_entry_kind::decision));
  const auto objects = disk_store.open_storage("remove");
  ASSERT_TRUE(store::remove_entries_before(*objects, 3).ok() && objects->sync().ok());
  EXPECT_FALSE(append(before, store::log_entry_kind::decision)) << "the number is free again, and does not count";
  EXPECT_EQ(opened_store->read_log()->decision, 3u);
}

TEST(prune, loses_nothing_by_an_index_whose_bytes_have_changed) {
  std::size_t shard_bytes = 1;
  for (std::size_t position = 0; position < shard_bytes; position += is_sanitized ? 25 : 5) {
    const made_store disk_store;
    const auto opened_store = disk_store.open();
    const auto forgotten = value_of(back_up(*opened_store, drawn_files(1, 2, 3000)));
    const auto kept_id = value_of(back_up(*opened_store, drawn_files(2, 2, 3000)));
    ASSERT_TRUE(forget(*opened_store, forgotten).ok());
    ASSERT_TRUE(opened_store->reopen_shards().ok());
    for (;;) {
      const auto merged = value_of(opened_store->shards().merge());
      if (!merged) break;
    }
    const std::vector<std::string> shards = names(disk_store, object_kind::shard);
    std::vector<std::uint8_t>& bytes = *disk_store.files->bytes_of("shards/" + shards[position % shards.size()]);
    shard_bytes = bytes.size();
    bytes[position] ^= 1;
    static_cast<void>(store::prune_store(*disk_store.open(), everything));
    ASSERT_EQ(loss_in(*disk_store.open(), {{kept_id, drawn_files(2, 2, 3000)}}), "") << "byte " << position;
  }
}

// --- beside other processes ---------------------------------------------------------------------------------------------

/// A store with two snapshots that share records, of which the first is forgotten, and a third backup to make.
struct prepared_store {
  prepared_store() {
    const auto opened_store = disk_store.open();
    const auto first = value_of(back_up(*opened_store, overlapping_files(1, 3000)));
    const auto second = value_of(back_up(*opened_store, overlapping_files(2, 3000)));
    EXPECT_TRUE(forget(*opened_store, first).ok());
    kept_snapshots[second] = overlapping_files(2, 3000);
  }
  made_store disk_store;
  snapshot_map kept_snapshots;
  file_map next = overlapping_files(1, 3000);  ///< the records of the snapshot that was forgotten
};

/// Runs `act` once, before the call with a number of the file system, while `run` runs. Returns the number of calls.
std::uint64_t interrupt(const made_store& disk_store, std::uint64_t call, const std::function<void()>& act,
                        const std::function<void()>& run) {
  std::uint64_t calls = 0;
  disk_store.files->meanwhile = [&](const std::string&) {
    if (calls++ == call) act();
  };
  run();
  disk_store.files->meanwhile = nullptr;
  return calls;
}

void prune_twice(const made_store& disk_store, std::vector<std::string>& faults) {
  for (int i = 0; i < 2; ++i) {
    const auto opened_store = disk_store.open();
    const auto pruned = store::prune_store(*opened_store, everything);
    if (!pruned) faults.push_back(pruned.error().message());
  }
}

/// Runs `run` in a prepared store, and `act` at each of its calls in turn. Then two more prunes run. Returns a sentence on
/// the first fault or loss, or an empty string.
std::string loss_at_any_call(const std::function<void(prepared_store&, store::open_store&)>& run,
                             const std::function<void(prepared_store&, std::vector<std::string>& faults)>& act) {
  std::uint64_t calls = 1;
  for (std::uint64_t call = 0; call < calls; ++call) {
    prepared_store store;
    std::vector<std::string> faults;
    const auto opened_store = store.disk_store.open();
    calls = interrupt(
        store.disk_store, call, [&] { act(store, faults); }, [&] { run(store, *opened_store); });
    std::string loss = loss_in(*store.disk_store.open(), store.kept_snapshots);
    prune_twice(store.disk_store, faults);
    if (loss.empty() && !faults.empty()) loss = faults.front();
    if (loss.empty()) loss = loss_in(*store.disk_store.open(), store.kept_snapshots);
    if (!loss.empty()) return loss + " at call " + std::to_string(call);
  }
  EXPECT_GT(calls, 15u);
  return "";
}

TEST(prune, loses_nothing_of_a_backup_that_runs_at_any_of_its_calls) {
  const auto prune = [](prepared_store&, store::open_store& opened_store) {
    static_cast<void>(store::prune_store(opened_store, everything));
  };
  const auto back_up_next = [](prepared_store& store, std::vector<std::string>& faults) {
    const auto id = back_up(*store.disk_store.open(), store.next);
    if (!id) return faults.push_back(id.error().message());
    store.kept_snapshots[*id] = store.next;
  };
  EXPECT_EQ(loss_at_any_call(prune, back_up_next), "");
}

/// Makes a backup, and lets prunes run at each of its calls in turn. Returns what `loss_at_any_call` does.
std::string loss_between_prunes(session_faults planted, bool takes_sessions_for_dead) {
  int refused = 0;
  int committed = 0;
  const auto back_up_next = [&](prepared_store& store, store::open_store& opened_store) {
    const auto id = back_up(opened_store, store.next, planted);
    if (id) store.kept_snapshots[*id] = store.next;
    ++(id ? committed : refused);
  };
  const auto prune = [&](prepared_store& store, std::vector<std::string>& faults) {
    if (takes_sessions_for_dead) end_all_sessions(store.disk_store);
    prune_twice(store.disk_store, faults);
  };
  const std::string loss = loss_at_any_call(back_up_next, prune);
  if (!loss.empty()) return loss;
  EXPECT_GT(committed, 10);
  EXPECT_EQ(refused > 0, takes_sessions_for_dead) << "only a backup that was taken for dead may be refused";
  return "";
}

TEST(prune, loses_nothing_at_any_call_of_a_backup) { EXPECT_EQ(loss_between_prunes({}, false), ""); }

TEST(prune, loses_nothing_if_a_session_is_taken_for_dead) { EXPECT_EQ(loss_between_prunes({}, true), ""); }

TEST(prune, shows_a_session_that_publishes_without_an_audit) {
  EXPECT_NE(loss_between_prunes({.audits_nothing = true}, true), "");
}

TEST(prune, refuses_the_commit_of_a_session_that_ignores_proposals) {
  const auto is_committed = [](session_faults planted) {
    prepared_store store;
    const auto first = store.disk_store.open();
    auto waiting = store::leased_session::begin(*first);
    EXPECT_THAT(store::prune_store(*store.disk_store.open(), everything)->awaited, SizeIs(1));
    // The prune does not wait for sessions that begin now, since they have seen its proposal.
    const auto later = store.disk_store.open();
    const made_store& disk_store = store.disk_store;
    std::vector<std::string> faults;
    const std::size_t snapshots = names(disk_store, object_kind::snapshot).size();
    disk_store.files->meanwhile = [&](const std::string& path) {
      if (path.starts_with("log/") && names(disk_store, object_kind::snapshot).size() > snapshots && waiting) {
        waiting = status(status_code::cancelled, "");  // ends the session
        prune_twice(disk_store, faults);
      }
    };
    const auto id = back_up(*later, store.next, planted);
    disk_store.files->meanwhile = nullptr;
    if (id) store.kept_snapshots[*id] = store.next;
    EXPECT_EQ(loss_in(*store.disk_store.open(), store.kept_snapshots), "");
    return id.ok();
  };
  EXPECT_TRUE(is_committed({}));
  EXPECT_FALSE(is_committed({.ignores_proposals = true}));
}

// --- beside repairs -----------------------------------------------------------------------------------------------------

/// A store with two snapshots, of which the first is forgotten, and one damaged container, in which several files lie.
struct store_to_repair {
  store_to_repair() {
    const auto opened_store = disk_store.open();
    const auto first = value_of(back_up(*opened_store, overlapping_files(1, 3000)));
    const auto second = value_of(back_up(*opened_store, files));
    EXPECT_TRUE(forget(*opened_store, first).ok());
    // The last container has data of the second snapshot alone.
    for (const std::string& each : names(disk_store, object_kind::container)) {
      const auto table = store::read_container_table(opened_store->objects(), each, opened_store->key());
      const auto& record = table->records.front();
      if (record.description.kind != store::record_kind::chunk) continue;
      (*disk_store.files->bytes_of("containers/" + each))[record.position + store::record_header_bytes] ^= 1;
    }
  }
  /// Returns the names of the files that are in the newest snapshot, if there is one, and come back.
  [[nodiscard]] std::set<std::string> whole_files() const {
    const auto opened_store = disk_store.open();
    std::set<std::string> whole;
    const auto all = *opened_store->snapshots({});
    if (all.empty()) return whole;
    store::record_reader records(opened_store->objects(), opened_store->key(), opened_store->shards(),
                                 *store::record_fingerprinter::make(opened_store->fingerprint()));
    const auto read = *read_files(records, all.back().facts.root, lost_files::are_left_out);
    for (const auto& [name, bytes] : read) {
      if (bytes == files.at(name)) whole.insert(name);
    }
    return whole;
  }
  made_store disk_store;
  file_map files = overlapping_files(2, 3000);
};

/// Runs `run` in a store to repair, and `act` at each of its calls in turn. Returns a sentence on the first time that fewer
/// files come back than of a repair alone, or an empty string.
std::string loss_of_repair(const std::function<void(const made_store&)>& run,
                           const std::function<void(const made_store&)>& act) {
  const store_to_repair alone;
  EXPECT_TRUE(store::repair_store(*alone.disk_store.open(), {.threads = 1}).ok());
  const std::set<std::string> expected = alone.whole_files();
  EXPECT_THAT(expected, testing::Not(IsEmpty()));
  EXPECT_LT(expected.size(), alone.files.size()) << "something is lost";
  std::uint64_t calls = 1;
  for (std::uint64_t call = 0; call < calls; ++call) {
    const store_to_repair both;
    calls = interrupt(
        both.disk_store, call, [&] { act(both.disk_store); }, [&] { run(both.disk_store); });
    for (int round = 0; round < 3; ++round) {
      const std::set<std::string> whole = both.whole_files();
      if (whole != expected) return fmt::format("{} of {} files at call {}", whole.size(), expected.size(), call);
      if (round == 0) static_cast<void>(store::repair_store(*both.disk_store.open(), {.threads = 1}));
      if (round == 1) static_cast<void>(store::prune_store(*both.disk_store.open(), everything));
    }
  }
  EXPECT_GT(calls, 15u);
  return "";
}

void prune_once(const made_store& disk_store) { static_cast<void>(store::prune_store(*disk_store.open(), everything)); }
void repair_once(const made_store& disk_store) {
  static_cast<void>(store::repair_store(*disk_store.open(), {.threads = 1}));
}

TEST(prune, loses_nothing_at_any_call_of_a_repair) { EXPECT_EQ(loss_of_repair(repair_once, prune_once), ""); }

TEST(prune, loses_nothing_of_a_repair_that_runs_at_any_of_its_calls) {
  EXPECT_EQ(loss_of_repair(prune_once, repair_once), "");
}

TEST(prune, loses_nothing_at_any_call_of_a_repair_that_is_taken_for_dead) {
  const auto prune = [](const made_store& disk_store) {
    end_all_sessions(disk_store);
    prune_once(disk_store);
  };
  EXPECT_EQ(loss_of_repair(repair_once, prune), "");
}

TEST(prune, removes_what_a_repair_has_condemned_and_a_backup_heals) {
  const store_to_repair store;
  const made_store& disk_store = store.disk_store;
  ASSERT_TRUE(store::repair_store(*disk_store.open(), {.threads = 1}).ok());
  const auto condemned = disk_store.open()->read_log()->condemned;
  ASSERT_THAT(condemned, testing::Not(IsEmpty()));
  const auto exists = [&](const store::container_name& name) {
    return disk_store.open_storage("x")->size({object_kind::container, store::id_of(name)}).ok();
  };
  for (const auto& each : condemned) EXPECT_TRUE(exists(each)) << "a repair removes nothing";
  const auto healed = value_of(back_up(*disk_store.open(), store.files));
  EXPECT_EQ(loss_in(*disk_store.open(), {{healed, store.files}}), "");
  ASSERT_TRUE(store::prune_store(*disk_store.open(), everything).ok());
  for (const auto& each : condemned) EXPECT_FALSE(exists(each));
  EXPECT_THAT(disk_store.open()->read_log()->condemned, IsEmpty());
  EXPECT_EQ(loss_in(*disk_store.open(), {{healed, store.files}}), "");
}

TEST(prune, loses_nothing_wherever_it_stops) {
  const prepared_store store;
  const auto prune = [](const disk& files) { return store::prune_store(*made_store(files).open(), everything).ok(); };
  const auto judge = [&](const disk& files, bool) -> std::string {
    const made_store crashed(files);
    std::string loss = loss_in(*crashed.open(), store.kept_snapshots);
    if (!loss.empty()) return loss;
    const auto next = back_up(*crashed.open(), store.next);
    if (!next) return next.error().message();
    // The lease of a prune that was killed is that of a session which still runs, for all that others know.
    end_all_sessions(crashed);
    std::vector<std::string> faults;
    prune_twice(crashed, faults);
    if (!faults.empty()) return faults.front();
    snapshot_map all = store.kept_snapshots;
    all[*next] = store.next;
    loss = loss_in(*crashed.open(), all);
    if (!loss.empty()) return loss + ", pruned again";
    return store::prune_store(*crashed.open(), everything)->unused_bytes == 0 ? "" : "something is left";
  };
  const std::uint64_t states = from_environment("CUTPOINT_CRASH_STATES", case_count(6u));
  EXPECT_EQ(fault_of_stops(store.disk_store.files, states, prune, judge), "");
}

}  // namespace
}  // namespace cutpoint::tests
