// A table for each place; a row in JSON for each row of both.
#include "cli/bench_report.h"

#include <algorithm>

#include <cutpoint/text.h>
#include <cutpoint/version.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/console.h"
#include "cli/units.h"

namespace cutpoint::cli {

namespace {

using nlohmann::ordered_json;

constexpr std::string_view as_scalar = "=";

std::string_view to_string(bench_kind kind) {
  switch (kind) {
    case bench_kind::read:
      return "read";
    case bench_kind::cuts:
      return "cuts";
    case bench_kind::fingerprint:
      return "fingerprint";
  }
  return "unknown";
}

/// Three digits.
std::string gib_per_second(double bytes_per_second) {
  const double rate = bytes_per_second / static_cast<double>(GiB);
  return fmt::format("{:.{}f}", rate, rate >= 99.95 ? 0 : rate >= 9.995 ? 1 : 2);
}

std::string text_of(const bench_cell& cell) {
  switch (cell.outcome) {
    case bench_outcome::measured:
      return fmt::format("{:>6} {:>4.0f} %", gib_per_second(*cell.bytes_per_second), 100 * *cell.of_read);
    case bench_outcome::no_kernel:
      return std::string(as_scalar);
    case bench_outcome::does_not_run:
      return "-";
    case bench_outcome::wrong_answer:
      return "wrong";
  }
  return "";
}

std::string text_of(const bench_row& row) {
  std::string line =
      fmt::format("{:<15} {:<20} {:>8}", row.job->name, row.job->size, or_dash(row.mean_bytes, human_bytes));
  for (const bench_cell& cell : row.cells) line += fmt::format("  {:>13}", text_of(cell));
  return line + fmt::format("  {}\n", to_string(row.job->chosen));
}

std::string text_of(const bench_facts& facts, bench_place place) {
  const std::uint64_t bytes = place == bench_place::memory ? facts.data_bytes : facts.l2_bytes;
  std::string out = fmt::format("\nIn {}, {}\n{:<15} {:<20} {:>8}", place == bench_place::memory ? "memory" : "L2",
                                format_size(bytes), "", "sizes", "mean");
  for (const backend_info& b : processor_backends()) out += fmt::format("  {:>13}", b.name);
  out += "  auto\n";
  for (const bench_row& row : facts.rows) {
    if (row.place == place) out += text_of(row);
  }
  return out;
}

bool has(const bench_facts& facts, bench_outcome outcome) {
  return std::any_of(facts.rows.begin(), facts.rows.end(), [outcome](const bench_row& row) {
    return std::any_of(row.cells.begin(), row.cells.end(),
                       [outcome](const bench_cell& cell) { return cell.outcome == outcome; });
  });
}

ordered_json or_null(const std::optional<double>& number) { return number ? ordered_json(*number) : ordered_json(); }

ordered_json json_of(const bench_row& row) {
  ordered_json cells = ordered_json::object();
  for (const bench_cell& cell : row.cells) {
    ordered_json& out = cells[std::string(to_string(cell.where))];
    out = {{"outcome", to_string(cell.outcome)},
           {"bytes_per_second", or_null(cell.bytes_per_second)},
           {"of_read", or_null(cell.of_read)}};
    if (!cell.problem.empty()) out["problem"] = cell.problem;
  }
  return {{"place", to_string(row.place)},
          {"kind", to_string(row.job->kind)},
          {"name", row.job->name},
          {"sizes", row.job->size},
          {"cuts", row.job->cuts ? ordered_json(row.job->cuts->canonical()) : ordered_json()},
          {"mean_bytes", or_null(row.mean_bytes)},
          {"read_bytes_per_second", row.read_bytes_per_second},
          {"auto", to_string(row.job->chosen)},
          {"back_ends", cells}};
}

}  // namespace

std::string bench_report(const bench_facts& facts) {
  std::string out = fmt::format(
      "cutpoint {} on {}, one thread; {} of {}; {}\n"
      "GiB/s, and the share of a plain read of the same memory by {} in the same round\n",
      version(), facts.processor_model.empty() ? "an unknown processor" : facts.processor_model,
      format_size(facts.data_bytes), facts.file.empty() ? "random bytes" : printable(facts.file),
      facts.rounds == 1 ? "one round" : fmt::format("medians of {} rounds", facts.rounds), to_string(widest_backend()));
  for (const backend_info& b : processor_backends()) {
    if (!b.runs_here) out += fmt::format("-  {}: this processor does not run it\n", b.name);
  }
  if (has(facts, bench_outcome::no_kernel)) out += fmt::format("{}  no kernel of its own: as scalar\n", as_scalar);
  return out + text_of(facts, bench_place::memory) + text_of(facts, bench_place::l2);
}

std::string bench_json(const bench_facts& facts) {
  ordered_json out = {{"version", version()},
                      {"processor_model", facts.processor_model},
                      {"file", facts.file.empty() ? ordered_json() : ordered_json(facts.file)},
                      {"data_bytes", facts.data_bytes},
                      {"l2_bytes", facts.l2_bytes},
                      {"rounds", facts.rounds},
                      {"interrupted", facts.is_interrupted},
                      {"read_by", to_string(widest_backend())},
                      {"back_ends", ordered_json::array()},
                      {"rows", ordered_json::array()}};
  for (const backend_info& b : processor_backends())
    out["back_ends"].push_back({{"name", b.name}, {"runs_here", b.runs_here}});
  for (const bench_row& row : facts.rows) out["rows"].push_back(json_of(row));
  return out.dump(2, ' ', false, ordered_json::error_handler_t::replace) + '\n';
}

}  // namespace cutpoint::cli
