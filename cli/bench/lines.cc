// The rates of a report in one form, and tables of them. A report is JSON here, so that an earlier run's file is as good as this run's.
#include <algorithm>
#include <map>
#include <tuple>

#include <cutpoint/timing.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/bench/report.h"
#include "cli/common/files.h"
#include "cli/common/output.h"

namespace cutpoint::cli {

namespace {

/// No report has more bytes.
constexpr std::uint64_t most_report_bytes = 64 * MiB;

/// With fewer rounds than these chance alone makes one of ten rows, or more, faster or slower.
constexpr double least_rounds = 5;

/// Where nothing else runs, rounds differ by a few percent. Rows next to each other in a table often differ by less than this share.
constexpr double most_spread = 0.25;

std::string text_in(const json& object, std::string_view key) {
  const json* const value = object.find(key);
  return value != nullptr && value->text() != nullptr ? *value->text() : std::string();
}

std::optional<double> number_in(const json& object, std::string_view key) {
  const json* const value = object.find(key);
  return value != nullptr ? value->number() : std::nullopt;
}

const std::vector<json>& list_in(const json& object, std::string_view key) {
  static const std::vector<json> none;
  const json* const value = object.find(key);
  return value != nullptr && value->is_array() ? value->elements() : none;
}

/// The order of tables.
auto table_of(const bench_line& line) {
  return std::tuple(line.kind == "engine", line.place == "device", line.place == "l2", line.kind == "fingerprint");
}

bool are_same(const bench_line& a, const bench_line& b) {
  return table_of(a) == table_of(b) && label(a) == label(b) && a.back_end == b.back_end;
}

std::optional<double> spread_of(const bench_line& line) {
  if (!line.lowest || !line.highest) return std::nullopt;
  return (*line.highest - *line.lowest) / line.bytes_per_second;
}

std::string spread_text(const bench_line& line) {
  return or_dash(spread_of(line), [](double share) { return fmt::format("{:.0f} %", 100 * share); });
}

using table_row = std::vector<std::string>;

std::string text_of(const std::vector<table_row>& rows, bench_format format) {
  std::vector<std::size_t> widths(rows.front().size());
  for (const table_row& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string out;
  for (const table_row& row : rows) {
    if (format == bench_format::markdown) {
      out += fmt::format("| {} |\n", fmt::join(row, " | "));
      if (&row == rows.data()) out += fmt::format("|:--|{}\n", fmt::join(table_row(row.size() - 1, "--:|"), ""));
      continue;
    }
    std::string text = fmt::format("{:<{}}", row[0], widths[0]);
    for (std::size_t i = 1; i < row.size(); ++i) text += fmt::format("  {:>{}}", row[i], widths[i]);
    out += text.substr(0, text.find_last_not_of(' ') + 1) + '\n';
  }
  return out;
}

/// Returns a table for each part, with a row that `cells` makes of each line.
template <class Cells>
std::string tables_of(const std::vector<bench_line>& lines, const table_row& head, bench_format format, Cells cells) {
  std::string out;
  for (auto first = lines.begin(); first != lines.end();) {
    const auto last =
        std::find_if(first, lines.end(), [&](const bench_line& each) { return table_of(each) != table_of(*first); });
    std::vector<table_row> rows = {head};
    std::transform(first, last, std::back_inserter(rows), cells);
    const std::string_view mark = format == bench_format::markdown ? "### " : "";
    const std::string_view gap = format == bench_format::markdown ? "\n" : "";
    out += fmt::format("\n{}{}\n{}{}", mark, title_of(*first), gap, text_of(rows, format));
    first = last;
  }
  return out;
}

}  // namespace

std::vector<bench_line> lines_of(const json& report) {
  std::vector<bench_line> lines;
  for (const auto& [rows, back_ends] : {std::pair("rows", "back_ends"), std::pair("engine_rows", "engine_back_ends")}) {
    for (const json& row : list_in(report, rows)) {
      for (const json& back_end : list_in(report, back_ends)) {
        const std::string name = text_in(back_end, "name");
        const json* const cells = row.find("back_ends");
        const json* const cell = cells != nullptr ? cells->find(name) : nullptr;
        const auto rate = cell != nullptr ? number_in(*cell, "bytes_per_second") : std::nullopt;
        if (!rate) continue;
        const std::string kind = text_in(row, "kind");
        lines.push_back({.place = text_in(row, "place"),
                         .kind = kind.empty() ? "engine" : kind,
                         .name = text_in(row, "name"),
                         .sizes = text_in(row, "sizes"),
                         .hash = text_in(row, "hash"),
                         .back_end = name,
                         .mean_bytes = number_in(row, "mean_bytes"),
                         .bytes_per_second = *rate,
                         .lowest = number_in(*cell, "lowest_bytes_per_second"),
                         .highest = number_in(*cell, "highest_bytes_per_second"),
                         .of_read = number_in(*cell, "of_read")});
      }
    }
  }
  std::ranges::stable_sort(lines, {},
                           [](const bench_line& line) { return std::tuple(table_of(line), -line.bytes_per_second); });
  return lines;
}

std::string_view title_of(const bench_line& line) {
  if (line.kind == "engine") return "The engine, from memory to chunks and fingerprints, on all threads";
  if (line.place == "device") return "Cuts by a GPU, data in its memory";
  if (line.kind == "fingerprint") {
    return line.place == "l2" ? "Fingerprints in one thread, data in L2" : "Fingerprints in one thread, data in memory";
  }
  return line.place == "l2" ? "Cuts in one thread, data in L2" : "Cuts in one thread, data in memory";
}

std::string label(const bench_line& line) {
  std::string text = line.name;
  for (const std::string& more : {line.sizes, line.hash}) text += more.empty() ? "" : ' ' + more;
  return text;
}

std::string sorted_tables(const json& report, bench_format format) {
  const table_row head = {"", "mean", "back end", "GiB/s", "spread", "of a read"};
  return tables_of(lines_of(report), head, format, [](const bench_line& line) -> table_row {
    return {
        label(line),       or_dash(line.mean_bytes, human_bytes),
        line.back_end,     gib_per_second(line.bytes_per_second),
        spread_text(line), or_dash(line.of_read, [](double share) { return fmt::format("{:.0f} %", 100 * share); })};
  });
}

std::string doubt_text(const json& report) {
  std::map<std::string_view, std::vector<double>> spreads;
  for (const bench_line& line : lines_of(report)) {
    if (const auto spread = spread_of(line)) spreads[title_of(line)].push_back(*spread);
  }
  double most = 0;
  for (const auto& [title, of_table] : spreads) most = std::max(most, median(of_table));
  if (most <= most_spread) return {};
  return fmt::format(
      "\nOther work ran on this machine: half of the rows of a table have a spread of {:.0f} % or more, and its order "
      "means little.\n",
      100 * most);
}

std::string csv_of(const json& report) {
  std::string out =
      "place,kind,name,sizes,hash,back_end,mean_bytes,bytes_per_second,lowest_bytes_per_second,"
      "highest_bytes_per_second,of_read\n";
  const auto field = [](const std::optional<double>& number) { return number ? fmt::format("{}", *number) : ""; };
  for (const bench_line& line : lines_of(report)) {
    out += fmt::format("{},{},{},{},{},{},{},{},{},{},{}\n", line.place, line.kind, line.name, line.sizes, line.hash,
                       line.back_end, field(line.mean_bytes), line.bytes_per_second, field(line.lowest),
                       field(line.highest), field(line.of_read));
  }
  return out;
}

std::string comparison_text(const json& before, const json& now, bench_format format) {
  const std::vector<bench_line> earlier = lines_of(before);
  std::vector<bench_line> lines = lines_of(now);
  const std::size_t measured = lines.size();
  const auto match = [&](const bench_line& line) {
    return std::ranges::find_if(earlier, [&](const bench_line& each) { return are_same(each, line); });
  };
  std::erase_if(lines, [&](const bench_line& line) { return match(line) == earlier.end(); });
  std::size_t different = 0;
  bool is_other_machine = false;
  const auto has_rounds = [](const json& report) { return number_in(report, "rounds").value_or(0) >= least_rounds; };
  const bool has_verdicts = has_rounds(before) && has_rounds(now);
  const table_row head = {"", "back end", "before", "spread", "now", "spread", "change", ""};
  const std::string tables = tables_of(lines, head, format, [&](const bench_line& line) -> table_row {
    const bench_line& old = *match(line);
    const bool has_spreads = line.lowest < line.highest && old.lowest < old.highest;
    const bool is_above = has_spreads && *line.lowest > *old.highest;
    const bool is_below = has_spreads && *line.highest < *old.lowest;
    const bool is_different = has_verdicts && (is_above || is_below);
    different += is_different ? 1 : 0;
    is_other_machine = is_other_machine || (line.kind == "read" && (is_above || is_below));
    return {label(line),
            line.back_end,
            gib_per_second(old.bytes_per_second),
            spread_text(old),
            gib_per_second(line.bytes_per_second),
            spread_text(line),
            fmt::format("{:+.1f} %", 100 * (line.bytes_per_second / old.bytes_per_second - 1)),
            !is_different ? ""
            : is_above    ? "faster"
                          : "slower"};
  });
  std::string out = fmt::format("\nCompared with an earlier run (GiB/s)\n");
  for (const std::string_view key : {"version", "processor_model", "files", "data_bytes", "rounds", "thread_count"}) {
    const auto text = [&](const json& report) {
      std::string value;
      if (report.find(key) != nullptr) report.find(key)->append_to(value, std::nullopt);
      return printable(value);
    };
    if (text(before) != text(now)) out += fmt::format("{}: {} before, {} now\n", key, text(before), text(now));
  }
  const std::string differences =
      has_verdicts ? fmt::format("{} of {} rates differ by more than the spreads explain", different, lines.size())
                   : fmt::format("With fewer than {} rounds nothing is called faster or slower", least_rounds);
  out += tables + fmt::format("\n{}; {} were measured only now, {} only before\n", differences, measured - lines.size(),
                              earlier.size() - lines.size());
  if (is_other_machine) {
    out +=
        "The plain read differs by more than its spread: the machine is not as it was then, or runs other work, and "
        "the other differences may be due to that.\n";
  }
  return out;
}

result<json> read_report(const std::string& file) {
  CUTPOINT_TRY(const auto text, read_list("--compare", file, most_report_bytes));
  auto report = parse_json(text);
  if (report && report->find("engine_rows") != nullptr) return *std::move(report);
  return usage_error(fmt::format("{}: is not what 'cutpoint bench --json' prints", file));
}

}  // namespace cutpoint::cli
