// `cutpoint find`: finds files in all snapshots by patterns.
#include <algorithm>

#include <fmt/format.h>

#include "cli/common/output.h"
#include "cli/options/path_options.h"
#include "cli/store_options/store_options.h"
#include "cli/subcommands.h"

namespace cutpoint::cli {

namespace {

class find_command final : public subcommand {
 public:
  void add_options(option_list& options) override;
  result<exit_code> run() override;

 private:
  [[nodiscard]] std::string line_of(const store_snapshot& snapshot, const stored_file& file) const;

  store_options store_;
  snapshot_options among_;
  std::vector<std::string> patterns_;
  bool ignores_case_ = false;
  bool is_json_ = false;
};

std::string find_command::line_of(const store_snapshot& snapshot, const stored_file& file) const {
  if (!is_json_) {
    return fmt::format("{}  {:>14} {}  {}\n", short_id(snapshot.id), file.size,
                       local_time(std::int64_t{file.modified.tv_sec} * 1'000'000'000), printable(file.path));
  }
  json record = {{"snapshot", snapshot.id}};
  add_text(record, "path", file.path);
  record.update({{"kind", to_string(file.kind)},
                 {"size", file.size},
                 {"modified", file.modified.tv_sec},
                 {"modified_nanoseconds", file.modified.tv_nsec}});
  return json_line(record);
}

}  // namespace

void find_command::add_options(option_list& options) {
  options.add_argument("PATTERN", patterns_, "Names or paths of files, as patterns").required();
  store_.add_to(options);
  among_.add_to(options);
  options.add_flag("--ignore-case", ignores_case_, "Do not tell capital letters from small ones");
  options.add_flag("--json", is_json_, "Print a line of JSON for each file");
}

result<exit_code> find_command::run() {
  const console say(verbosity::normal);
  CUTPOINT_TRY(const auto patterns,
               checked_patterns("PATTERN", patterns_, ignores_case_ ? letter_case::ignored : letter_case::compared));
  CUTPOINT_TRY(auto store, store_.open());
  auto chosen = choose_snapshots(say, store, {}, among_.filter());
  if (!chosen) return fail(say, chosen.error());
  auto out = output::open("");
  if (!out) return fail(say, out.error());
  status written;
  for (const store_snapshot& each : chosen->snapshots) {
    const status listed = store.list_files(each.id, "/", [&](const stored_file& file) -> status {
      if (interruption().is_requested()) return written = stopped_as_asked();
      const std::string_view path = std::string_view(file.path).substr(1);
      const auto is_match = [&](const path_pattern& pattern) {
        return pattern.matches(path, file.kind == file_kind::directory);
      };
      if (path.empty() || std::ranges::none_of(patterns, is_match)) return {};
      return written = out->write(line_of(each, file));
    });
    if (!written.ok()) return fail(say, written);
    if (listed.ok()) continue;
    say.error(problem_text(short_id(each.id), listed));
    chosen->is_whole = false;
  }
  written = out->finish();
  if (!written.ok()) return fail(say, written);
  return chosen->is_whole ? exit_code::done : exit_code::input_failed;
}

std::unique_ptr<subcommand> make_find_command() { return std::make_unique<find_command>(); }

}  // namespace cutpoint::cli
