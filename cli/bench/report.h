// What `bench` prints: tables while rows are measured, sorted tables, a chart, and a comparison with an earlier run.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <cutpoint/status.h>

#include "cli/bench/measure.h"
#include "cli/common/json.h"
#include "cli/common/options.h"

namespace cutpoint::cli {

enum class bench_format { text, markdown, csv, json };
inline constexpr choice<bench_format, 4> bench_formats = {{{"text", bench_format::text},
                                                           {"markdown", bench_format::markdown},
                                                           {"csv", bench_format::csv},
                                                           {"json", bench_format::json}}};

// --- Text, while rows are measured -----------------------------------------------------------------------------------

/// Returns a line about the machine and the data.
[[nodiscard]] std::string heading_text(const bench_facts& facts);
/// Returns the last of the rows, below the heading of its table if it is the first there.
[[nodiscard]] std::string latest_row_text(const bench_facts& facts);
[[nodiscard]] std::string latest_engine_row_text(const bench_facts& facts);
/// How to learn what a GPU would bring that is not here.
inline constexpr std::string_view planning_hint = "What one would bring: cutpoint info --plan --rates FILE";
/// Returns what the tables' signs mean, and what was not measured and why.
[[nodiscard]] std::string closing_text(const bench_facts& facts);

// --- The whole report ------------------------------------------------------------------------------------------------

[[nodiscard]] json bench_json(const bench_facts& facts);

/// A rate of a report: how fast a back end did a job.
struct bench_line {
  std::string place;  ///< empty for the engine
  std::string kind;   ///< "read", "cuts", "fingerprint" or "engine"
  std::string name;
  std::string sizes;
  std::string hash;  ///< of the engine
  std::string back_end;
  std::optional<double> mean_bytes;
  double bytes_per_second = 0;
  std::optional<double> lowest;  ///< the slowest round; nullopt in a report that lacks it
  std::optional<double> highest;
  std::optional<double> of_read;
};

/// Returns the rates of a report, which may be that of an earlier run: those of each table together, the highest first.
[[nodiscard]] std::vector<bench_line> lines_of(const json& report);

/// Returns the heading of the table that a line belongs to.
[[nodiscard]] std::string_view title_of(const bench_line& line);
/// Returns name, sizes and fingerprint.
[[nodiscard]] std::string label(const bench_line& line);

/// Returns a table for each part, as text or Markdown.
[[nodiscard]] std::string sorted_tables(const json& report, bench_format format);
[[nodiscard]] std::string csv_of(const json& report);
/// Returns a line if rounds differ so much that the order of the rates of a table means little.
[[nodiscard]] std::string doubt_text(const json& report);

/// Returns what `now` measured beside what `before` did. A row differs if all rounds of one run are faster than all of the other, of at
/// least five each.
[[nodiscard]] std::string comparison_text(const json& before, const json& now, bench_format format);
/// Reads the report that --compare names. Errors: invalid_argument; cancelled.
[[nodiscard]] result<json> read_report(const std::string& file);

/// Returns a picture, in SVG, of all rates on logarithmic axes.
[[nodiscard]] std::string chart_of(const json& report, std::string_view title);

}  // namespace cutpoint::cli
