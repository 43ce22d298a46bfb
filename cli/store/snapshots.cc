// `cutpoint snapshots`: lists the snapshots of a store.
#include <algorithm>
#include <array>

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
  bool is_restic_json_ = false;
};

/// Returns how many characters a text in UTF-8 has.
std::size_t length_of(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, [](char each) { return (each & 0xc0) != 0x80; }));
}

/// Lines for people, with a head and a count.
std::string text_of(const std::vector<store_snapshot>& snapshots) {
  if (snapshots.empty()) return counted(0, "snapshot") + '\n';
  std::vector<std::array<std::string, 6>> rows = {{"ID", "Time", "Size", "Host", "Paths", "[Tags]"}};
  for (const store_snapshot& each : snapshots) {
    const std::string tags =
        each.tags.empty() ? "" : "[" + printable(fmt::format("{}", fmt::join(each.tags, ", "))) + "]";
    rows.push_back({short_id(each.id), local_time(each.time) + zone_of(each.time), human_bytes(as_double(each.bytes)),
                    printable(each.host), printable(fmt::format("{}", fmt::join(each.paths, " "))),
                    tags + (each.is_incomplete ? tags.empty() ? "incomplete" : "  incomplete" : "")});
  }
  std::array<std::size_t, 6> widths = {0, 0, 10};
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], length_of(row[i]));
  }
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string padding(widths[i] - length_of(row[i]), ' ');
      line += (i == 0 ? "" : "  ") + (i == 2 ? padding + row[i] : row[i] + padding);
    }
    text += line.substr(0, line.find_last_not_of(' ') + 1) + '\n';
  }
  return text + counted(snapshots.size(), "snapshot") + '\n';
}

std::string json_lines_of(const std::vector<store_snapshot>& snapshots) {
  std::string text;
  for (const store_snapshot& each : snapshots) text += json_line(snapshot_json(each));
  return text;
}

/// The snapshot with the keys of restic, as far as a store has what they mean.
json restic_json(const store_snapshot& snapshot) {
  json record = {{"time", utc_time(snapshot.time)}};
  if (!snapshot.parent.empty()) record["parent"] = snapshot.parent;
  record["paths"] = snapshot.paths;
  record["hostname"] = snapshot.host;
  if (!snapshot.tags.empty()) record["tags"] = snapshot.tags;
  if (!snapshot.original.empty()) record["original"] = snapshot.original;
  record.update({{"summary",
                  {{"backup_start", utc_time(snapshot.time)},
                   {"backup_end", utc_time(snapshot.time + snapshot.duration)},
                   {"data_added", snapshot.new_raw_bytes},
                   {"data_added_packed", snapshot.new_stored_bytes},
                   {"total_files_processed", snapshot.files},
                   {"total_bytes_processed", snapshot.bytes}}},
                 {"id", snapshot.id},
                 {"short_id", short_id(snapshot.id)}});
  return record;
}

}  // namespace

void snapshots_command::add_options(option_list& options) {
  store_.add_to(options);
  among_.add_to(options);
  options.add_value("--latest", latest_, "N", "Show the N newest snapshots of each group");
  options.add_value(
      "--group-by", group_by_, "LIST",
      "Show groups: by 'host', 'paths', 'tags'; '' is one group; --latest alone groups by host and paths");
  option& lines = options.add_flag("--json", is_json_, "Print a line of JSON for each snapshot");
  options.add_flag("--restic-json", is_restic_json_, "Print one list in JSON, with the keys of restic").excludes(lines);
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
  std::vector<store_snapshot> all;
  std::string text;
  json groups = json::array();
  for (snapshot_group& group : group_snapshots(chosen->snapshots, grouping)) {
    auto& decisions = group.decisions;  // the newest first
    if (decisions.size() > latest) decisions.resize(static_cast<std::size_t>(latest));
    std::vector<store_snapshot> shown;
    for (snapshot_decision& each : decisions) shown.push_back(std::move(each.snapshot));
    std::ranges::reverse(shown);
    if (!is_grouped) {
      all.insert(all.end(), shown.begin(), shown.end());
    } else if (is_restic_json_) {
      const json key = {{"hostname", group.host}, {"paths", group.paths}, {"tags", group.tags}};
      groups.push_back({{"group_key", key}, {"snapshots", json_list(shown, restic_json)}});
    } else if (is_json_) {
      text += json_lines_of(shown);
    } else {
      text += (text.empty() ? "" : "\n") + heading_of(group) + text_of(shown);
    }
  }
  std::ranges::stable_sort(all, {}, &store_snapshot::sequence);
  if (is_restic_json_) {
    text = json_line(is_grouped ? groups : json_list(all, restic_json));
  } else if (!is_grouped) {
    text = is_json_ ? json_lines_of(all) : text_of(all);
  }
  const exit_code written = write_all(output_option(), text, say);
  return chosen->is_whole ? written : exit_code::input_failed;
}

std::unique_ptr<subcommand> make_snapshots_command() { return std::make_unique<snapshots_command>(); }

}  // namespace cutpoint::cli
