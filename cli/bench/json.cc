// A row in JSON for each row of the tables.
#include <cutpoint/version.h>
#include <nlohmann/json.hpp>

#include "cli/bench/report.h"

namespace cutpoint::cli {

namespace {

using nlohmann::ordered_json;

template <class Number>
ordered_json or_null(const std::optional<Number>& number) {
  return number ? ordered_json(*number) : ordered_json();
}

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

ordered_json json_of(const engine_row& row) {
  ordered_json cells = ordered_json::object();
  for (const engine_cell& cell : row.cells) {
    ordered_json& out = cells[std::string(cell.side)];
    out = {{"outcome", to_string(cell.outcome)},
           {"bytes_per_second", or_null(cell.bytes_per_second)},
           {"of_read", or_null(cell.of_read)},
           {"of_link", or_null(cell.of_link)},
           {"of_device", or_null(cell.of_device)},
           {"plan", cell.plan ? ordered_json(to_string(*cell.plan)) : ordered_json()},
           {"device_cut_share", or_null(cell.device_cut_share)},
           {"predicted_bytes_per_second", or_null(cell.predicted)}};
    if (!cell.problem.empty()) out["problem"] = cell.problem;
  }
  return {{"name", row.job->name},
          {"sizes", row.job->size},
          {"hash", row.job->hash},
          {"cuts", row.job->feed.cuts.canonical()},
          {"mean_bytes", row.mean_bytes},
          {"read_bytes_per_second", row.read_bytes_per_second},
          {"gain_of_both", or_null(row.gain_of_both())},
          {"back_ends", cells}};
}

}  // namespace

std::string bench_json(const bench_facts& facts) {
  ordered_json out = {{"version", version()},
                      {"processor_model", facts.processor_model},
                      {"file", facts.files.size() == 1 ? ordered_json(facts.files.front()) : ordered_json()},
                      {"files", facts.files},
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
  out["thread_count"] = facts.has_engine ? ordered_json(facts.thread_count) : ordered_json();
  out["engine_back_ends"] = ordered_json::array();
  for (const engine_setup& side : facts.sides) {
    out["engine_back_ends"].push_back({{"name", side.name}, {"problem", side.problem}});
  }
  out["engine_rows"] = ordered_json::array();
  for (const engine_row& row : facts.engine_rows) out["engine_rows"].push_back(json_of(row));
  return out.dump(2, ' ', false, ordered_json::error_handler_t::replace) + '\n';
}

}  // namespace cutpoint::cli
