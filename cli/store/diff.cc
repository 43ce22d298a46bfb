// `cutpoint diff`: shows what differs between two snapshots.
#include <cutpoint/store_diff.h>
#include <fmt/format.h>

#include "cli/common/output.h"
#include "cli/store_options/store_options.h"
#include "cli/subcommands.h"

namespace cutpoint::cli {

namespace {

class diff_command final : public subcommand {
 public:
  void add_options(option_list& options) override;
  result<exit_code> run() override;

 private:
  store_options store_;
  snapshot_options among_;
  std::string before_;
  std::string after_;
  bool compares_metadata_ = false;
  bool is_json_ = false;
};

/// The letters are restic's.
std::string_view letter_of(store_change_kind which) {
  switch (which) {
    case store_change_kind::added:
      return "+";
    case store_change_kind::removed:
      return "-";
    case store_change_kind::modified:
      return "M";
    case store_change_kind::retyped:
      return "T";
    case store_change_kind::metadata:
      return "U";
  }
  return "?";
}

std::string text_of(const store_change& change) {
  return fmt::format("{:<5}{}\n", letter_of(change.which), printable(change.path));
}

std::string json_of(const store_change& change) {
  json record = {{"message_type", "change"}};
  add_text(record, "path", change.path);
  record["modifier"] = letter_of(change.which);
  return json_line(record);
}

std::string text_of(const store_diff_summary& sum) {
  std::string text = "\n";
  text += line("files", fmt::format("{} added, {} removed, {} modified", human_count(sum.added.files),
                                    human_count(sum.removed.files), human_count(sum.modified)));
  text += line("folders",
               fmt::format("{} added, {} removed", human_count(sum.added.folders), human_count(sum.removed.folders)));
  text += line("others",
               fmt::format("{} added, {} removed", human_count(sum.added.others), human_count(sum.removed.others)));
  text += line("bytes", fmt::format("{} added, {} removed", human_bytes(as_double(sum.added.bytes)),
                                    human_bytes(as_double(sum.removed.bytes))));
  return text;
}

json json_of(const store_diff_side& totals) {
  return {{"files", totals.files}, {"dirs", totals.folders}, {"others", totals.others}, {"bytes", totals.bytes}};
}

}  // namespace

void diff_command::add_options(option_list& options) {
  options.add_argument("BEFORE", before_, "Snapshot, as SNAPSHOT[:PATH]; 'latest' is the newest").required();
  options.add_argument("AFTER", after_, "Snapshot that is compared with it, as SNAPSHOT[:PATH]").required();
  store_.add_to(options);
  among_.add_to(options);
  options.add_flag("--metadata", compares_metadata_, "Show files of which only metadata differs");
  options.add_flag("--json", is_json_, "Print a line of JSON for each change, and one with the sums");
}

result<exit_code> diff_command::run() {
  const console say(verbosity::normal);
  CUTPOINT_TRY(auto store, store_.open());
  const auto before = find_snapshot_path(store, before_, among_);
  if (!before) return fail(say, before.error());
  const auto after = find_snapshot_path(store, after_, among_);
  if (!after) return fail(say, after.error());
  auto out = output::open("");
  if (!out) return fail(say, out.error());
  const auto sum = store.diff(
      {.before = before->snapshot.id,
       .before_path = before->path,
       .after = after->snapshot.id,
       .after_path = after->path,
       .compares_metadata = compares_metadata_,
       .visit = [&](const store_change& change) { return out->write(is_json_ ? json_of(change) : text_of(change)); },
       .problem = [&](const std::string& path, const status& why) { say.error(problem_text(path, why)); },
       .cancel = &interruption()});
  if (!sum) return fail(say, sum.error());
  status written = out->write(is_json_ ? json_line({{"message_type", "statistics"},
                                                    {"source_snapshot", before->snapshot.id},
                                                    {"target_snapshot", after->snapshot.id},
                                                    {"changed_files", sum->modified},
                                                    {"added", json_of(sum->added)},
                                                    {"removed", json_of(sum->removed)}})
                                       : text_of(*sum));
  if (written.ok()) written = out->finish();
  if (!written.ok()) return fail(say, written);
  return sum->problems == 0 ? exit_code::done : exit_code::input_failed;
}

std::unique_ptr<subcommand> make_diff_command() { return std::make_unique<diff_command>(); }

}  // namespace cutpoint::cli
