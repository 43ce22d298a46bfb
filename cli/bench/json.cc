// The tables as JSON. The keys are stable: new ones may be added, but none change.
#include "cli/common/json.h"

#include <cutpoint/version.h>

#include "cli/bench/report.h"

namespace cutpoint::cli {

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
          {"auto", to_string(row.job->chosen)},
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
