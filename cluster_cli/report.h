// The report of simulations, for people and as JSON.
#pragma once

#include <span>
#include <string>

#include <cutpoint/cluster/simulation_jobs.h>

namespace cutpoint::cli {

/// What a report is about. The options and the results belong together by their numbers.
struct simulation_facts {
  std::span<const cluster::simulation_options> options;
  const cluster::trace_totals& totals;
  std::span<const cluster::finished_simulation> finished;
};

[[nodiscard]] std::string simulation_table(const simulation_facts& facts);
[[nodiscard]] std::string simulation_json(const simulation_facts& facts);

}  // namespace cutpoint::cli
