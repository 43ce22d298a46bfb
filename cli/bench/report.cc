// Writes the tables of `bench`.
#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <cutpoint/text.h>
#include <cutpoint/version.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/bench/measure.h"
#include "cli/common/console.h"
#include "cli/common/json.h"
#include "cli/common/output.h"

namespace cutpoint::cli {

// --- For people ------------------------------------------------------------------------------------------------------

namespace {

/// The sign of a back end that leaves a job to another.
constexpr std::string_view as_another = "=";

std::string percent_of(const std::optional<double>& share) {
  return or_dash(share, [](double number) { return fmt::format("{:.0f} %", 100 * number); });
}

/// Returns whether the columns of a setup include shares of the link and of the kernels.
bool has_device(std::string_view setup) { return setup == "cuda" || setup == "hybrid"; }

/// The width of the columns of a back end or of a setup of the engine.
int columns_of(std::string_view name) { return has_device(name) ? 27 : 13; }

std::string text_of(const bench_cell& cell) {
  if (cell.outcome == bench_outcome::no_kernel) return std::string(as_another);
  if (cell.outcome == bench_outcome::wrong_answer) return "wrong";
  if (cell.outcome != bench_outcome::measured) return "-";
  std::string text = fmt::format("{:>6} {:>6}", gib_per_second(*cell.bytes_per_second), percent_of(cell.of_read));
  if (has_device(cell.name)) text += fmt::format(" {:>6} {:>6}", percent_of(cell.of_link), percent_of(cell.of_device));
  return text;
}

std::string text_of(const std::vector<bench_cell>& cells) {
  std::string text;
  for (const bench_cell& cell : cells) text += fmt::format("  {:>{}}", text_of(cell), columns_of(cell.name));
  return text;
}

/// Returns a line for each name whose rows OpenSSL leaves without rates.
template <class Row, class Name>
std::string problem_text(const std::vector<Row>& rows, Name name) {
  std::set<std::string> lines;
  for (const Row& row : rows) {
    if (!row.job->problem.empty()) lines.insert(fmt::format("-  {}: {}\n", name(*row.job), row.job->problem));
  }
  return fmt::format("{}", fmt::join(lines, ""));
}

std::string place_text(const bench_facts& facts, bench_place place) {
  const std::uint64_t bytes = place == bench_place::memory ? facts.data_bytes : facts.l2_bytes;
  std::string out = fmt::format("\nIn {}, {}\n{:<15} {:<20} {:>8}", place == bench_place::memory ? "memory" : "L2",
                                format_size(bytes), "", "sizes", "mean");
  for (const backend_info& b : processor_backends()) out += fmt::format("  {:>{}}", b.name, columns_of(b.name));
  out += "  auto\n";
  for (const bench_row& row : facts.rows) {
    if (row.place != place) continue;
    out +=
        fmt::format("{:<15} {:<20} {:>8}{}  {}\n", row.job->name, row.job->size, or_dash(row.mean_bytes, human_bytes),
                    text_of(row.cells), row.job->problem.empty() ? to_string(row.job->chosen) : "-");
  }
  return out;
}

std::string kernel_text(const bench_facts& facts) {
  std::string out = fmt::format(
      "Back ends in one thread: GiB/s, and the share of a plain read of the same memory by {} in the same round\n",
      to_string(widest_backend()));
  for (const backend_info& b : processor_backends()) {
    if (!b.runs_here) out += fmt::format("-  {}: this processor does not run it\n", b.name);
  }
  out += problem_text(facts.rows, [](const bench_job& job) { return job.name; });
  const auto has_no_kernel = [](const bench_cell& cell) { return cell.outcome == bench_outcome::no_kernel; };
  if (std::any_of(facts.rows.begin(), facts.rows.end(), [&](const bench_row& row) {
        return std::any_of(row.cells.begin(), row.cells.end(), has_no_kernel);
      })) {
    out += fmt::format("{}  no kernel of its own: avx512-dl as avx512, sha-ni as sse4, else as scalar\n", as_another);
  }
  return out + place_text(facts, bench_place::memory) + place_text(facts, bench_place::l2);
}

std::string engine_text(const bench_facts& facts) {
  std::string out = fmt::format(
      "\nThe engine, from memory to chunks and fingerprints, {} thread{}, wall time\n"
      "GiB/s, and the share of a plain read by as many threads; for devices also of the link and of the kernels\n",
      facts.threads.threads, facts.threads.threads == 1 ? "" : "s");
  for (const engine_setup& setup : facts.setups) {
    if (!setup.problem.empty()) out += fmt::format("-  {}: {}\n", setup.name, setup.problem);
  }
  out += problem_text(facts.engine_rows, [](const engine_job& job) { return job.hash; });
  out += fmt::format("{:<15} {:<20} {:<12} {:>8}", "", "sizes", "hash", "mean");
  for (const engine_setup& setup : facts.setups) out += fmt::format("  {:>{}}", setup.name, columns_of(setup.name));
  out += "  gain of both\n";
  for (const engine_row& row : facts.engine_rows) {
    out += fmt::format("{:<15} {:<20} {:<12} {:>8}{}  {:>12}\n", row.job->name, row.job->size, row.job->hash,
                       human_bytes(row.mean_bytes), text_of(row.cells),
                       or_dash(row.gain_of_both(), [](double gain) { return fmt::format("{:.2f}", gain); }));
  }
  return out;
}

/// The fastest cell of some rows.
struct fastest_cell {
  std::string job;
  std::string_view back_end;
  double bytes_per_second = 0;

  void look_at(const bench_cell& cell, std::string_view named) {
    if (!cell.bytes_per_second || *cell.bytes_per_second <= bytes_per_second) return;
    *this = {.job = std::string(named), .back_end = cell.name, .bytes_per_second = *cell.bytes_per_second};
  }
  [[nodiscard]] std::string text(std::string_view what) const {
    return fmt::format("{}{} by {} ({} GiB/s)", what, job, back_end, gib_per_second(bytes_per_second));
  }
};

/// The last lines: why a rate may be above that of a plain read, and what was fastest.
std::string closing_text(const bench_facts& facts) {
  fastest_cell cuts;
  fastest_cell fingerprint;
  fastest_cell whole;
  bool is_above_read = false;
  for (const bench_row& row : facts.rows) {
    for (const bench_cell& cell : row.cells) {
      if (row.job->kind == bench_kind::read) continue;
      is_above_read = is_above_read || cell.of_read.value_or(0) > 1;
      if (row.place != bench_place::memory) continue;
      const std::string sizes = row.job->kind == bench_kind::cuts ? " " + row.job->size : "";
      (row.job->kind == bench_kind::cuts ? cuts : fingerprint).look_at(cell, row.job->name + sizes);
    }
  }
  for (const engine_row& row : facts.engine_rows) {
    for (const bench_cell& cell : row.cells) {
      is_above_read = is_above_read || cell.of_read.value_or(0) > 1;
      whole.look_at(cell, fmt::format("{} {} with {}", row.job->name, row.job->size, row.job->hash));
    }
  }
  std::vector<std::string> fastest;
  for (const auto& [what, cell] :
       {std::pair("cuts ", &cuts), std::pair("fingerprint ", &fingerprint), std::pair("engine ", &whole)}) {
    if (cell->bytes_per_second > 0) fastest.push_back(cell->text(what));
  }
  if (fastest.empty()) return {};
  return fmt::format("\n{}fastest here: {}\n",
                     is_above_read
                         ? "Above 100 % of a plain read: these cuts skip most of each chunk's minimum, and so read "
                           "fewer bytes than they cut.\n"
                         : "",
                     fmt::join(fastest, "; "));
}

}  // namespace

std::string bench_report(const bench_facts& facts) {
  std::string data;
  for (const std::string& file : facts.files) data += (data.empty() ? "" : ", ") + printable(file);
  std::string out = fmt::format("cutpoint {} on {}; {} of {}; {}\n", version(),
                                facts.processor_model.empty() ? "an unknown processor" : facts.processor_model,
                                size_with_unit(facts.data_bytes), data.empty() ? "random bytes" : data,
                                facts.rounds == 1 ? "one round" : fmt::format("medians of {} rounds", facts.rounds));
  if (facts.has_kernels) out += kernel_text(facts);
  if (facts.has_engine) out += engine_text(facts);
  return out + closing_text(facts);
}

// --- JSON: new keys may be added, but none change --------------------------------------------------------------------

namespace {

json cells_of(const std::vector<bench_cell>& cells, bool is_engine) {
  json out = json::object();
  for (const bench_cell& cell : cells) {
    json& fields = out[std::string(cell.name)];
    fields = {{"outcome", to_string(cell.outcome)},
              {"bytes_per_second", or_null(cell.bytes_per_second)},
              {"of_read", or_null(cell.of_read)}};
    if (is_engine) {
      fields["of_link"] = or_null(cell.of_link);
      fields["of_device"] = or_null(cell.of_device);
      fields["plan"] = cell.plan ? json(to_string(*cell.plan)) : json();
      fields["device_cut_share"] = or_null(cell.device_cut_share);
      fields["predicted_bytes_per_second"] = or_null(cell.predicted);
    }
    if (!cell.problem.empty()) fields["problem"] = cell.problem;
  }
  return out;
}

json json_of(const bench_row& row) {
  return {{"place", to_string(row.place)},
          {"kind", to_string(row.job->kind)},
          {"name", row.job->name},
          {"sizes", row.job->size},
          {"cuts", row.job->cuts ? json(row.job->cuts->canonical()) : json()},
          {"mean_bytes", or_null(row.mean_bytes)},
          {"read_bytes_per_second", row.read_bytes_per_second},
          {"auto", row.job->problem.empty() ? json(to_string(row.job->chosen)) : json()},
          {"back_ends", cells_of(row.cells, false)}};
}

json json_of_engine(const engine_row& row) {
  return {{"name", row.job->name},
          {"sizes", row.job->size},
          {"hash", row.job->hash},
          {"cuts", row.job->feed.cuts.canonical()},
          {"mean_bytes", row.mean_bytes},
          {"read_bytes_per_second", row.read_bytes_per_second},
          {"gain_of_both", or_null(row.gain_of_both())},
          {"back_ends", cells_of(row.cells, true)}};
}

}  // namespace

std::string bench_json(const bench_facts& facts) {
  const auto back_end = [](const backend_info& b) { return json{{"name", b.name}, {"runs_here", b.runs_here}}; };
  const auto setup = [](const engine_setup& s) { return json{{"name", s.name}, {"problem", s.problem}}; };
  return json_text({{"version", version()},
                    {"processor_model", facts.processor_model},
                    {"file", facts.files.size() == 1 ? json(facts.files.front()) : json()},
                    {"files", facts.files},
                    {"data_bytes", facts.data_bytes},
                    {"l2_bytes", facts.l2_bytes},
                    {"rounds", facts.rounds},
                    {"interrupted", facts.is_interrupted},
                    {"read_by", to_string(widest_backend())},
                    {"back_ends", json_list(processor_backends(), back_end)},
                    {"rows", json_list(facts.rows, json_of)},
                    {"thread_count", facts.has_engine ? json(facts.threads.threads) : json()},
                    {"engine_back_ends", json_list(facts.setups, setup)},
                    {"engine_rows", json_list(facts.engine_rows, json_of_engine)}});
}

}  // namespace cutpoint::cli
