// `cutpoint forget`: removes snapshots that are named, or that no rule keeps.
#include <algorithm>
#include <chrono>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cli/common/interrupt.h"
#include "cli/common/options.h"
#include "cli/common/output.h"
#include "cli/common/subcommand.h"
#include "cli/common/units.h"
#include "cli/store/activity_line.h"
#include "cli/store/forget_rules.h"
#include "cli/store/prune_report.h"
#include "cli/store_options/snapshot_options.h"
#include "cli/store_options/store_options.h"
#include "cli/subcommands.h"

namespace cutpoint::cli {

namespace {

class forget_command final : public subcommand {
 public:
  void add_options(option_list& options) override;
  result<exit_code> run() override;

 private:
  /// What is kept and removed, and whether something was left out that could not be found or read.
  struct forget_plan {
    std::vector<snapshot_group> groups;
    bool is_whole = true;
  };
  [[nodiscard]] result<forget_plan> plan(const console& say, backup_store& store, const forget_rules& rules) const;
  [[nodiscard]] std::string text_of(const forget_plan& plan) const;
  /// Prunes, or says what that would do when the snapshots `forgotten` are removed.
  [[nodiscard]] exit_code prune(const console& say, backup_store& store, std::set<std::string> forgotten) const;

  store_options store_;
  std::vector<std::string> ids_;
  rule_options rules_;
  bool is_dry_run_ = false;
  bool prunes_ = false;
  bool is_json_ = false;
  verbosity level_ = verbosity::normal;
};

std::int64_t nanoseconds_now() {
  return std::chrono::nanoseconds(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::string line_of(const snapshot_decision& decision) {
  const store_snapshot& snapshot = decision.snapshot;
  const std::string paths = fmt::format("{}", fmt::join(snapshot.paths, " "));
  const std::string note =
      decision.is_kept() ? fmt::format("{}", fmt::join(decision.reasons, ", ")) : snapshot.host + "  " + paths;
  return fmt::format("  {:6}  {}  {}  {}\n", decision.is_kept() ? "keep" : "remove", snapshot.id.substr(0, 16),
                     local_time(snapshot.time), printable(note));
}

std::string json_of(const snapshot_group& group) {
  json keep = json::array();
  json remove = json::array();
  for (const auto& [snapshot, reasons] : group.decisions) {
    json record = snapshot_json(snapshot);
    if (!reasons.empty()) record["reasons"] = reasons;
    (reasons.empty() ? remove : keep).push_back(std::move(record));
  }
  return json_line(
      {{"host", group.host}, {"paths", group.paths}, {"tags", group.tags}, {"keep", keep}, {"remove", remove}});
}

/// Returns the ids of the snapshots that are not kept.
std::set<std::string> removed_of(const std::vector<snapshot_group>& groups) {
  std::set<std::string> ids;
  for (const snapshot_group& group : groups) {
    for (const snapshot_decision& each : group.decisions) {
      if (!each.is_kept()) ids.insert(each.snapshot.id);
    }
  }
  return ids;
}

}  // namespace

void forget_command::add_options(option_list& options) {
  options.add_argument("SNAPSHOT", ids_,
                       "Snapshots to remove; 'latest' is the newest. Without them, rules say what is kept");
  store_.add_to(options);
  rules_.add_to(options);
  options.add_flag("--dry-run", is_dry_run_, "Remove nothing, and print what would be removed");
  options.add_flag("--prune", prunes_, "Remove what no snapshot refers to any more, if snapshots were removed");
  options.add_flag("--json", is_json_, "Print a line of JSON for each group");
  options.add_quiet(level_);
}

/// Puts the snapshots that were named into one group, or applies the rules to all.
result<forget_command::forget_plan> forget_command::plan(const console& say, backup_store& store,
                                                         const forget_rules& rules) const {
  auto chosen = choose_snapshots(say, store, ids_, rules.filter);
  if (!chosen) return chosen.error();
  forget_plan plan{.groups = {}, .is_whole = chosen->is_whole};
  if (!ids_.empty()) {
    auto& decisions = plan.groups.emplace_back().decisions;
    for (store_snapshot& each : chosen->snapshots) decisions.push_back({std::move(each), {}});
    return plan;
  }
  auto groups = apply_policy(chosen->snapshots, rules.policy, rules.grouping, nanoseconds_now());
  if (!groups) return groups.error();
  plan.groups = std::move(*groups);
  return plan;
}

std::string forget_command::text_of(const forget_plan& plan) const {
  std::string text;
  std::uint64_t kept_count = 0;
  std::uint64_t removed_count = 0;
  for (const snapshot_group& group : plan.groups) {
    if (is_json_) {
      text += json_of(group);
      continue;
    }
    if (ids_.empty()) text += heading_of(group);
    for (const snapshot_decision& each : group.decisions) {
      text += line_of(each);
      ++(each.is_kept() ? kept_count : removed_count);
    }
  }
  if (is_json_) return text;
  return text + (ids_.empty() ? human_count(kept_count) + " kept, " : "") + human_count(removed_count) +
         (is_dry_run_ ? " would be removed\n" : " to be removed\n");
}

exit_code forget_command::prune(const console& say, backup_store& store, std::set<std::string> forgotten) const {
  activity_line drawn(say);
  const store_prune_options options{.is_dry_run = is_dry_run_,
                                    .forgotten = std::move(forgotten),
                                    .progress = drawn.drawer(),
                                    .cancel = &interruption()};
  const auto done = store.prune(options);
  drawn.erase();
  if (!done) return fail(say, done.error());
  const std::string text = is_json_ ? json_line({{"prune", prune_json(*done)}}) : prune_text(*done, options);
  return exit_code_of(*done, write_report(text, is_json_, say));
}

result<exit_code> forget_command::run() {
  const console say(level_);
  const auto rules = rules_.read();
  if (!rules) return rules.error();
  if (ids_.empty() && rules->policy.is_empty()) {
    return usage_error("nothing says what to forget: name snapshots, or give a rule such as --keep-last 7");
  }
  if (!ids_.empty() && rules_.is_any_given()) {
    return usage_error("snapshots are named, so that rules, groups and filters would have no effect");
  }
  auto store = store_.open_for_writing();
  if (!store) return store.error();
  auto forgotten = plan(say, *store, *rules);
  if (!forgotten) return fail(say, forgotten.error());
  // Nothing is removed before the user was told.
  const exit_code written = write_report(text_of(*forgotten), is_json_, say);
  if (written != exit_code::done) return written;
  std::set<std::string> ids = removed_of(forgotten->groups);
  std::size_t count = ids.size();
  if (!is_dry_run_) {
    const auto note = [&](const std::string&, const status& why) {
      say.error(why.message());
      forgotten->is_whole = false;
    };
    const auto removed = store->remove_snapshots(ids, note, &interruption());
    if (!removed) return fail(say, removed.error());
    count = *removed;
  }
  const exit_code pruned = prunes_ && count != 0 ? prune(say, *store, std::move(ids)) : exit_code::done;
  if (pruned != exit_code::done) return pruned;
  return forgotten->is_whole ? exit_code::done : exit_code::input_failed;
}

std::unique_ptr<subcommand> make_forget_command() { return std::make_unique<forget_command>(); }

}  // namespace cutpoint::cli
