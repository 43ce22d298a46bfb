#include "cli/store/stats_details.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "cli/common/console.h"
#include "cli/common/units.h"
#include "cli/store_options/store_options.h"

namespace cutpoint::cli {

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
  return fmt::format("{}: {} in {} containers, {:.3f} for each MiB", layout.id.substr(0, 16),
                     human_bytes(as_double(layout.bytes)), human_count(layout.containers), layout.containers_per_mib());
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
    text += fmt::format("  {}  {}  {:>9} of files  {:>9} new  {:>9} stored  {:>9} in all\n", each.id.substr(0, 16),
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
  text += line("oldest", text_of(report.oldest));
  text += line("newest", text_of(report.newest));
  text += "containers by live share, at most\n";
  for (const live_share_bin& each : report.live_shares) text += text_of(report, each);
  text += "kinds of files of the newest snapshot\n";
  for (std::size_t i = 0; i < std::min(report.kinds.size(), most_kinds); ++i) {
    const kind_totals& each = report.kinds[i];
    text += fmt::format("  {:<12} {:>9} files  {:>9}  stored as {:>9}\n", printable(each.kind), human_count(each.files),
                        human_bytes(as_double(each.bytes)), human_bytes(as_double(each.stored_bytes)));
  }
  if (report.kinds.size() > most_kinds) text += fmt::format("  and {} more\n", report.kinds.size() - most_kinds);
  return text;
}

}  // namespace cutpoint::cli
