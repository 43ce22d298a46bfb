// A table for each place of kernels, and one for the engine.
#include "cli/bench/report.h"

#include <algorithm>

#include <cutpoint/text.h>
#include <cutpoint/version.h>
#include <fmt/format.h>

#include "cli/common/console.h"
#include "cli/common/units.h"

namespace cutpoint::cli {

namespace {

constexpr std::string_view as_scalar = "=";

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

/// Three more shares where there is a device.
int engine_columns(const engine_setup& side) { return side.name == "processor" ? 12 : 24; }

bool has(const bench_facts& facts, bench_outcome outcome) {
  return std::any_of(facts.rows.begin(), facts.rows.end(), [outcome](const bench_row& row) {
    return std::any_of(row.cells.begin(), row.cells.end(),
                       [outcome](const bench_cell& cell) { return cell.outcome == outcome; });
  });
}

std::string kernel_text(const bench_facts& facts) {
  std::string out = fmt::format(
      "Back ends in one thread: GiB/s, and the share of a plain read of the same memory by {} in the same round\n",
      to_string(widest_backend()));
  for (const backend_info& b : processor_backends()) {
    if (!b.runs_here) out += fmt::format("-  {}: this processor does not run it\n", b.name);
  }
  if (has(facts, bench_outcome::no_kernel)) out += fmt::format("{}  no kernel of its own: as scalar\n", as_scalar);
  return out + text_of(facts, bench_place::memory) + text_of(facts, bench_place::l2);
}

// --- The engine ------------------------------------------------------------------------------------------------------

std::string percent_of(const std::optional<double>& share) {
  return or_dash(share, [](double number) { return fmt::format("{:.0f} %", 100 * number); });
}

std::string text_of(const engine_cell& cell) {
  switch (cell.outcome) {
    case engine_outcome::measured:
      break;
    case engine_outcome::unavailable:
      return "-";
    case engine_outcome::wrong_answer:
      return "wrong";
  }
  std::string text = fmt::format("{:>6} {:>5}", gib_per_second(*cell.bytes_per_second), percent_of(cell.of_read));
  if (cell.side != "processor")
    text += fmt::format(" {:>5} {:>5}", percent_of(cell.of_link), percent_of(cell.of_device));
  return text;
}

std::string engine_text(const bench_facts& facts) {
  std::string out = fmt::format(
      "\nThe engine, from memory to chunks and fingerprints, {} thread{}, wall time\n"
      "GiB/s, and the share of a plain read by as many threads; of devices also of the link and of the kernels\n",
      facts.thread_count, facts.thread_count == 1 ? "" : "s");
  for (const engine_setup& side : facts.sides) {
    if (!side.problem.empty()) out += fmt::format("-  {}: {}\n", side.name, side.problem);
  }
  out += fmt::format("{:<15} {:<20} {:<12} {:>8}", "", "sizes", "hash", "mean");
  for (const engine_setup& side : facts.sides) out += fmt::format("  {:>{}}", side.name, engine_columns(side));
  out += "  gain of both\n";
  for (const engine_row& row : facts.engine_rows) {
    out += fmt::format("{:<15} {:<20} {:<12} {:>8}", row.job->name, row.job->size, row.job->hash,
                       human_bytes(row.mean_bytes));
    for (std::size_t i = 0; i < row.cells.size(); ++i) {
      out += fmt::format("  {:>{}}", text_of(row.cells[i]), engine_columns(facts.sides[i]));
    }
    out +=
        fmt::format("  {:>12}\n", or_dash(row.gain_of_both(), [](double gain) { return fmt::format("{:.2f}", gain); }));
  }
  return out;
}

}  // namespace

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

std::string bench_report(const bench_facts& facts) {
  std::string data;
  for (const std::string& file : facts.files) data += (data.empty() ? "" : ", ") + printable(file);
  std::string out = fmt::format("cutpoint {} on {}; {} of {}; {}\n", version(),
                                facts.processor_model.empty() ? "an unknown processor" : facts.processor_model,
                                format_size(facts.data_bytes), data.empty() ? "random bytes" : data,
                                facts.rounds == 1 ? "one round" : fmt::format("medians of {} rounds", facts.rounds));
  if (facts.has_kernels) out += kernel_text(facts);
  return facts.has_engine ? out + engine_text(facts) : out;
}

}  // namespace cutpoint::cli
