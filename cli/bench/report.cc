// Writes the tables of `bench`.
#include "cli/bench/report.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <cutpoint/text.h>
#include <cutpoint/version.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/common/console.h"
#include "cli/common/output.h"

namespace cutpoint::cli {

// --- For people ------------------------------------------------------------------------------------------------------

namespace {

std::string percent_of(const std::optional<double>& share) {
  return or_dash(share, [](double number) { return fmt::format("{:.0f} %", 100 * number); });
}

bool is_measured(const bench_cell& cell) { return cell.bytes_per_second.has_value(); }

/// Returns the rate, marked if it is of the back end that `auto` takes.
std::string text_of(const bench_cell& cell, std::string_view chosen) {
  if (cell.outcome == bench_outcome::no_kernel) return fmt::format("={} ", cell.leaves_to);
  if (cell.outcome == bench_outcome::wrong_answer) return "wrong ";
  if (!is_measured(cell)) return "- ";
  return gib_per_second(*cell.bytes_per_second) + (cell.name == chosen ? "*" : " ");
}

/// The width of the column of a back end.
std::size_t width_of(std::string_view back_end) { return std::max<std::size_t>(6, back_end.size()) + 3; }

std::vector<backend_info> running_backends() {
  std::vector<backend_info> running = processor_backends();
  std::erase_if(running, [](const backend_info& each) { return !each.runs_here; });
  return running;
}

/// Returns the setups that can be used here.
std::vector<engine_setup> usable(std::vector<engine_setup> setups) {
  std::erase_if(setups, [](const engine_setup& each) { return !each.problem.empty(); });
  return setups;
}

const bench_cell* cell_of(const std::vector<bench_cell>& cells, std::string_view name) {
  const auto entry = std::ranges::find(cells, name, &bench_cell::name);
  return entry != cells.end() ? &*entry : nullptr;
}

/// Returns a line for each rate of a row whose table is sorted later.
template <class Row>
std::string lines_text(const bench_facts& facts, const Row& row) {
  std::string out;
  for (const bench_cell& cell : row.cells) {
    if (!is_measured(cell)) continue;
    out += fmt::format("{:<{}}  {:>6} GiB/s  {}\n", label(*row.job), facts.name_width,
                       gib_per_second(*cell.bytes_per_second), cell.name);
  }
  return out;
}

std::string table_heading(const bench_facts& facts, bench_place place) {
  const std::uint64_t bytes = place == bench_place::memory ? facts.data_bytes : facts.l2_bytes;
  std::string out =
      fmt::format("\nBack ends in one thread, data in {}, {}: GiB/s\n{:<{}}  {:>8}",
                  place == bench_place::memory ? "memory" : "L2", format_size(bytes), "", facts.name_width, "mean");
  for (const backend_info& b : running_backends()) out += fmt::format("{:>{}}", b.name, width_of(b.name) - 1) + ' ';
  return out + "   read\n";
}

/// The width of the column of a setup's rate.
std::size_t rate_width(const engine_setup& setup) { return setup.name.size() + 2; }

std::string engine_heading(const bench_facts& facts) {
  std::string out = fmt::format(
      "\nThe engine, from memory to chunks and fingerprints, {} thread{}, wall time: GiB/s,\n"
      "and the share of a plain read by as many threads; with a GPU of its link and of its kernels\n",
      facts.threads.threads, facts.threads.threads == 1 ? "" : "s");
  out += fmt::format("{:<{}}  {:>8}", "", facts.name_width, "mean");
  for (const engine_setup& setup : usable(facts.setups)) {
    out +=
        fmt::format("{:>{}} {}", setup.name, rate_width(setup), uses_device(setup.where) ? "  link    GPU" : "   read");
  }
  return out + (usable(facts.setups).size() == 3 ? "   gain\n" : "\n");
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

/// The cells of both parts, but for those of the plain read.
std::vector<bench_cell> cells_in(const bench_facts& facts) {
  std::vector<bench_cell> cells;
  for (const bench_row& row : facts.rows) {
    if (row.job->kind != bench_kind::read) cells.insert(cells.end(), row.cells.begin(), row.cells.end());
  }
  for (const engine_row& row : facts.engine_rows) cells.insert(cells.end(), row.cells.begin(), row.cells.end());
  return cells;
}

bool has_outcome(const std::vector<bench_cell>& cells, bench_outcome outcome) {
  return std::ranges::find(cells, outcome, &bench_cell::outcome) != cells.end();
}

/// Returns what the rates of a GPU's kernels are of, and a line for each name that it cannot cut by.
std::string kernels_text(const bench_facts& facts) {
  std::string out;
  std::vector<double> copied;
  for (const bench_row& row : facts.rows) {
    const bench_cell& cell = row.cells.front();
    if (cell.copied) copied.push_back(*cell.copied);
    if (cell.outcome == bench_outcome::unavailable) out += fmt::format("-  {}: {}\n", label(*row.job), cell.problem);
  }
  if (copied.empty()) return out;
  return out +
         fmt::format("cuda is {}: its kernels alone, by its own clock; the same data were copied to it at {} GiB/s.\n",
                     printable(facts.device_name), gib_per_second(median(copied)));
}

/// Returns why no GPU was measured, and how to learn what one would bring.
std::string device_text(const bench_facts& facts) {
  const auto device = std::ranges::find_if(facts.setups, [](const auto& each) { return !each.problem.empty(); });
  if (device == facts.setups.end()) return {};
  return fmt::format("No GPU here: {}. {}\n", device->problem, planning_hint);
}

}  // namespace

std::string label(const bench_job& job) { return job.size.empty() ? job.name : job.name + ' ' + job.size; }

std::string label(const engine_job& job) { return fmt::format("{} {} {}", job.name, job.size, job.hash); }

std::string heading_text(const bench_facts& facts) {
  std::string data;
  for (const std::string& file : facts.files) data += (data.empty() ? "" : ", ") + printable(file);
  return fmt::format("cutpoint {} on {}; {} of {}; {}\n", version(),
                     facts.processor_model.empty() ? "an unknown processor" : facts.processor_model,
                     size_with_unit(facts.data_bytes), data.empty() ? "random bytes" : data,
                     facts.rounds == 1 ? "one round" : fmt::format("medians of {} rounds", facts.rounds));
}

std::string latest_row_text(const bench_facts& facts) {
  const bench_row& row = facts.rows.back();
  if (facts.is_sorted) return lines_text(facts, row);
  const bool is_first = facts.rows.size() == 1 || (&row)[-1].place != row.place;
  std::string out = is_first ? table_heading(facts, row.place) : "";
  const std::string_view chosen = to_string(row.job->chosen);
  out += fmt::format("{:<{}}  {:>8}", label(*row.job), facts.name_width, or_dash(row.mean_bytes, human_bytes));
  for (const backend_info& b : running_backends()) {
    out += fmt::format("{:>{}}", text_of(*cell_of(row.cells, b.name), chosen), width_of(b.name));
  }
  return out + fmt::format("{:>7}\n", percent_of(cell_of(row.cells, chosen)->of_read));
}

std::string latest_engine_row_text(const bench_facts& facts) {
  const engine_row& row = facts.engine_rows.back();
  if (facts.is_sorted) return lines_text(facts, row);
  std::string out = facts.engine_rows.size() == 1 ? engine_heading(facts) : "";
  out += fmt::format("{:<{}}  {:>8}", label(*row.job), facts.name_width, human_bytes(row.mean_bytes));
  const std::vector<engine_setup> setups = usable(facts.setups);
  for (const engine_setup& setup : setups) {
    const bench_cell& cell = *cell_of(row.cells, setup.name);
    out += fmt::format("{:>{}}", text_of(cell, {}), rate_width(setup) + 1);
    out += uses_device(setup.where) ? fmt::format("{:>6} {:>6}", percent_of(cell.of_link), percent_of(cell.of_device))
                                    : fmt::format("{:>7}", percent_of(cell.of_read));
  }
  const auto gain = or_dash(row.gain_of_both(), [](double number) { return fmt::format("{:.2f}", number); });
  return out + (setups.size() == 3 ? fmt::format("{:>7}\n", gain) : "\n");
}

std::string closing_text(const bench_facts& facts) {
  const std::vector<bench_cell> cells = cells_in(facts);
  std::string out;
  if (!facts.is_sorted && !facts.rows.empty())
    out += "*  the back end that auto takes; its share of a plain read by the widest vectors is the last column\n";
  if (!facts.is_sorted && has_outcome(cells, bench_outcome::no_kernel)) {
    out += "=  a back end without a kernel of its own, which leaves the job to the one named\n";
  }
  std::vector<std::string_view> absent;
  for (const backend_info& b : processor_backends()) {
    if (!b.runs_here) absent.push_back(b.name);
  }
  if (facts.device_name.empty() && !facts.rows.empty() && !absent.empty())
    out += fmt::format("This processor does not run {}.\n", fmt::join(absent, ", "));
  out += problem_text(facts.rows, [](const bench_job& job) { return job.name; });
  out += problem_text(facts.engine_rows, [](const engine_job& job) { return job.hash; });
  if (std::ranges::any_of(cells, [](const bench_cell& cell) { return cell.of_read.value_or(0) > 1; })) {
    out += "Above 100 % of a plain read: these cuts skip bytes, and so read fewer than they cut.\n";
  }
  if (has_outcome(cells, bench_outcome::checked)) {
    const bool is_right = !has_outcome(cells, bench_outcome::wrong_answer);
    out +=
        fmt::format("The answers of all back ends were compared with the reference's, also of what is not timed{}.\n",
                    is_right ? ": all are right" : "; not all are right");
  }
  if (!facts.device_name.empty()) out += kernels_text(facts);
  out += device_text(facts);
  return out.empty() ? out : '\n' + out;
}

// --- JSON: new keys may be added, but none change --------------------------------------------------------------------

namespace {

json cells_of(const std::vector<bench_cell>& cells, bool is_engine) {
  json out = json::object();
  for (const bench_cell& cell : cells) {
    json& fields = out[std::string(cell.name)];
    fields = {{"outcome", to_string(cell.outcome)},
              {"bytes_per_second", or_null(cell.bytes_per_second)},
              {"lowest_bytes_per_second", or_null(cell.lowest)},
              {"highest_bytes_per_second", or_null(cell.highest)},
              {"of_read", or_null(cell.of_read)}};
    if (is_engine) {
      fields["of_link"] = or_null(cell.of_link);
      fields["of_device"] = or_null(cell.of_device);
      fields["plan"] = cell.plan ? json(to_string(*cell.plan)) : json();
      fields["device_cut_share"] = or_null(cell.device_cut_share);
      fields["predicted_bytes_per_second"] = or_null(cell.predicted);
    }
    if (cell.copied) fields["copied_bytes_per_second"] = *cell.copied;
    if (!cell.leaves_to.empty()) fields["leaves_to"] = cell.leaves_to;
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

json bench_json(const bench_facts& facts) {
  const auto back_end = [](const backend_info& b) { return json{{"name", b.name}, {"runs_here", b.runs_here}}; };
  json back_ends = json_list(facts.device_name.empty() ? processor_backends() : std::vector<backend_info>(), back_end);
  if (!facts.device_name.empty())
    back_ends.push_back({{"name", to_string(backend::cuda)}, {"runs_here", true}, {"device", facts.device_name}});
  const auto setup = [](const engine_setup& s) { return json{{"name", s.name}, {"problem", s.problem}}; };
  return {{"version", version()},
          {"processor_model", facts.processor_model},
          {"file", facts.files.size() == 1 ? json(facts.files.front()) : json()},
          {"files", facts.files},
          {"data_bytes", facts.data_bytes},
          {"l2_bytes", facts.l2_bytes},
          {"rounds", facts.rounds},
          {"interrupted", facts.is_interrupted},
          {"quick", facts.is_quick},
          {"read_by", to_string(widest_backend())},
          {"back_ends", std::move(back_ends)},
          {"rows", json_list(facts.rows, json_of)},
          {"thread_count", facts.has_engine ? json(facts.threads.threads) : json()},
          {"engine_back_ends", json_list(facts.setups, setup)},
          {"engine_rows", json_list(facts.engine_rows, json_of_engine)}};
}

}  // namespace cutpoint::cli
