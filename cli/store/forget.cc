// `cutpoint forget`: removes snapshots that are named, or that no rule keeps.
#include <algorithm>
#include <array>
#include <chrono>
#include <set>
#include <utility>

#include <cutpoint/store_policy.h>
#include <fmt/format.h>

#include "cli/store/reports.h"
#include "cli/store_options/store_options.h"
#include "cli/subcommands.h"

namespace cutpoint::cli {

// --- Rules -----------------------------------------------------------------------------------------------------------

/// What the options say.
struct forget_rules {
  snapshot_policy policy;
  snapshot_grouping grouping;
  snapshot_filter filter;
  bool distrusts_times = false;
};

class rule_options {
 public:
  void add_to(option_list& options);

  /// Returns whether an option was given that begins so. None of them goes together with named snapshots.
  [[nodiscard]] bool is_any_given(std::string_view begin = "--") const;
  /// Errors: invalid_argument, with the option and its bounds.
  [[nodiscard]] result<forget_rules> read() const;

 private:
  std::array<std::string, keep_period_count> counts_;
  std::array<std::string, keep_period_count> spans_;
  std::vector<std::string> keep_tags_;
  std::string group_by_ = "host,paths";
  std::vector<std::string> hosts_;
  std::vector<std::string> paths_;
  std::vector<std::string> tags_;
  bool distrusts_times_ = false;
  std::vector<const option*> options_;
};

namespace {

/// The options of a `keep_period`.
struct period_options {
  const char* count;
  const char* count_meaning;
  const char* span;
  const char* span_meaning;
};

constexpr std::array<period_options, keep_period_count> periods = {{
    {"--keep-last", "Keep the N newest snapshots; 'unlimited' or -1 keeps all, also below", "--keep-within",
     "Keep the snapshots that are less than SPAN older than the newest one, such as 1y2m3d4h"},
    {"--keep-hourly", "Keep the newest snapshot of each of the last N hours that have one", "--keep-within-hourly",
     "Keep the newest snapshot of each hour in the SPAN before the newest one"},
    {"--keep-daily", "Keep the newest snapshot of each of the last N days that have one", "--keep-within-daily",
     "Keep the newest snapshot of each day in the SPAN before the newest one"},
    {"--keep-weekly", "Keep the newest snapshot of each of the last N weeks that have one", "--keep-within-weekly",
     "Keep the newest snapshot of each week in the SPAN before the newest one"},
    {"--keep-monthly", "Keep the newest snapshot of each of the last N months that have one", "--keep-within-monthly",
     "Keep the newest snapshot of each month in the SPAN before the newest one"},
    {"--keep-yearly", "Keep the newest snapshot of each of the last N years that have one", "--keep-within-yearly",
     "Keep the newest snapshot of each year in the SPAN before the newest one"},
}};

std::vector<std::vector<std::string>> lists_of(const std::vector<std::string>& texts) {
  std::vector<std::vector<std::string>> lists;
  for (const std::string& each : texts) lists.push_back(words_of(each));
  return lists;
}

}  // namespace

void rule_options::add_to(option_list& options) {
  for (std::size_t i = 0; i < keep_period_count; ++i) {
    options_.push_back(&options.add_value(periods[i].count, counts_[i], "N", periods[i].count_meaning));
  }
  for (std::size_t i = 0; i < keep_period_count; ++i) {
    options_.push_back(&options.add_value(periods[i].span, spans_[i], "SPAN", periods[i].span_meaning));
  }
  options_.push_back(&options.add_value("--keep-tag", keep_tags_, "TAG,...",
                                        "Keep the snapshots that have all of the tags; '' means without tags"));
  options_.push_back(&options.add_value("--group-by", group_by_, "LIST",
                                        "Apply the rules to each group: 'host', 'paths', 'tags', or '' for one group"));
  options_.push_back(&options.add_flag(
      "--distrust-times", distrusts_times_,
      "Count snapshots when they were put; keep and name those with other times. No guard for --keep-last"));
  options_.push_back(&options.add_value("--host", hosts_, "HOST", "Look only at snapshots of this host"));
  options_.push_back(&options.add_value("--path", paths_, "PATH", "Look only at snapshots with this absolute path"));
  options_.push_back(&options.add_value("--tag", tags_, "TAG,...", "Look only at snapshots that have all of the tags"));
}

bool rule_options::is_any_given(std::string_view begin) const {
  return std::ranges::any_of(options_,
                             [&](const option* each) { return each->is_given && each->names.starts_with(begin); });
}

result<forget_rules> rule_options::read() const {
  forget_rules rules;
  for (std::size_t i = 0; i < keep_period_count; ++i) {
    if (!counts_[i].empty()) {
      const bool is_unlimited = counts_[i] == "unlimited" || counts_[i] == "-1";
      CUTPOINT_TRY(rules.policy.counts[i],
                   is_unlimited ? unlimited_snapshots : checked_number(periods[i].count, counts_[i], 0));
    }
    if (!spans_[i].empty()) {
      const auto span = parse_calendar_span(spans_[i]);
      if (!span) return usage_error(fmt::format("{} {}", periods[i].span, span.error().message()));
      rules.policy.spans[i] = *span;
    }
  }
  rules.policy.tags = lists_of(keep_tags_);
  CUTPOINT_TRY(rules.grouping, checked_grouping(group_by_));
  rules.filter = {.hosts = hosts_, .paths = paths_, .tags = lists_of(tags_)};
  rules.distrusts_times = distrusts_times_;
  return rules;
}

// --- The command -----------------------------------------------------------------------------------------------------

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
    std::size_t distrusted = 0;  ///< snapshots that are kept because of their times
  };
  [[nodiscard]] result<forget_plan> plan(const console& say, backup_store& store, const forget_rules& rules) const;
  [[nodiscard]] std::string text_of(const forget_plan& plan) const;
  [[nodiscard]] std::string sum_of(const forget_plan& plan, std::size_t removed) const;
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
  return fmt::format("  {:6}  {}  {}  {}\n", decision.is_kept() ? "keep" : "remove", short_id(snapshot.id),
                     local_time(snapshot.time), printable(note));
}

std::size_t distrusted_in(const snapshot_group& group) {
  return static_cast<std::size_t>(std::ranges::count_if(group.decisions, &snapshot_decision::is_distrusted));
}

std::string json_of(const snapshot_group& group) {
  json keep = json::array();
  json remove = json::array();
  for (const snapshot_decision& each : group.decisions) {
    json record = snapshot_json(each.snapshot);
    if (each.is_kept()) record["reasons"] = each.reasons;
    if (each.is_distrusted) record["distrusted"] = true;
    (each.is_kept() ? keep : remove).push_back(std::move(record));
  }
  return json_line({{"host", group.host},
                    {"paths", group.paths},
                    {"tags", group.tags},
                    {"keep", keep},
                    {"remove", remove},
                    {"distrusted", distrusted_in(group)}});
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
  CUTPOINT_TRY(auto chosen, choose_snapshots(say, store, ids_, rules.filter));
  forget_plan plan{.groups = {}, .is_whole = chosen.is_whole};
  if (!ids_.empty()) {
    auto& decisions = plan.groups.emplace_back().decisions;
    for (store_snapshot& each : chosen.snapshots) decisions.push_back({std::move(each), {}});
    return plan;
  }
  snapshot_put_times put_times;
  if (rules.distrusts_times) {
    CUTPOINT_TRY(put_times, store.put_times());
  }
  CUTPOINT_TRY(plan.groups, apply_policy(chosen.snapshots, rules.policy, rules.grouping, nanoseconds_now(),
                                         rules.distrusts_times ? &put_times : nullptr));
  for (const snapshot_group& group : plan.groups) plan.distrusted += distrusted_in(group);
  return plan;
}

std::string forget_command::text_of(const forget_plan& plan) const {
  std::string text;
  for (const snapshot_group& group : plan.groups) {
    if (is_json_) {
      text += json_of(group);
      continue;
    }
    if (ids_.empty()) text += heading_of(group);
    for (const snapshot_decision& each : group.decisions) text += line_of(each);
  }
  return text;
}

std::string forget_command::sum_of(const forget_plan& plan, std::size_t removed) const {
  std::size_t remaining = 0;
  for (const snapshot_group& group : plan.groups) {
    remaining += static_cast<std::size_t>(std::ranges::count_if(group.decisions, &snapshot_decision::is_kept));
  }
  const std::string distrusted =
      plan.distrusted == 0 ? "" : fmt::format(" ({} for a distrusted time)", human_count(plan.distrusted));
  return (ids_.empty() ? human_count(remaining) + " kept" + distrusted + ", " : "") + human_count(removed) +
         (is_dry_run_ ? " would be removed\n" : " removed\n");
}

exit_code forget_command::prune(const console& say, backup_store& store, std::set<std::string> forgotten) const {
  activity_line drawn(say);
  const store_prune_options options{.is_dry_run = is_dry_run_,
                                    .forgotten = std::move(forgotten),
                                    .progress = drawn.drawer(),
                                    .cancel = &interruption()};
  const auto done = store.prune(options);
  drawn.erase();
  if (!done) return fail(say, done.error(), interrupted_prune);
  const std::string text = is_json_ ? json_line({{"prune", prune_json(*done)}}) : prune_text(*done, options);
  return exit_code_of(*done, write_report(text, is_json_, say));
}

result<exit_code> forget_command::run() {
  const console say(level_);
  CUTPOINT_TRY(const auto rules, rules_.read());
  if (ids_.empty() && rules.policy.is_empty()) {
    return usage_error(fmt::format("{}: name snapshots, or give a rule such as --keep-last 7",
                                   rules_.is_any_given("--keep") ? "the rules keep nothing, and all would be removed"
                                                                 : "nothing says what to forget"));
  }
  if (!ids_.empty() && rules_.is_any_given()) {
    return usage_error("snapshots are named, so that rules, groups and filters would have no effect");
  }
  CUTPOINT_TRY(auto store, store_.open_for_writing());
  auto forgotten = plan(say, store, rules);
  if (!forgotten) return fail(say, forgotten.error());
  // Nothing is removed before the user was told.
  const exit_code written = write_report(text_of(*forgotten), is_json_, say);
  if (written != exit_code::done) return written;
  if (forgotten->distrusted != 0 && !is_json_) {
    say.warning(fmt::format(
        "{} kept whose time is not when {} put: look at what {}, and forget by id what you did not back up",
        forgotten->distrusted == 1 ? "1 snapshot is" : human_count(forgotten->distrusted) + " snapshots are",
        forgotten->distrusted == 1 ? "it was" : "they were", forgotten->distrusted == 1 ? "it has" : "they have"));
  }
  std::set<std::string> ids = removed_of(forgotten->groups);
  std::size_t count = ids.size();
  if (!is_dry_run_) {
    const auto note = [&](const std::string&, const status& why) {
      say.error(why.message());
      forgotten->is_whole = false;
    };
    const auto removed = store.remove_snapshots(ids, note, &interruption());
    if (!removed)
      return fail(say, removed.error(), "a part of these snapshots was removed; 'snapshots' shows the others");
    count = *removed;
  }
  const exit_code summed = is_json_ ? written : write_report(sum_of(*forgotten, count), false, say);
  if (summed != exit_code::done) return summed;
  const exit_code pruned = prunes_ && count != 0 ? prune(say, store, std::move(ids)) : exit_code::done;
  if (pruned != exit_code::done) return pruned;
  return forgotten->is_whole ? exit_code::done : exit_code::input_failed;
}

std::unique_ptr<subcommand> make_forget_command() { return std::make_unique<forget_command>(); }

}  // namespace cutpoint::cli
