// `cutpoint repair`: makes a damaged store consistent for what is left.
#include <fmt/format.h>

#include "cli/store/reports.h"
#include "cli/store_options/store_options.h"
#include "cli/subcommands.h"

namespace cutpoint::cli {

namespace {

class repair_command final : public subcommand {
 public:
  void add_options(option_list& options) override;
  result<exit_code> run() override;

 private:
  store_options store_;
  bool is_json_ = false;
  verbosity level_ = verbosity::normal;
};

}  // namespace

void repair_command::add_options(option_list& options) {
  store_.add_to(options);
  options.add_flag("--json", is_json_, "Print as JSON");
  options.add_quiet(level_);
}

result<exit_code> repair_command::run() {
  const console say(level_);
  CUTPOINT_TRY(auto store, store_.open_for_writing());
  const store_repair_options options{
      .damaged =
          [&](const std::string& object, const status& why, std::uint64_t saved) {
            say.warning(fmt::format("{}; saved: {}", problem_text(object, why), counted_records(saved)));
          },
      .lost =
          [&](const std::string& snapshot, const std::string& path, const status& why) {
            say.warning(fmt::format("{}:{} is lost: {}", short_id(snapshot), printable(path), why.message()));
          },
      .replaced =
          [&](const std::string& old_id, const std::string& new_id) {
            say.warning(fmt::format("snapshot {} is replaced by {}", short_id(old_id), short_id(new_id)));
          },
      .cancel = &interruption()};
  const auto done = store.repair(options);
  remember_log(store_.location(), store);
  if (!done) return fail(say, done.error(), "what was saved stays; another repair does the rest");
  if (is_json_) {
    return write_report(json_text({{"damaged_objects", done->damaged_objects},
                                   {"saved_records", done->saved_records},
                                   {"lost_files", done->lost_files},
                                   {"replaced_snapshots", done->replaced_snapshots}}),
                        true, say);
  }
  return write_report(
      fmt::format("{}, {} saved, {} lost, {} replaced\n", counted(done->damaged_objects, "damaged object"),
                  counted_records(done->saved_records), counted(done->lost_files, "file"),
                  counted(done->replaced_snapshots, "snapshot")),
      false, say);
}

std::unique_ptr<subcommand> make_repair_command() { return std::make_unique<repair_command>(); }

}  // namespace cutpoint::cli
