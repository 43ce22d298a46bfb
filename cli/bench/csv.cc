// One line for each cell of every table.
#include "cli/common/csv.h"

#include <fmt/format.h>

#include "cli/bench/report.h"

namespace cutpoint::cli {

namespace {

constexpr std::string_view header =
    "part,place,kind,name,sizes,hash,cuts,mean_bytes,data_bytes,thread_count,rounds,read_bytes_per_second,back_end,"
    "outcome,bytes_per_second,of_read,of_link,of_device,plan,device_cut_share,predicted_bytes_per_second,problem\n";

/// As many digits as the number needs; nothing where there is none.
std::string number(const std::optional<double>& value) { return value ? fmt::format("{}", *value) : std::string(); }

std::string lines_of(const bench_facts& facts, const bench_row& row) {
  const bench_job& job = *row.job;
  const std::uint64_t data_bytes = row.place == bench_place::memory ? facts.data_bytes : facts.l2_bytes;
  std::string out;
  for (const bench_cell& cell : row.cells) {
    out += fmt::format("kernels,{},{},{},{},{},{},{},{},1,{},{},{},{},{},{},,,,,,{}\n", to_string(row.place),
                       to_string(job.kind), csv_field(job.name), csv_field(job.size),
                       job.kind == bench_kind::fingerprint ? job.name : "",
                       csv_field(job.cuts ? job.cuts->canonical() : ""), number(row.mean_bytes), data_bytes,
                       facts.rounds, row.read_bytes_per_second, to_string(cell.where), to_string(cell.outcome),
                       number(cell.bytes_per_second), number(cell.of_read), csv_field(cell.problem));
  }
  return out;
}

std::string lines_of(const bench_facts& facts, const engine_row& row) {
  const engine_job& job = *row.job;
  std::string out;
  for (const engine_cell& cell : row.cells) {
    out += fmt::format("engine,memory,,{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", csv_field(job.name),
                       csv_field(job.size), job.hash, csv_field(job.feed.cuts.canonical()), row.mean_bytes,
                       facts.data_bytes, facts.thread_count, facts.rounds, row.read_bytes_per_second, cell.side,
                       to_string(cell.outcome), number(cell.bytes_per_second), number(cell.of_read),
                       number(cell.of_link), number(cell.of_device), cell.plan ? to_string(*cell.plan) : "",
                       number(cell.device_cut_share), number(cell.predicted), csv_field(cell.problem));
  }
  return out;
}

}  // namespace

std::string bench_csv(const bench_facts& facts) {
  std::string out(header);
  for (const bench_row& row : facts.rows) out += lines_of(facts, row);
  for (const engine_row& row : facts.engine_rows) out += lines_of(facts, row);
  return out;
}

}  // namespace cutpoint::cli
