// `cutpoint prune`: removes what no snapshot refers to.
#include <fmt/format.h>

#include "cli/store/reports.h"
#include "cli/store_options/store_options.h"
#include "cli/subcommands.h"

namespace cutpoint::cli {

namespace {

class prune_command final : public subcommand {
 public:
  void add_options(option_list& options) override;
  result<exit_code> run() override;

 private:
  store_options store_;
  std::string most_unused_ = "5%";
  std::string most_rewritten_;
  bool is_dry_run_ = false;
  bool is_json_ = false;
  verbosity level_ = verbosity::normal;
};

}  // namespace

void prune_command::add_options(option_list& options) {
  store_.add_to(options);
  options.add_flag("--dry-run", is_dry_run_, "Say what would be removed, and change nothing");
  options.add_value("--max-unused", most_unused_, "PERCENT", "Share of the stored bytes that may stay unused");
  options.add_value("--max-rewrite", most_rewritten_, "SIZE", "Copy at most so much into new containers");
  options.add_flag("--json", is_json_, "Print as JSON");
  options.add_quiet(level_);
}

result<exit_code> prune_command::run() {
  const console say(level_);
  store_prune_options options{.is_dry_run = is_dry_run_, .cancel = &interruption()};
  CUTPOINT_TRY(options.most_unused, checked_percent("--max-unused", most_unused_));
  if (!most_rewritten_.empty()) {
    CUTPOINT_TRY(options.most_rewritten_bytes, checked_size("--max-rewrite", most_rewritten_, 0));
  }
  options.damaged = [&](const std::string& object, const status& why) {
    say.warning(problem_text(object, why) + "; what would give it up stays");
  };
  CUTPOINT_TRY(auto store, store_.open_for_writing());
  activity_line drawn(say);
  options.progress = drawn.drawer();
  const auto done = store.prune(options);
  drawn.erase();
  remember_log(store_.location(), store);
  if (!done) return fail(say, done.error(), interrupted_prune);
  const exit_code written =
      write_report(is_json_ ? json_text(prune_json(*done)) : prune_text(*done, options), is_json_, say);
  drawn.finish("done");
  return exit_code_of(*done, written);
}

exit_code exit_code_of(const store_prune_summary& done, exit_code written) {
  return written == exit_code::done && done.damaged_copies != 0 ? exit_code::input_failed : written;
}

std::string prune_text(const store_prune_summary& done, const store_prune_options& options) {
  const auto bytes = [](std::uint64_t count) { return human_bytes(as_double(count)); };
  std::string text = line("before", fmt::format("{}, {}, of which {} unused", counted(done.containers, "container"),
                                                bytes(done.container_bytes), bytes(done.unused_bytes)));
  text += line(options.is_dry_run ? "would copy" : "copied",
               fmt::format("{} of {}", bytes(done.rewritten_bytes), counted(done.rewritten_containers, "container")));
  text += line(options.is_dry_run ? "would remove" : "removed",
               fmt::format("{}, {}", counted(done.removed_containers, "container"), bytes(done.removed_bytes)));
  text += line("left unused", bytes(done.left_unused_bytes));
  if (done.kept_containers != 0) {
    text +=
        line("kept", fmt::format("{}, which backups have used meanwhile", counted(done.kept_containers, "container")));
  }
  if (done.missing_bytes != 0) {
    text += line("no room", fmt::format("to rewrite more: free {} or forget snapshots, and prune again",
                                        bytes(done.missing_bytes)));
  }
  if (done.damaged_copies != 0) {
    text += line("damaged", fmt::format("{} that had to stay; run cutpoint repair, and prune again",
                                        counted(done.damaged_copies, "copy", "copies")));
  }
  if (done.awaited.empty()) return text;
  text += line("waiting", fmt::format("{} for the next prune, after these have ended:",
                                      counted(done.waiting_containers, "container")));
  for (const std::string& each : done.awaited) text += line("", printable(each));
  return text;
}

json prune_json(const store_prune_summary& done) {
  return {{"containers", done.containers},
          {"container_bytes", done.container_bytes},
          {"unused_bytes", done.unused_bytes},
          {"removed_containers", done.removed_containers},
          {"removed_bytes", done.removed_bytes},
          {"rewritten_containers", done.rewritten_containers},
          {"rewritten_bytes", done.rewritten_bytes},
          {"left_unused_bytes", done.left_unused_bytes},
          {"kept_containers", done.kept_containers},
          {"missing_bytes", done.missing_bytes},
          {"damaged_copies", done.damaged_copies},
          {"waiting_containers", done.waiting_containers},
          {"awaited", done.awaited}};
}

std::unique_ptr<subcommand> make_prune_command() { return std::make_unique<prune_command>(); }

}  // namespace cutpoint::cli
