// `cutpoint backup`: backs up files and folders into a store.
#include <array>
#include <cerrno>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "cli/common/files.h"
#include "cli/options/path_options.h"
#include "cli/store/backup_report.h"
#include "cli/store_options/store_options.h"
#include "cli/subcommands.h"

namespace cutpoint::cli {

namespace {

class backup_command final : public subcommand {
 public:
  void add_options(option_list& options) override;
  result<exit_code> run() override;

 private:
  store_options store_;
  path_options paths_;
  walk_filter filter_;
  std::string standard_input_name_ = "stdin";
  bool reads_command_ = false;
  std::vector<std::string> tags_;
  std::string host_;
  std::string time_;
  std::string parent_;
  store_lanes lanes_;
  std::string memory_ = "256M";
  std::string limit_;
  std::string cap_;
  bool reads_everything_ = false;
  bool trusts_change_time_ = false;
  bool is_dry_run_ = false;
  bool skips_unchanged_ = false;
  bool is_json_ = false;
  verbosity verbosity_ = verbosity::normal;
};

std::string own_host() {
  std::array<char, 256> name = {};
  ::gethostname(name.data(), name.size() - 1);
  return name.data();
}

}  // namespace

void backup_command::add_options(option_list& options) {
  paths_.add_to(options, "Files or folders to back up; '-' is standard input");
  store_.add_to(options);
  filter_.add_to(options);
  options.add_value("--stdin-name", standard_input_name_, "TEXT", "Name under which standard input is stored");
  options
      .add_flag("--stdin-from-command", reads_command_,
                "Store the output of the command after '--' as standard input, if the command succeeds")
      .excludes(options.find("--files-from"))
      .excludes(options.find("--files-from0"));
  options.add_value("--tag", tags_, "TAG,...", "Tags of the snapshot (repeatable)");
  options.add_value("--host", host_, "HOST", "Host of the snapshot (default: this one)");
  options.add_value("--time", time_, "TIME",
                    "Time of the snapshot, such as '2026-11-23 14:05', or seconds since 1970 (default: now)");
  options.add_value("--parent", parent_, "SNAPSHOT",
                    "Snapshot whose unchanged files are not read (default: the newest with this host and these paths)");
  options.add_flag("--trust-change-time", trusts_change_time_,
                   "Take files for unchanged by their times also on file systems that may keep no time of change");
  options.add_flag("--force", reads_everything_, "Read all files, also unchanged ones");
  options.add_flag("--dry-run", is_dry_run_, "Store nothing, and say what would be added");
  options.add_flag("--skip-if-unchanged", skips_unchanged_, "Make no snapshot if nothing has changed since the parent");
  lanes_.add_to(options);
  options
      .add_value(
          "--cap", cap_, "N",
          "Refer to at most N containers of earlier backups for each 100 MiB that are read, and store the rest again")
      .excludes(options.find("--segment"));
  options.add_value("--memory", memory_, "SIZE", "Most bytes of files to hold in memory");
  options.add_value("--limit-read", limit_, "SIZE", "Read at most so many bytes a second");
  options.add_flag("--json", is_json_,
                   "Print lines of JSON: the state each second, errors, and the snapshot at the end");
  options.add_verbosity(verbosity_);
}

result<exit_code> backup_command::run() {
  const console say(verbosity_);
  CUTPOINT_RETURN_IF_FAILED(reads_command_ ? status() : paths_.load());
  if (reads_command_) reads_standard_input = true;  // the command may read it
  if (reads_command_ && paths_.paths().empty()) {
    return usage_error("--stdin-from-command: give the command after '--'");
  }
  if (reads_command_ && words_after_options.value_or(paths_.paths().size()) != paths_.paths().size()) {
    return usage_error(fmt::format("--stdin-from-command: {} stands before '--', and the whole command must follow it",
                                   paths_.paths().front()));
  }
  CUTPOINT_TRY(auto walking, filter_.checked());
  const bool has_patterns = !walking.exclude.empty() || !walking.include.empty();
  CUTPOINT_TRY(const auto memory, checked_size("--memory", memory_, MiB));
  CUTPOINT_TRY(const auto time, time_.empty() ? result<std::int64_t>(0) : checked_time("--time", time_));
  CUTPOINT_TRY(const auto limit, limit_.empty() ? result<std::uint64_t>(0) : checked_size("--limit-read", limit_, 1));
  CUTPOINT_TRY(const auto cap, cap_.empty() ? result<std::uint64_t>(0) : checked_number("--cap", cap_, 1, 1'000'000));
  CUTPOINT_TRY(const auto tags, checked_tags("--tag", tags_));
  CUTPOINT_RETURN_IF_FAILED(lanes_.start());
  CUTPOINT_TRY(auto store, store_.open_for_writing());
  std::optional<bool> survives_power_cuts;
  if (!is_dry_run_) {  // which may have no right to sync
    const auto survives = warn_of_power_cuts(store_.location(), store, say);
    if (!survives) return fail(say, survives.error());
    survives_power_cuts = *survives;
  }
  std::string parent;
  if (!parent_.empty()) {
    const auto parent_snapshot = store.find_snapshot(parent_);
    if (!parent_snapshot) return fail(say, parent_snapshot.error());
    parent = parent_snapshot->id;
  }
  producer command;
  if (reads_command_) {
    if (const status started = command.start(paths_.paths()); !started.ok()) return fail(say, started);
  }
  auto out = output_option().open();
  if (!out) return fail(say, out.error());
  backup_report report(say, verbosity_, is_json_ ? report_format::json : report_format::text, *out);
  report.survives_power_cuts = survives_power_cuts;
  const store_lane_options lanes = lanes_.lanes_for(store, say);
  const auto snapshot = store.back_up(
      lanes_.threads(),
      {.paths = reads_command_ ? std::vector<std::string>{std::string(standard_input_path)} : paths_.paths(),
       .standard_input_name = standard_input_name_,
       .walking = std::move(walking),
       .host = host_.empty() ? own_host() : host_,
       .time = time,
       .tags = tags,
       .parent = parent,
       .reads_everything = reads_everything_,
       .trusts_change_time = trusts_change_time_,
       .most_old_containers = cap,
       .memory_bytes = memory,
       .lanes = lanes,
       .most_bytes_per_second = limit,
       .problem = [&](const std::string& path, const status& why) { report.add_problem(path, why); },
       .warning =
           [&](const std::string& path, const status& why) {
             if (why.system_error() == ENOENT) return say.unmatched_pattern(problem_text(path, why), is_dry_run_);
             say.warning(problem_text(path, why));
           },
       .before_commit = [&] { return reads_command_ ? command.wait() : status(); },
       .progress = [&](const store_backup_progress& progress) { report.update(progress); },
       .is_dry_run = is_dry_run_,
       .skips_unchanged = skips_unchanged_,
       .work = [&](const store_work& work) { report.take_work(work, lanes.rates); },
       .cancel = &interruption()});
  remember_log(store_.location(), store);
  report.finish();
  if (!snapshot && snapshot.error().code() != status_code::cancelled &&
      snapshot.error().message() == report.problems().first())
    return exit_code::input_failed;  // it was printed
  if (!snapshot && snapshot.error().code() == status_code::invalid_argument) return snapshot.error();
  if (!snapshot) {
    return fail(say, snapshot.error(),
                is_dry_run_ ? "nothing was stored"
                            : "no snapshot was made; what was stored stays, and the next backup uses it");
  }
  if (snapshot->files == 0 && has_patterns)
    say.warning("no file is backed up: the patterns leave out all that there is");
  if (const status reported = report.summarize(*snapshot, is_dry_run_); !reported.ok()) return fail(say, reported);
  return snapshot->is_incomplete ? exit_code::input_failed : exit_code::done;
}

std::unique_ptr<subcommand> make_backup_command() { return std::make_unique<backup_command>(); }

}  // namespace cutpoint::cli
