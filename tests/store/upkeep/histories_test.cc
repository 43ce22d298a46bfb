// Commands on one store at once lose nothing: random histories of backups, prunes, repairs and removals, each stopped at random
// calls, against a plain dictionary.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "store/upkeep/upkeep.h"
#include "tests/host/support/choices.h"
#include "tests/store/support/whole_session.h"

namespace cutpoint::tests {
namespace {

/// A store, and what it must bring back.
class history {
 public:
  history(std::uint64_t seed, session_faults planted) : random_(seed), planted_(planted) {}

  /// Plays some commands, each beside others, and returns a sentence on the first loss, or an empty string.
  std::string play() {
    back_up_something();
    for (std::uint64_t left = random_.between(2, 4); left != 0; --left) {
      run_with_others(random_.between(0, 2));
      if (std::string loss = loss_now(); !loss.empty()) return loss;
    }
    end_all_sessions(disk_store_);
    for (int round = 0; round < 3; ++round) {
      const auto pruned = store::prune_store(*disk_store_.open(), {.most_unused = 0, .threads = 1});
      if (!pruned) return "a last prune failed: " + pruned.error().message();
      if (std::string loss = loss_now(); !loss.empty()) return loss + ", pruned at last";
    }
    std::string damaged;
    const auto note = [&](const std::string& object, const status& why, std::uint64_t) {
      // Of a session that lost its lease while it ran, nobody knows whether the entry was lost or never put.
      if (!has_ended_running_ || !object.starts_with("snapshots/")) damaged = why.message();
    };
    const auto repaired = store::repair_store(*disk_store_.open(), {.threads = 1, .damaged = note});
    if (!repaired) return "a last repair failed: " + repaired.error().message();
    if (!damaged.empty() || repaired->lost_files != 0) return "a repair found damage: " + damaged;
    return loss_now();
  }
  [[nodiscard]] const std::string& said() const noexcept { return said_; }

 private:
  enum class command { back_up, prune, repair, forget, merge, tag, rewrite };

  /// Runs a command. At random calls of it others run, and it may be killed at another call.
  void run_with_others(std::uint64_t depth) {
    constexpr std::uint64_t most_calls = 90;
    const std::uint64_t other_call = random_.between(0, most_calls);
    const bool dies = random_.once_in(4);
    const std::uint64_t last_call = dies ? random_.between(0, most_calls) : ~std::uint64_t{0};
    const auto outer = std::exchange(disk_store_.files->meanwhile, nullptr);
    std::uint64_t calls = 0;
    bool is_dead = false;
    disk_store_.files->meanwhile = [&](const std::string&) {
      if (is_dead) return;
      if (calls == other_call && depth > 0) {
        if (random_.once_in(3)) {  // others take it for dead
          end_all_sessions(disk_store_);
          has_ended_running_ = true;
        }
        run_with_others(depth - 1);
      }
      if (calls++ == last_call) {
        is_dead = true;
        disk_store_.files->stop_at(disk_store_.files->calls());
      }
    };
    run_command();
    disk_store_.files->stop_at(volatile_file_system::never);
    disk_store_.files->meanwhile = outer;
  }

  void run_command() {
    static constexpr std::array commands{command::back_up, command::back_up, command::prune,
                                         command::prune,   command::repair,  command::forget,
                                         command::merge,   command::tag,     command::rewrite};
    const auto opened_store = disk_store_.try_open(std::nullopt);
    if (!opened_store) return;
    const command chosen = commands[random_.between(0, commands.size() - 1)];
    said_ += fmt::format(" {}", static_cast<int>(chosen));
    switch (chosen) {
      case command::back_up:
        back_up_something();
        return;
      case command::prune:
        static_cast<void>(store::prune_store(**opened_store, {.most_unused = 0, .threads = 1}));
        return;
      case command::repair:
        static_cast<void>(store::repair_store(**opened_store, {.threads = 1}));
        return;
      case command::forget: {
        const auto [id, files] = take_expected();
        if (!id.empty()) static_cast<void>(forget(**opened_store, id));
        return;
      }
      case command::tag: {
        const auto [id, files] = take_expected();
        if (id.empty()) return;
        static_cast<void>(store::change_tags(
            **opened_store, {.snapshots = {id},
                             .added = {fmt::format("{}", random_.word())},
                             .edited = [&](auto&, auto& replacement) { expected_[replacement] = files; }}));
        return;
      }
      case command::rewrite: {
        const auto [id, files] = take_expected();
        if (id.empty()) return;
        const bool is_replaced = random_.once_in(2);
        if (!is_replaced) expected_[id] = files;
        static_cast<void>(store::rewrite_snapshots(
            **opened_store, {.snapshots = {id},
                             .exclude = {*path_pattern::make("more-*")},
                             .replaces_originals = is_replaced,
                             .edited = [&](auto&, auto& version) { expected_[version] = without_more(files); }}));
        return;
      }
      case command::merge:
        static_cast<void>((*opened_store)->shards().merge());
        return;
    }
  }

  /// Backs up files of which earlier backups have some.
  void back_up_something() {
    const auto opened_store = disk_store_.try_open(std::nullopt);
    if (!opened_store) return;
    file_map files = drawn_files(random_.between(1, 4), 2, 3000);
    for (auto& [name, bytes] : drawn_files(random_.between(1, 4), 2, 3000)) files["more-" + name] = std::move(bytes);
    const auto id = back_up(**opened_store, files, planted_);
    if (id) expected_[*id] = std::move(files);
  }

  /// Takes a snapshot from those that are expected, whatever becomes of it now. Returns an empty id if there is none.
  std::pair<std::string, file_map> take_expected() {
    if (expected_.empty()) return {};
    auto chosen = expected_.begin();
    std::advance(chosen, random_.between(0, expected_.size() - 1));
    std::pair<std::string, file_map> snapshot = *chosen;
    expected_.erase(chosen);
    return snapshot;
  }

  static file_map without_more(file_map files) {
    std::erase_if(files, [](const auto& file) { return file.first.starts_with("more-"); });
    return files;
  }

  /// Returns what is lost of the snapshots that were committed, and of others that are seen: those of commands that were killed.
  [[nodiscard]] std::string loss_now() {
    const auto opened_store = disk_store_.try_open(std::nullopt);
    if (!opened_store) return opened_store.error().message();
    const auto all = (*opened_store)->snapshots({});
    if (!all) return all.error().message();
    for (const auto& each : *all) {
      if (const auto read = read_back(**opened_store, each.id); !read) return "seen: " + read.error().message();
    }
    for (const auto& [id, files] : expected_) {
      if (std::ranges::count(*all, id, &store::open_store::listed_snapshot::id) == 0) return id + " is not there";
    }
    return loss_in(**opened_store, expected_);
  }

  seeded_choices random_;
  session_faults planted_;
  made_store disk_store_;
  snapshot_map expected_;
  bool has_ended_running_ = false;
  std::string said_;
};

/// Plays histories from a seed on. Returns what the first one that loses something has lost.
std::string loss_in_histories(std::uint64_t count, session_faults planted = {}) {
  const std::uint64_t first = from_environment("CUTPOINT_HISTORY_SEED", 1);
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    history played(seed, planted);
    if (const std::string loss = played.play(); !loss.empty()) {
      return fmt::format("{} (seed {}, commands{})", loss, seed, played.said());
    }
  }
  return "";
}

TEST(histories, lose_nothing) {
  const std::uint64_t count = from_environment("CUTPOINT_HISTORIES", case_count(2000u));
  EXPECT_EQ(loss_in_histories(count), "");
}

TEST(histories, show_a_session_that_publishes_without_an_audit) {
  EXPECT_NE(loss_in_histories(2000, {.audits_nothing = true}), "");
}

}  // namespace
}  // namespace cutpoint::tests
