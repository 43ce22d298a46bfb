// The report of simulations, for people and as JSON.
#pragma once

#include <span>
#include <string>

#include "cluster_cli/simulation_jobs.h"

namespace cutpoint::cli {

/// What a report is about. The options and the results belong together by their numbers.
struct simulation_facts {
  const simulation_jobs& jobs;
  const cluster::trace_totals& totals;
  std::span<const finished_simulation> finished;
};

[[nodiscard]] std::string simulation_table(const simulation_facts& facts);
[[nodiscard]] std::string simulation_json(const simulation_facts& facts);

}  // namespace cutpoint::cli
