// Simulations on several threads.
#include <algorithm>
#include <chrono>
#include <utility>

#include <cutpoint/cluster/simulation_jobs.h>

#include "host/core/parallel.h"

namespace cutpoint::cluster {

result<std::vector<finished_simulation>> simulate_all(const simulation_jobs& jobs, const trace_totals& totals) {
  std::vector<finished_simulation> finished(jobs.options.size());
  std::vector<status> outcomes(jobs.options.size());
  run_parallel(jobs.thread_count, jobs.options.size(), [&](std::size_t, std::size_t i) {
    const simulation_hooks hooks = jobs.hooks_of ? jobs.hooks_of(i) : simulation_hooks();
    const auto begin = std::chrono::steady_clock::now();
    outcomes[i] = jobs.read_trace([&](chunk_trace_reader& trace) -> status {
      auto report = simulate(trace, totals, jobs.options[i], hooks);
      if (!report) return report.error();
      finished[i].report = *std::move(report);
      return {};
    });
    finished[i].seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  });
  const auto failed = std::find_if(outcomes.begin(), outcomes.end(), [](const status& each) { return !each.ok(); });
  if (failed != outcomes.end()) return *failed;
  return finished;
}

}  // namespace cutpoint::cluster
