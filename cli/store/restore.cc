// `cutpoint restore`: restores files of a snapshot.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cli/common/interrupt.h"
#include "cli/common/json.h"
#include "cli/common/option_values.h"
#include "cli/common/output.h"
#include "cli/common/store_options.h"
#include "cli/common/units.h"
#include "cli/common/walk_filter.h"
#include "cli/subcommands.h"

namespace cutpoint::cli {

namespace {

class restore_command final : public subcommand {
 public:
  void add_options(CLI::App& app) override;
  exit_code run() override;

 private:
  store_options store_;
  std::string what_;
  std::string target_;
  std::vector<std::string> included_;
  bool overwrites_ = false;
  bool verifies_ = false;
  bool is_json_ = false;
};

}  // namespace

void restore_command::add_options(CLI::App& app) {
  app.add_option("SNAPSHOT", what_, "Snapshot, as SNAPSHOT[:PATH]; 'latest' is the newest")->required();
  add_value_option(app, "--target", target_, "FOLDER", "Folder to restore into; it is created if it does not exist")
      ->required();
  store_.add_to(app);
  add_value_option(app, "--include", included_, "PATTERN", "Restore only files that match (repeatable)");
  app.add_flag("--overwrite", overwrites_,
               "Change files that exist: only what differs is written; no other file is removed");
  app.add_flag("--verify", verifies_, "Read all contents back from the disk and compare them");
  app.add_flag("--json", is_json_, "Print as JSON");
}

exit_code restore_command::run() {
  const console say(verbosity::normal);
  auto include = checked_patterns("--include", included_);
  if (!include) return say.refuse(include.error());
  auto store = store_.open();
  if (!store) return say.refuse(store.error());
  const auto which = find_snapshot_path(*store, what_);
  if (!which) return fail(say, which.error());
  const auto restored = store->restore(
      which->snapshot.id,
      {.path = which->path,
       .target = target_,
       .include = std::move(*include),
       .replaces_files = overwrites_,
       .verifies = verifies_,
       .problem = [&](const std::string& path, const status& why) { say.error(problem_text(path, why)); },
       .cancel = &interruption()});
  if (!restored) return fail(say, restored.error());
  const std::string text =
      is_json_ ? json_text({{"files", restored->files},
                            {"folders", restored->folders},
                            {"bytes", restored->bytes},
                            {"written_bytes", restored->written_bytes},
                            {"read_containers", restored->read_containers},
                            {"problems", restored->problems}})
               : fmt::format("{} files and {} folders, {}, of which {} were written{}\n", human_count(restored->files),
                             human_count(restored->folders), human_bytes(as_double(restored->bytes)),
                             human_bytes(as_double(restored->written_bytes)),
                             restored->problems == 0 ? "" : fmt::format("; {} problems", restored->problems));
  const exit_code written = write_all(output_option(), text, say);
  return restored->problems == 0 ? written : exit_code::input_failed;
}

std::unique_ptr<subcommand> make_restore_command() { return std::make_unique<restore_command>(); }

}  // namespace cutpoint::cli
