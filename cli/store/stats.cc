// `cutpoint stats`: shows what a store contains.
#include <algorithm>
#include <cmath>

#include <cutpoint/store_report.h>
#include <fmt/format.h>

#include "cli/store/reports.h"
#include "cli/store_options/store_options.h"
#include "cli/subcommands.h"

namespace cutpoint::cli {

// --- Details ---------------------------------------------------------------------------------------------------------

/// The snapshots in the order of their commits, with what each added. docs/store.md lists the fields.
[[nodiscard]] json growth_json(const std::vector<store_snapshot>& snapshots);
[[nodiscard]] std::string growth_text(const std::vector<store_snapshot>& snapshots);

[[nodiscard]] json details_json(const store_report& report);
[[nodiscard]] std::string details_text(const store_report& report);

namespace {

constexpr std::size_t most_kinds = 10;  ///< in the report for people
constexpr int bar_letters = 30;

json json_of(const record_totals& totals) {
  return {{"count", totals.count},
          {"raw_bytes", totals.raw_bytes},
          {"stored_bytes", totals.stored_bytes},
          {"live_count", totals.live_count},
          {"live_stored_bytes", totals.live_stored_bytes}};
}

json json_of(const snapshot_layout& layout) {
  return {{"snapshot", layout.id},
          {"bytes", layout.bytes},
          {"stored_bytes", layout.stored_bytes},
          {"containers", layout.containers},
          {"containers_per_mib", layout.containers_per_mib()}};
}

std::string share_of(std::uint64_t bytes, std::uint64_t whole) {
  return whole == 0 ? "-" : human_percent(as_double(bytes) / as_double(whole));
}

std::string text_of(const record_totals& totals) {
  return fmt::format("{}, {} stored as {} ({}), {} of it live", human_count(totals.count),
                     human_bytes(as_double(totals.raw_bytes)), human_bytes(as_double(totals.stored_bytes)),
                     share_of(totals.stored_bytes, totals.raw_bytes),
                     share_of(totals.live_stored_bytes, totals.stored_bytes));
}

std::string text_of(const snapshot_layout& layout) {
  return fmt::format("{}: {} in {}, {} for each MiB", short_id(layout.id), human_bytes(as_double(layout.bytes)),
                     counted(layout.containers, "container"),
                     layout.bytes == 0 ? "-" : fmt::format("{:.3f}", layout.containers_per_mib()));
}

std::string text_of(const store_report& report, const live_share_bin& bin) {
  std::uint64_t most = 1;
  for (const live_share_bin& each : report.live_shares) most = std::max(most, each.containers);
  const auto letters = static_cast<std::size_t>(std::lround(bar_letters * as_double(bin.containers) / as_double(most)));
  return fmt::format("  {:>5}  {:>8}  {:>9}{}\n", fmt::format("{:.0f} %", bin.at_most * 100),
                     human_count(bin.containers), human_bytes(as_double(bin.bytes)),
                     letters == 0 ? "" : "  " + std::string(letters, '#'));
}

}  // namespace

json growth_json(const std::vector<store_snapshot>& snapshots) {
  return json_list(snapshots, [](const store_snapshot& each) {
    return json{{"snapshot", each.id},
                {"time", each.time},
                {"bytes", each.bytes},
                {"new_raw_bytes", each.new_raw_bytes},
                {"new_stored_bytes", each.new_stored_bytes}};
  });
}

std::string growth_text(const std::vector<store_snapshot>& snapshots) {
  std::string text = "growth\n";
  std::uint64_t sum = 0;
  for (const store_snapshot& each : snapshots) {
    sum += each.new_stored_bytes;
    text += fmt::format("  {}  {}  {:>9} of files  {:>9} new  {:>9} stored  {:>9} in all\n", short_id(each.id),
                        local_time(each.time), human_bytes(as_double(each.bytes)),
                        human_bytes(as_double(each.new_raw_bytes)), human_bytes(as_double(each.new_stored_bytes)),
                        human_bytes(as_double(sum)));
  }
  return text;
}

json details_json(const store_report& report) {
  return {
      {"chunks", json_of(report.chunks)},
      {"nodes", json_of(report.nodes)},
      {"live_shares",
       json_list(
           report.live_shares,
           [](const live_share_bin& each) {
             return json{{"at_most", each.at_most}, {"containers", each.containers}, {"container_bytes", each.bytes}};
           })},
      {"oldest", json_of(report.oldest)},
      {"newest", json_of(report.newest)},
      {"kinds", json_list(report.kinds, [](const kind_totals& each) {
         return json{{"kind", each.kind},
                     {"class", each.class_name},
                     {"files", each.files},
                     {"bytes", each.bytes},
                     {"stored_bytes", each.stored_bytes}};
       })}};
}

std::string details_text(const store_report& report) {
  std::string text = line("chunks", text_of(report.chunks));
  text += line("nodes", text_of(report.nodes));
  if (!report.newest.id.empty())
    text += line("oldest", text_of(report.oldest)) + line("newest", text_of(report.newest));
  text += "containers by live share, at most\n";
  for (const live_share_bin& each : report.live_shares) text += text_of(report, each);
  text += "kinds of files of the newest snapshot\n";
  for (std::size_t i = 0; i < std::min(report.kinds.size(), most_kinds); ++i) {
    const kind_totals& each = report.kinds[i];
    text += fmt::format("  {:<12} {:>15}  {:>9}  stored as {:>9}\n", printable(each.kind), counted(each.files, "file"),
                        human_bytes(as_double(each.bytes)), human_bytes(as_double(each.stored_bytes)));
  }
  if (report.kinds.size() > most_kinds) text += fmt::format("  and {} more\n", report.kinds.size() - most_kinds);
  return text;
}

// --- The command -----------------------------------------------------------------------------------------------------

namespace {

class stats_command final : public subcommand {
 public:
  void add_options(option_list& options) override;
  result<exit_code> run() override;

 private:
  store_options store_;
  bool has_details_ = false;
  bool is_json_ = false;
};

std::uint64_t bytes_of(const std::vector<store_snapshot>& snapshots) {
  std::uint64_t bytes = 0;
  for (const store_snapshot& each : snapshots) bytes += each.bytes;
  return bytes;
}

json json_of(const backup_store& store, const store_statistics& statistics,
             const std::vector<store_snapshot>& snapshots) {
  const store_settings& settings = store.settings();
  return {{"cuts", settings.cuts},
          {"fingerprint", name_of(settings.fingerprint)},
          {"is_encrypted", store.is_encrypted()},
          {"compression_level", settings.compression_level},
          {"context", context_json(settings.context)},
          {"snapshots", statistics.snapshots},
          {"snapshot_bytes", bytes_of(snapshots)},
          {"containers", statistics.containers},
          {"container_bytes", statistics.container_bytes},
          {"records", statistics.records},
          {"shards", statistics.shards},
          {"shard_bytes", statistics.shard_bytes},
          {"growth", growth_json(snapshots)}};
}

std::string text_of(const backup_store& store, const store_statistics& statistics,
                    const std::vector<store_snapshot>& snapshots) {
  const store_settings& settings = store.settings();
  const std::uint64_t bytes = bytes_of(snapshots);
  const double stored = as_double(statistics.container_bytes + statistics.shard_bytes);
  std::string text = settings_lines(settings);
  text += line("encrypted", store.is_encrypted() ? "yes" : "no");
  text += line("snapshots", fmt::format("{}, with files of {} together", human_count(statistics.snapshots),
                                        human_bytes(as_double(bytes))));
  text += line("containers", fmt::format("{}, {}", human_count(statistics.containers),
                                         human_bytes(as_double(statistics.container_bytes))));
  text += line("index", fmt::format("{}, {}", counted_records(statistics.records),
                                    human_bytes(as_double(statistics.shard_bytes))));
  if (bytes != 0) text += line("stored", human_percent(stored / as_double(bytes)) + " of the files' bytes");
  return text;
}

}  // namespace

void stats_command::add_options(option_list& options) {
  store_.add_to(options);
  options.add_flag("--details", has_details_,
                   "Read all tables and trees: compression, live shares, fragmentation, growth, kinds of files");
  options.add_flag("--json", is_json_, "Print as JSON");
}

result<exit_code> stats_command::run() {
  const console say(verbosity::normal);
  CUTPOINT_TRY(auto store, store_.open());
  exit_code outcome = exit_code::done;
  const auto note = [&](const std::string& object, const status& why) {
    say.error(problem_text(object, why));
    outcome = exit_code::input_failed;
  };
  const auto all = store.snapshots(note);
  if (!all) return fail(say, all.error());
  const auto statistics = store.statistics();
  if (!statistics) return fail(say, statistics.error());
  json record = json_of(store, *statistics, *all);
  std::string text = text_of(store, *statistics, *all);
  if (has_details_) {
    // Snapshots that cannot be read were named already.
    const auto report = store.report({.problem =
                                          [&](const std::string& object, const status& why) {
                                            if (!object.starts_with("snapshots/")) note(object, why);
                                          },
                                      .cancel = &interruption()});
    if (report) {
      record.update(details_json(*report));
      text += details_text(*report) + growth_text(*all);
    } else {
      outcome = fail(say, report.error());  // what does not need the trees is shown
    }
  }
  const exit_code written = write_all(output_option(), is_json_ ? json_text(record) : text, say);
  return written == exit_code::done ? outcome : written;
}

std::unique_ptr<subcommand> make_stats_command() { return std::make_unique<stats_command>(); }

}  // namespace cutpoint::cli
