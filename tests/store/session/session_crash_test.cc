// Whole sessions lose nothing wherever the machine stops: backups with their leases and commits, removed snapshots, repairs.
#include <cerrno>
#include <map>
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "store/upkeep/upkeep.h"
#include "tests/host/support/choices.h"
#include "tests/store/support/whole_session.h"

namespace cutpoint::tests {
namespace {

/// Files of a snapshot that is committed, or was begun, by its sequence number.
using expected_snapshots = std::map<std::uint64_t, file_map>;

/// An open store on a disk that may stop.
class session_store {
 public:
  explicit session_store(disk files, session_faults planted = {}) : planted_(planted), disk_store_(std::move(files)) {}

  /// Errors: those of opening a store.
  [[nodiscard]] status open() {
    auto opened_store = disk_store_.try_open(std::nullopt);
    if (!opened_store) return opened_store.error();
    opened_store_ = std::move(*opened_store);
    return {};
  }
  /// Backs up and commits, merges shards, and returns the id of the snapshot.
  [[nodiscard]] result<std::string> back_up(const file_map& contents) {
    auto id = tests::back_up(*opened_store_, contents, planted_);
    if (id && opened_store_->reopen_shards().ok()) static_cast<void>(opened_store_->shards().merge());
    return id;
  }
  [[nodiscard]] status remove(const std::string& snapshot) { return forget(*opened_store_, snapshot); }
  [[nodiscard]] result<store_repair_summary> repair() { return store::repair_store(*opened_store_, {.threads = 1}); }
  /// Gives the oldest snapshot a tag, and writes the others without a file. Returns the ids of the versions that were reported.
  [[nodiscard]] std::set<std::string> edit(const std::string& excluded) {
    std::set<std::string> ids;
    for (const auto& each : snapshots()) ids.insert(each.id);
    const std::string oldest = snapshots().front().id;
    std::set<std::string> versions;
    const auto note = [&](const std::string&, const std::string& id) { versions.insert(id); };
    static_cast<void>(store::change_tags(*opened_store_, {.snapshots = {oldest}, .added = {"t"}, .edited = note}));
    ids.erase(oldest);
    static_cast<void>(store::rewrite_snapshots(*opened_store_, {.snapshots = std::move(ids),
                                                                .exclude = {*path_pattern::make("/" + excluded)},
                                                                .replaces_originals = true,
                                                                .edited = note}));
    return versions;
  }
  /// Checks all bytes. Notes the names of files that are lost, by the ids of snapshots.
  [[nodiscard]] bool is_clean(std::map<std::string, std::set<std::string>>* lost = nullptr) {
    const auto note = [&](const std::string& id, const std::string& path, const status&) {
      if (lost != nullptr) (*lost)[id].insert(path.substr(1));
    };
    const auto checked =
        store::check_store(opened_store_->reading(), {.reads_data = true, .threads = 1, .file_problem = note});
    return checked.ok() && checked->is_clean();
  }
  [[nodiscard]] std::vector<store::open_store::listed_snapshot> snapshots() { return *opened_store_->snapshots({}); }
  [[nodiscard]] result<file_map> read(const store::open_store::listed_snapshot& listed,
                                      lost_files lost = lost_files::are_failures) {
    store::record_reader records(opened_store_->objects(), opened_store_->key(), opened_store_->shards(), sha256());
    return read_files(records, listed.facts.root, lost);
  }

 private:
  session_faults planted_;
  made_store disk_store_;
  std::unique_ptr<store::open_store> opened_store_;
};

/// What a series of sessions has done when the machine stops.
struct history {
  expected_snapshots committed;
  file_map begun;                         ///< of the backup that was going on
  std::set<std::uint64_t> to_be_removed;  ///< whose removal was going on
};

/// Backs up four times, and removes a snapshot after every second backup. Stops at the first failure.
history play(const disk& files, const std::vector<file_map>& contents, session_faults planted) {
  history played;
  std::map<std::uint64_t, std::string> ids;
  for (std::uint64_t i = 1; i <= contents.size(); ++i) {
    session_store session(files, planted);
    played.begun = contents[i - 1];
    if (!session.open().ok()) return played;
    const auto id = session.back_up(contents[i - 1]);
    if (!id) return played;
    played.committed[i] = contents[i - 1];
    ids[i] = *id;
    if (i % 2 != 0) continue;
    played.to_be_removed = {i - 1};
    if (!session.remove(ids[i - 1]).ok()) return played;
    played.committed.erase(i - 1);
    played.to_be_removed.clear();
  }
  return played;
}

/// Returns what is wrong with a store after a crash, or an empty string.
std::string state_fault(const disk& after, const history& played, const file_map& next) {
  session_store session(after);
  if (status outcome = session.open(); !outcome.ok()) return outcome.message();
  if (!session.is_clean()) return "the store is not clean";
  std::set<std::uint64_t> sequences;
  for (const auto& each : session.snapshots()) {
    const auto contents = session.read(each);
    if (!contents) return contents.error().message();
    const auto expected = played.committed.find(each.facts.sequence);
    if (*contents != (expected == played.committed.end() ? played.begun : expected->second)) {
      return "a snapshot has other files";
    }
    sequences.insert(each.facts.sequence);
  }
  for (const auto& [sequence, contents] : played.committed) {
    if (!sequences.contains(sequence) && !played.to_be_removed.contains(sequence))
      return "a committed snapshot is lost";
  }
  const auto again = session.back_up(next);  // goes on with what the crash has left
  if (!again) return again.error().message();
  const auto all = session.snapshots();
  const auto contents = session.read(all.back());
  return contents && *contents == next ? "" : "a backup after the crash does not come back";
}

/// The contents of four snapshots, of which neighbours overlap.
std::vector<file_map> four_contents() {
  std::vector<file_map> contents;
  for (std::uint64_t i = 0; i < 4; ++i) contents.push_back(drawn_files(i / 2, 2 + i % 2, 2500));
  return contents;
}

/// Stops the sessions at every call in turn, and draws states of the disk. Returns a sentence on the first fault.
std::string session_fault(std::uint64_t state_count, disk_faults planted = {}, session_faults in_sessions = {}) {
  const std::vector<file_map> contents = four_contents();
  const disk prepared = made_store(small_config()).files;
  const auto act = [&](const disk& files) { return play(files, contents, in_sessions); };
  const auto judge = [&](const disk& after, const history& played) {
    return state_fault(after, played, contents.back());
  };
  return fault_of_stops(prepared, state_count / call_count(prepared, act) + 1, act, judge, planted);
}

TEST(crashes_of_sessions, lose_no_committed_snapshot) {
  EXPECT_EQ(session_fault(from_environment("CUTPOINT_CRASH_STATES", case_count(12'000u))), "");
}

TEST(crashes_of_sessions, show_each_planted_fault) {
  EXPECT_NE(session_fault(2000, {.skips_data_syncs = true}), "");
  EXPECT_NE(session_fault(2000, {.skips_folder_syncs = true}), "");
  EXPECT_NE(session_fault(2000, {}, {.commits_early = true}), "");
  EXPECT_NE(session_fault(2000, {}, {.drops_container = true}), "");
}

/// Returns what is wrong with a store after a power cut on a disk that cannot sync folders, or an empty string. Snapshots may be
/// lost, or be there again, and a file may be lost if a check says so; no file is another one, and a repair and a backup work.
/// Counts the states in which the check has found something.
std::string cut_fault(const disk& after, const std::vector<file_map>& contents, std::uint64_t& damaged_states) {
  session_store session(after);
  if (status outcome = session.open(); !outcome.ok()) return outcome.message();
  const bool is_clean = session.is_clean();
  for (const auto& each : session.snapshots()) {
    const auto files = session.read(each);
    if (!files && is_clean) return "a check has not found that a file is lost: " + files.error().message();
    const std::uint64_t sequence = each.facts.sequence;  // 0 where entries of the log are lost and nobody knows it
    const auto expected =
        std::span(contents).subspan(sequence == 0 ? 0 : sequence - 1, sequence == 0 ? contents.size() : 1);
    if (files && std::ranges::find(expected, *files) == expected.end()) return "a snapshot has other files";
  }
  if (!is_clean) {
    ++damaged_states;
    if (const auto repaired = session.repair(); !repaired) return repaired.error().message();
    if (status outcome = session.open(); !outcome.ok()) return outcome.message();
    if (!session.is_clean()) return "the store is not clean after a repair";
  }
  if (const auto again = session.back_up(contents.back()); !again) return again.error().message();
  const auto all = session.snapshots();
  const auto files = session.read(all.back());
  if (!files || *files != contents.back()) return "a backup after the power cut does not come back";
  return session.is_clean() ? "" : "the store is not clean after a backup";
}

TEST(sessions_without_folder_syncs, lose_nothing_if_they_are_killed) {
  const disk prepared = made_store(small_config()).files;
  const std::vector<file_map> contents = four_contents();
  const auto act = [&](const disk& files) { return play(files, contents, {}); };
  seeded_choices random(1);
  const std::uint64_t calls = call_count(prepared, act);
  for (std::uint64_t stop = 0; stop < calls; ++stop) {
    const disk files = prepared->crash(random);
    files->folder_sync_error = EINVAL;
    files->stop_at(stop);
    const history played = act(files);
    files->stop_at(volatile_file_system::never);
    ASSERT_EQ(state_fault(files, played, contents.back()), "") << "stopped at call " << stop;
  }
}

TEST(sessions_without_folder_syncs, show_by_a_check_what_a_power_cut_has_taken) {
  const disk prepared = made_store(small_config()).files;
  const std::vector<file_map> contents = four_contents();
  const auto act = [&](const disk& files) { return play(files, contents, {}); };
  std::uint64_t damaged_states = 0;
  const auto judge = [&](const disk& after, const history&) { return cut_fault(after, contents, damaged_states); };
  const std::uint64_t states = from_environment("CUTPOINT_CRASH_STATES", case_count(2000u));
  EXPECT_EQ(fault_of_stops(prepared, states / call_count(prepared, act) + 1, act, judge, {.folder_sync_error = EINVAL}),
            "");
  EXPECT_GT(damaged_states, 0u);
}

// --- repairs ------------------------------------------------------------------------------------------------------------

/// What is left of the snapshots of a damaged store: files that must come back, by sequence number.
expected_snapshots what_is_left(const disk& files, const expected_snapshots& before) {
  session_store session(files);
  std::map<std::string, std::set<std::string>> lost;
  EXPECT_TRUE(session.open().ok());
  EXPECT_FALSE(session.is_clean(&lost));
  expected_snapshots left = before;
  for (const auto& each : session.snapshots()) {
    file_map& contents = left[each.facts.sequence];
    if (lost[each.id].contains("")) contents.clear();  // the folder itself
    for (const std::string& name : lost[each.id]) contents.erase(name);
  }
  return left;
}

/// Returns a sentence on a file that neither a snapshot nor the one that replaces it brings back, or on a snapshot that is
/// there twice after the repair.
std::string repair_state_fault(const disk& after, const expected_snapshots& left) {
  for (const bool is_repaired : {false, true}) {
    session_store session(after);
    if (status outcome = session.open(); !outcome.ok()) return outcome.message();
    if (is_repaired) {
      if (const auto again = session.repair(); !again) return again.error().message();
      if (status outcome = session.open(); !outcome.ok()) return outcome.message();
      if (!session.is_clean()) return "the store is not clean";
    }
    const auto all = session.snapshots();
    if (is_repaired && all.size() != left.size()) return "a snapshot is lost or there twice";
    expected_snapshots missing = left;
    for (const auto& each : all) {
      const file_map whole = *session.read(each, lost_files::are_left_out);
      std::erase_if(missing[each.facts.sequence], [&](const auto& file) {
        const auto place = whole.find(file.first);
        return place != whole.end() && place->second == file.second;
      });
    }
    for (const auto& [sequence, files] : missing) {
      if (!files.empty()) return fmt::format("{} of snapshot {} is lost", files.begin()->first, sequence);
    }
  }
  return "";
}

/// Damages containers until files are lost, stops a repair at every call, and draws states of the disk.
std::string repair_fault(std::uint64_t state_count, std::uint64_t least_damaged_bytes, disk_faults planted = {}) {
  seeded_choices random(from_environment("CUTPOINT_CRASH_SEED", 1));
  const disk disk_store = made_store(small_config()).files;
  expected_snapshots before;
  for (std::uint64_t i = 1; i <= 3; ++i) {
    before[i] = drawn_files(i / 2, 4, 6000);
    session_store session(disk_store);
    if (!session.open().ok() || !session.back_up(before[i]).ok()) return "no backup";
  }
  const auto containers = *made_store(disk_store).open_storage("list")->list(store::object_kind::container);
  expected_snapshots left = before;
  for (std::uint64_t i = 0; i < least_damaged_bytes || left == before; ++i) {
    std::vector<std::uint8_t>& bytes = *disk_store->bytes_of("containers/" + containers[i % containers.size()]);
    bytes[random.between(store::object_header_bytes, bytes.size() - 1)] ^= 0x20;
    left = what_is_left(disk_store, before);
  }
  const auto repair = [](const disk& files) {
    session_store session(files);
    return session.open().ok() && session.repair().ok();
  };
  const auto judge = [&](const disk& after, bool) { return repair_state_fault(after, left); };
  return fault_of_stops(disk_store, state_count / call_count(disk_store, repair) + 1, repair, judge, planted);
}

TEST(crashes_of_repairs, lose_nothing_that_was_whole) {
  const std::uint64_t states = from_environment("CUTPOINT_CRASH_STATES", case_count(2000u));
  for (const std::uint64_t damaged_bytes : {std::uint64_t{1}, std::uint64_t{4}})
    EXPECT_EQ(repair_fault(states / 2, damaged_bytes), "");
}

TEST(crashes_of_repairs, show_missing_syncs) {
  EXPECT_NE(repair_fault(500, 4, {.skips_data_syncs = true, .skips_folder_syncs = true}), "");
}

// --- edits --------------------------------------------------------------------------------------------------------------

/// Returns a sentence on a snapshot that is lost, is there twice or has other files, or on a version that was reported and is
/// not there.
std::string edit_state_fault(const disk& after, const expected_snapshots& before, const std::string& excluded,
                             const std::set<std::string>& versions) {
  session_store session(after);
  if (status outcome = session.open(); !outcome.ok()) return outcome.message();
  if (!session.is_clean()) return "the store is not clean";
  const auto all = session.snapshots();
  if (all.size() != before.size()) return "a snapshot is lost or there twice";
  for (const std::string& each : versions) {
    if (std::ranges::count(all, each, &store::open_store::listed_snapshot::id) == 0) return "a version is lost";
  }
  for (const auto& each : all) {
    const auto contents = session.read(each);
    if (!contents) return contents.error().message();
    file_map expected = before.at(each.facts.sequence);
    if (!each.facts.original.empty() && each.facts.tags.empty()) expected.erase(excluded);
    if (*contents != expected) return "a snapshot has other files";
  }
  return "";
}

/// Stops edits of snapshots at every call, and draws states of the disk.
std::string edit_fault(std::uint64_t state_count, disk_faults planted = {}) {
  const disk disk_store = made_store(small_config()).files;
  expected_snapshots before;
  for (std::uint64_t i = 1; i <= 3; ++i) {
    before[i] = drawn_files(7, 4, 3000);
    before[i]["the " + std::to_string(i)] = {1, 2, 3};
    session_store session(disk_store);
    if (!session.open().ok() || !session.back_up(before[i]).ok()) return "no backup";
  }
  const std::string excluded = before[1].begin()->first;
  const auto edit = [&](const disk& files) {
    session_store session(files);
    return session.open().ok() ? session.edit(excluded) : std::set<std::string>();
  };
  const auto judge = [&](const disk& after, const std::set<std::string>& versions) {
    return edit_state_fault(after, before, excluded, versions);
  };
  seeded_choices random(1);
  EXPECT_EQ(edit(disk_store->crash(random)).size(), before.size());
  return fault_of_stops(disk_store, state_count / call_count(disk_store, edit) + 1, edit, judge, planted);
}

TEST(crashes_of_edits, leave_each_snapshot_or_its_version) {
  EXPECT_EQ(edit_fault(from_environment("CUTPOINT_CRASH_STATES", case_count(2000u))), "");
}

TEST(crashes_of_edits, show_missing_syncs) {
  EXPECT_NE(edit_fault(500, {.skips_data_syncs = true, .skips_folder_syncs = true}), "");
}

}  // namespace
}  // namespace cutpoint::tests
