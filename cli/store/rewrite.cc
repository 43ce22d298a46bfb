// `cutpoint rewrite`: writes snapshots without files that should not be in them.
#include <fmt/format.h>

#include "cli/options/path_options.h"
#include "cli/store/reports.h"
#include "cli/store_options/store_options.h"
#include "cli/subcommands.h"

namespace cutpoint::cli {

namespace {

class rewrite_command final : public subcommand {
 public:
  void add_options(option_list& options) override;
  result<exit_code> run() override;

 private:
  [[nodiscard]] std::string sum_of(const store_edit_summary& done) const;

  store_options store_;
  snapshot_options among_;
  std::vector<std::string> ids_;
  exclude_options excluded_;
  bool forgets_ = false;
  bool is_dry_run_ = false;
  bool is_json_ = false;
  verbosity level_ = verbosity::normal;
};

}  // namespace

void rewrite_command::add_options(option_list& options) {
  options.add_argument("SNAPSHOT", ids_, "Snapshots to rewrite; 'latest' is the newest (default: all)");
  store_.add_to(options);
  excluded_.add_to(options, "Leave out what matches (repeatable)");
  among_.add_to(options);
  options.add_flag("--forget", forgets_, "Remove the old snapshots, whose places the new ones take");
  options.add_flag("--dry-run", is_dry_run_, "Change nothing, and print what would be left out");
  options.add_flag("--json", is_json_, "Print lines of JSON");
  options.add_verbosity(level_);
}

std::string rewrite_command::sum_of(const store_edit_summary& done) const {
  std::string text = fmt::format("{} {}, {} unchanged", counted(done.edited, "snapshot"),
                                 is_dry_run_ ? "would be rewritten" : "rewritten", human_count(done.unchanged));
  if (is_dry_run_ || done.edited == 0) return text;
  return text + (forgets_ ? ". What was left out stays in the store until cutpoint prune"
                          : ". The old ones stay until cutpoint forget, and the data until cutpoint prune");
}

result<exit_code> rewrite_command::run() {
  const console say(level_);
  if (!excluded_.is_any_given()) {
    return usage_error("nothing says what to leave out: give --exclude, --iexclude or --exclude-file");
  }
  CUTPOINT_TRY(auto exclude, excluded_.checked());
  CUTPOINT_TRY(auto store, store_.open_for_writing());
  const auto chosen = choose_snapshots(say, store, ids_, among_.filter());
  if (!chosen) return fail(say, chosen.error());
  auto out = output_option().open();
  if (!out) return fail(say, out.error());
  edit_report report(say, *out, is_json_ ? edit_report::format::json : edit_report::format::text);
  store_rewrite_options options{
      .exclude = std::move(exclude),
      .replaces_originals = forgets_,
      .is_dry_run = is_dry_run_,
      .left_out = [&](const std::string& id, const std::string& path) { report.add_left_out(id, path); },
      .edited = [&](const std::string& old_id, const std::string& new_id) { report.add_edited(old_id, new_id); },
      .problem = [&](const std::string& id, const status& why) { report.add_problem(id, why); },
      .warning = [&](const std::string& text,
                     const status& why) { say.unmatched_pattern(problem_text(text, why), is_dry_run_); },
      .cancel = &interruption()};
  for (const store_snapshot& each : chosen->snapshots) options.snapshots.insert(each.id);
  const auto done = store.rewrite(options);
  if (!is_dry_run_) remember_log(store_.location(), store);
  return report.finish(done, done ? sum_of(*done) : "", chosen->is_whole);
}

std::unique_ptr<subcommand> make_rewrite_command() { return std::make_unique<rewrite_command>(); }

}  // namespace cutpoint::cli
