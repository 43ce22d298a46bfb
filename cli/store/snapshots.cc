// `cutpoint snapshots`: lists the snapshots of a store.
#include <algorithm>

#include <fmt/format.h>

#include "cli/common/output.h"
#include "cli/store_options/store_options.h"
#include "cli/subcommands.h"

namespace cutpoint::cli {

namespace {

class snapshots_command final : public subcommand {
 public:
  void add_options(option_list& options) override;
  result<exit_code> run() override;

 private:
  store_options store_;
  snapshot_options among_;
  std::string latest_;
  std::optional<std::string> group_by_;
  bool is_json_ = false;
};

std::string line_of_snapshot(const store_snapshot& snapshot) {
  return fmt::format(
      "{}  {}  {:>10}  {}  {}{}{}\n", snapshot.id.substr(0, 16), local_time(snapshot.time),
      human_bytes(as_double(snapshot.bytes)), printable(snapshot.host),
      printable(fmt::format("{}", fmt::join(snapshot.paths, " "))),
      snapshot.tags.empty() ? "" : "  [" + printable(fmt::format("{}", fmt::join(snapshot.tags, ", "))) + "]",
      snapshot.is_incomplete ? "  incomplete" : "");
}

}  // namespace

void snapshots_command::add_options(option_list& options) {
  store_.add_to(options);
  among_.add_to(options);
  options.add_value("--latest", latest_, "N", "Show the N newest snapshots of each group");
  options.add_value(
      "--group-by", group_by_, "LIST",
      "Show groups: by 'host', 'paths', 'tags'; '' is one group; --latest alone groups by host and paths");
  options.add_flag("--json", is_json_, "Print a line of JSON for each snapshot");
}

result<exit_code> snapshots_command::run() {
  const console say(verbosity::normal);
  CUTPOINT_TRY(const auto latest,
               latest_.empty() ? result<std::uint64_t>(UINT64_MAX) : checked_number("--latest", latest_, 1));
  const bool is_grouped = group_by_ && !group_by_->empty();
  CUTPOINT_TRY(const auto grouping, checked_grouping(group_by_.value_or("host,paths")));
  CUTPOINT_TRY(auto store, store_.open());
  const auto chosen = choose_snapshots(say, store, {}, among_.filter());
  if (!chosen) return fail(say, chosen.error());
  auto groups = group_snapshots(chosen->snapshots, grouping);
  std::vector<store_snapshot> shown;
  std::string text;
  for (snapshot_group& group : groups) {
    auto& decisions = group.decisions;  // the newest first
    if (decisions.size() > latest) decisions.resize(static_cast<std::size_t>(latest));
    std::ranges::reverse(decisions);
    if (is_grouped && !is_json_) text += (text.empty() ? "" : "\n") + heading_of(group);
    for (const snapshot_decision& each : decisions) {
      if (is_grouped) {
        text += is_json_ ? json_line(snapshot_json(each.snapshot)) : line_of_snapshot(each.snapshot);
      } else {
        shown.push_back(each.snapshot);
      }
    }
  }
  std::ranges::stable_sort(shown, {}, &store_snapshot::sequence);
  for (const store_snapshot& each : shown) text += is_json_ ? json_line(snapshot_json(each)) : line_of_snapshot(each);
  const exit_code written = write_all(output_option(), text, say);
  return chosen->is_whole ? written : exit_code::input_failed;
}

std::unique_ptr<subcommand> make_snapshots_command() { return std::make_unique<snapshots_command>(); }

}  // namespace cutpoint::cli
