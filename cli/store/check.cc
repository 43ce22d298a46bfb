// `cutpoint check`: checks a store.
#include <fmt/format.h>

#include "cli/store/reports.h"
#include "cli/store_options/store_options.h"
#include "cli/subcommands.h"

namespace cutpoint::cli {

namespace {

class check_command final : public subcommand {
 public:
  void add_options(option_list& options) override;
  result<exit_code> run() override;

 private:
  store_options store_;
  bool reads_data_ = false;
  std::optional<std::string> subset_;
  bool is_json_ = false;
  verbosity level_ = verbosity::normal;
};

/// Reads a subset. Errors: invalid_argument.
result<store_data_subset> subset_of(const std::string& text) {
  const std::string option = "--read-data-subset";
  store_data_subset subset;
  if (const std::size_t slash = text.find('/'); slash != std::string::npos) {
    CUTPOINT_TRY(const auto count, checked_number(option, text.substr(slash + 1), 1));
    CUTPOINT_TRY(subset.number, checked_number(option, text.substr(0, slash), 1, count));
    subset.subset_count = count;
  } else if (text.ends_with('%')) {
    CUTPOINT_TRY(const auto share, checked_percent(option, text));
    if (share == 0) return usage_error(option + ' ' + text + ": it is no data");
    subset.share = share;
  } else if (!text.empty() && text.find_first_not_of("0123456789") == std::string::npos) {
    return usage_error(fmt::format("{} {}: is it {}% or {}G? A part is 1/7, a share 5%, and a size has a unit", option,
                                   text, text, text));
  } else {
    CUTPOINT_TRY(subset.most_bytes, checked_size(option, text, 1));
  }
  return subset;
}

}  // namespace

void check_command::add_options(option_list& options) {
  store_.add_to(options);
  option& all = options.add_flag("--read-data", reads_data_, "Read all data and compare it with its fingerprints");
  options
      .add_value("--read-data-subset", subset_, "SUBSET",
                 "Read a part of the data: N/T, the Nth of T parts, or a random part of P% or of a SIZE")
      .excludes(all);
  options.add_flag("--json", is_json_, "Print as JSON");
  options.add_quiet(level_);
}

result<exit_code> check_command::run() {
  const console say(level_);
  CUTPOINT_TRY(const auto subset, subset_ ? subset_of(*subset_) : result<store_data_subset>(store_data_subset()));
  CUTPOINT_TRY(auto store, store_.open());
  activity_line line(say);
  const store_check_options options{
      .reads_data = reads_data_ || subset_.has_value(),
      .subset = subset,
      .object_problem = [&](const std::string& object, const status& why) { say.error(problem_text(object, why)); },
      .file_problem =
          [&](const std::string& snapshot, const std::string& path, const status& why) {
            say.error(fmt::format("{}:{}", short_id(snapshot), problem_text(path, why)));
          },
      .progress = line.drawer(),
      .cancel = &interruption()};
  const auto summary = store.check(options);
  line.erase();
  if (!summary) return fail(say, summary.error(), "nothing was changed, and the rest was not checked");
  std::string text;
  if (is_json_) {
    text = json_text({{"containers", summary->containers},
                      {"records", summary->records},
                      {"snapshots", summary->snapshots},
                      {"object_problems", summary->object_problems},
                      {"file_problems", summary->file_problems},
                      {"moved_chunks", summary->moved_chunks},
                      {"read_containers", summary->read_containers}});
  } else {
    text = fmt::format(
        "{}, {}{}, {}: {}\n", counted(summary->snapshots, "snapshot"), counted(summary->containers, "container"),
        options.reads_data ? fmt::format(" ({} of them read)", human_count(summary->read_containers)) : "",
        counted_records(summary->records),
        summary->is_clean() ? "no damage"
                            : fmt::format("{}, {}; 'cutpoint repair' saves what is whole",
                                          counted(summary->object_problems, "damaged object"),
                                          counted(summary->file_problems, "file with losses", "files with losses")));
  }
  const exit_code written = write_report(text, is_json_, say);
  line.finish("done");
  return summary->is_clean() ? written : exit_code::input_failed;
}

std::unique_ptr<subcommand> make_check_command() { return std::make_unique<check_command>(); }

}  // namespace cutpoint::cli
