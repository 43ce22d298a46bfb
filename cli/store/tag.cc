// `cutpoint tag`: changes the tags of snapshots.
#include <algorithm>

#include "cli/store/reports.h"
#include "cli/store_options/store_options.h"
#include "cli/subcommands.h"

namespace cutpoint::cli {

namespace {

class tag_command final : public subcommand {
 public:
  void add_options(option_list& options) override;
  result<exit_code> run() override;

 private:
  [[nodiscard]] result<store_tag_options> checked() const;

  store_options store_;
  snapshot_options among_;
  std::vector<std::string> ids_;
  std::vector<std::string> added_;
  std::vector<std::string> removed_;
  std::vector<std::string> tags_;
  bool is_json_ = false;
  verbosity level_ = verbosity::normal;
};

}  // namespace

void tag_command::add_options(option_list& options) {
  options.add_argument("SNAPSHOT", ids_, "Snapshots to change; 'latest' is the newest (default: all)");
  store_.add_to(options);
  options.add_value("--add", added_, "TAG,...", "Add tags (repeatable)");
  options.add_value("--remove", removed_, "TAG,...", "Remove tags (repeatable)");
  options.add_value("--set", tags_, "TAG,...", "Replace all tags; '' leaves none (repeatable)");
  among_.add_to(options);
  options.add_flag("--json", is_json_, "Print lines of JSON");
  options.add_quiet(level_);
}

/// Reads the tags. Errors: invalid_argument.
result<store_tag_options> tag_command::checked() const {
  if (added_.empty() && removed_.empty() && tags_.empty()) {
    return usage_error("nothing says how to change the tags: give --add, --remove or --set");
  }
  if (!tags_.empty() && !(added_.empty() && removed_.empty())) {
    return usage_error("--set replaces all tags, so that --add and --remove would have no effect");
  }
  CUTPOINT_TRY(auto added, checked_tags("--add", added_));
  CUTPOINT_TRY(auto removed, checked_tags("--remove", removed_));
  store_tag_options options{.added = std::move(added), .removed = std::move(removed), .cancel = &interruption()};
  if (tags_.empty()) return options;
  const bool is_none = std::ranges::all_of(tags_, &std::string::empty);
  CUTPOINT_TRY(options.tags, checked_tags("--set", is_none ? std::vector<std::string>() : tags_));
  return options;
}

result<exit_code> tag_command::run() {
  const console say(level_);
  CUTPOINT_TRY(auto options, checked());
  CUTPOINT_TRY(auto store, store_.open_for_writing());
  const auto chosen = choose_snapshots(say, store, ids_, among_.filter());
  if (!chosen) return fail(say, chosen.error());
  for (const store_snapshot& each : chosen->snapshots) options.snapshots.insert(each.id);
  auto out = output_option().open();
  if (!out) return fail(say, out.error());
  edit_report report(say, *out, is_json_ ? edit_report::format::json : edit_report::format::text);
  options.edited = [&](const std::string& old_id, const std::string& new_id) { report.add_edited(old_id, new_id); };
  options.problem = [&](const std::string& id, const status& why) { report.add_problem(id, why); };
  const auto done = store.change_tags(options);
  remember_log(store_.location(), store);
  const std::string sum = done ? human_count(done->edited) + " snapshots have other tags and other ids" : "";
  return report.finish(done, sum, chosen->is_whole);
}

std::unique_ptr<subcommand> make_tag_command() { return std::make_unique<tag_command>(); }

}  // namespace cutpoint::cli
