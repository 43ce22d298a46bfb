// `cutpoint restore`: restores files of a snapshot.
#include <cerrno>
#include <utility>

#include <fmt/format.h>

#include "cli/options/path_options.h"
#include "cli/store/reports.h"
#include "cli/store_options/store_options.h"
#include "cli/subcommands.h"

namespace cutpoint::cli {

namespace {

class restore_command final : public subcommand {
 public:
  void add_options(option_list& options) override;
  result<exit_code> run() override;

 private:
  store_options store_;
  snapshot_options among_;
  std::string what_;
  std::string target_;
  std::vector<std::string> included_;
  exclude_options excluded_;
  bool overwrites_ = false;
  bool removes_others_ = false;
  bool is_dry_run_ = false;
  bool verifies_ = false;
  bool is_json_ = false;
  verbosity verbosity_ = verbosity::normal;

  [[nodiscard]] std::string summary_of(const store_restore_summary& restored) const;
};

}  // namespace

void restore_command::add_options(option_list& options) {
  options.add_argument("SNAPSHOT", what_, "Snapshot, as SNAPSHOT[:PATH]; 'latest' is the newest").required();
  options.add_value("--target", target_, "FOLDER", "Folder to restore into; it is created if it does not exist")
      .required();
  store_.add_to(options);
  among_.add_to(options);
  options.add_value("--include", included_, "PATTERN", "Restore only files that match (repeatable)");
  excluded_.add_to(options, "Leave out files that match (repeatable)");
  options.add_flag("--overwrite", overwrites_,
                   "Change files that exist: only what differs is written; no other file is removed");
  options.add_flag("--delete", removes_others_,
                   "Remove files of the target that the snapshot lacks, unless a pattern leaves them out");
  options.add_flag("--dry-run", is_dry_run_, "Change nothing, and print what would be restored and removed");
  options.add_flag("--verify", verifies_, "Read all contents back from the disk and compare them");
  options.add_flag("--json", is_json_, "Print as JSON, and name each problem");
  options.add_verbosity(verbosity_);
}

std::string restore_command::summary_of(const store_restore_summary& restored) const {
  std::string text = fmt::format("{} and {} with those above, {}", counted(restored.files, "file"),
                                 counted(restored.folders, "folder"), human_bytes(as_double(restored.bytes)));
  text += is_dry_run_ ? ", would be restored"
                      : fmt::format(", of which {} were written", human_bytes(as_double(restored.written_bytes)));
  if (removes_others_) {
    text += fmt::format("; {} {}", counted(restored.removed, "other"), is_dry_run_ ? "would be removed" : "removed");
  }
  if (restored.copied_links != 0) {
    text += fmt::format("; {}", counted(restored.copied_links, "hard link became a copy", "hard links became copies"));
  }
  if (restored.problems != 0) text += "; " + counted(restored.problems, "problem");
  return text + '\n';
}

result<exit_code> restore_command::run() {
  const console say(verbosity_);
  CUTPOINT_TRY(auto include, checked_patterns("--include", included_));
  CUTPOINT_TRY(auto exclude, excluded_.checked());
  CUTPOINT_TRY(auto store, store_.open());
  const auto which = find_snapshot_path(store, what_, among_);
  if (!which) return fail(say, which.error());
  problem_log problems(say, is_json_ ? verbosity::verbose : verbosity_);
  std::string first_existing;
  std::uint64_t existing = 0;
  std::string listing;
  activity_line line(say);
  const auto restored = store.restore(
      which->snapshot.id,
      {.path = which->path,
       .target = target_,
       .include = std::move(include),
       .exclude = std::move(exclude),
       .replaces_files = overwrites_,
       .removes_others = removes_others_,
       .is_dry_run = is_dry_run_,
       .verifies = verifies_,
       .visit =
           [&](const std::string& path, store_restore_action action) {
             const bool is_removed = action == store_restore_action::removed;
             if (is_dry_run_ && !is_json_) listing += (is_removed ? "remove   " : "restore  ") + printable(path) + '\n';
             if (is_removed && !is_dry_run_) say.note("removed: " + printable(path));
           },
       .problem =
           [&](const std::string& path, const status& why) {
             const bool is_one_of_many = why.system_error() == EEXIST && !overwrites_ && !is_json_;
             if (!is_one_of_many || verbosity_ == verbosity::verbose) return problems.add(path, why);
             if (existing++ == 0) first_existing = path;
           },
       .warning = [&](const std::string& pattern,
                      const status& why) { say.unmatched_pattern(problem_text(pattern, why), is_dry_run_); },
       .progress = line.drawer(),
       .cancel = &interruption()});
  line.erase();
  problems.finish();
  if (existing != 0) {
    say.error(printable(fmt::format("left as they are: {}, {} first: --overwrite changes them",
                                    counted(existing, "file that exists", "files that exist"), first_existing)));
  }
  if (!restored && restored.error().code() == status_code::invalid_argument) return restored.error();
  if (!restored) {
    return fail(say, restored.error(),
                is_dry_run_ ? "nothing was changed"
                            : "what was restored stays; the same command with --overwrite restores the rest");
  }
  const std::string text = is_json_ ? json_text({{"files", restored->files},
                                                 {"folders", restored->folders},
                                                 {"bytes", restored->bytes},
                                                 {"written_bytes", restored->written_bytes},
                                                 {"read_containers", restored->read_containers},
                                                 {"problems", restored->problems},
                                                 {"removed", restored->removed},
                                                 {"copied_links", restored->copied_links}})
                                    : listing + summary_of(*restored);
  const exit_code written = write_report(text, is_json_, say);
  line.finish("done");
  return restored->problems == 0 ? written : exit_code::input_failed;
}

std::unique_ptr<subcommand> make_restore_command() { return std::make_unique<restore_command>(); }

}  // namespace cutpoint::cli
