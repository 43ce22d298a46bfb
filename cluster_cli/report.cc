#include "cluster_cli/report.h"

#include <fmt/format.h>

#include "cli/common/json.h"
#include "cli/common/units.h"

namespace cutpoint::cli {

namespace {

json node_json(const cluster::node_report& node) {
  return {
      {"stored_bytes", node.stored_bytes}, {"application_count", node.application_count}, {"is_alive", node.is_alive}};
}

json one_json(const cluster::simulation_options& options, const cluster::finished_simulation& simulation,
              const cluster::trace_totals& totals) {
  json row = {
      {"policy", options.policy}, {"node_count", options.node_count}, {"handprint_size", options.handprint_size}};
  cluster::visit_numbers(simulation, totals, [&](const char* name, auto number) { row[name] = number; });
  row["nodes"] = json_list(simulation.report.nodes, node_json);
  return row;
}

}  // namespace

std::string simulation_table(const simulation_facts& facts) {
  std::string text =
      fmt::format("{} chunks, {} in {} files, {} of them unique\n\n", human_count(facts.totals.chunk_count),
                  human_bytes(as_double(facts.totals.byte_count)), human_count(facts.totals.file_count),
                  human_bytes(as_double(facts.totals.unique_bytes)));
  text += fmt::format("{:<16} {:>6} {:>3} {:>7} {:>7} {:>7} {:>7} {:>14} {:>14} {:>9} {:>12}\n", "policy", "nodes", "k",
                      "NDR", "NEDR", "DS", "saved", "look-ups", "messages", "index", "chunks/s");
  for (std::size_t i = 0; i < facts.finished.size(); ++i) {
    const cluster::simulation_report& report = facts.finished[i].report;
    const auto metrics = cluster::metrics_of(report, facts.totals);
    text +=
        fmt::format("{:<16} {:>6} {:>3} {:>7.3f} {:>7.3f} {:>7.3f} {:>7.3f} {:>14} {:>14} {:>9} {:>12}\n",
                    facts.options[i].policy, facts.options[i].node_count, facts.options[i].handprint_size,
                    metrics.normalized_ratio, metrics.normalized_effective_ratio, metrics.data_skew,
                    metrics.relative_saving, human_count(report.routing_look_ups + report.chunk_look_ups),
                    human_count(report.message_count), human_bytes(as_double(report.index_bytes)),
                    human_count(static_cast<std::uint64_t>(as_double(report.chunk_count) / facts.finished[i].seconds)));
  }
  return text;
}

std::string simulation_json(const simulation_facts& facts) {
  json simulations = json::array();
  for (std::size_t i = 0; i < facts.finished.size(); ++i) {
    simulations.push_back(one_json(facts.options[i], facts.finished[i], facts.totals));
  }
  const cluster::trace_totals& totals = facts.totals;
  return json_text({{"trace",
                     {{"file_count", totals.file_count},
                      {"chunk_count", totals.chunk_count},
                      {"byte_count", totals.byte_count},
                      {"unique_bytes", totals.unique_bytes},
                      {"applications", totals.applications}}},
                    {"simulations", simulations}});
}

}  // namespace cutpoint::cli
