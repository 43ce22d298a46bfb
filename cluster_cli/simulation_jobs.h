// Simulations of one chunk trace, on several threads.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <cutpoint/cluster/simulation.h>
#include <cutpoint/status.h>

#include "cli/common/console.h"

namespace cutpoint::cli {

struct finished_simulation {
  cluster::simulation_report report;
  double seconds = 0;  ///< on its thread
};

struct simulation_jobs {
  std::string trace;  ///< path of a file that can be read several times
  std::vector<cluster::simulation_options> options;
  std::size_t thread_count = 1;
  /// Called with the number of a simulation for each of its routing units; may be empty. It is called from one thread at a
  /// time only if there is one thread.
  std::function<void(std::size_t, cluster::node_number, std::span<const cluster::routed_chunk>)> place;
};

/// Reads the trace once to measure it. Draws progress. Errors: io_error; those of `cluster::measure_trace`.
[[nodiscard]] result<cluster::trace_totals> measure(const simulation_jobs& jobs, const console& say);

/// Runs the simulations. The results are in the order of the options and depend on nothing else. Draws progress. Errors: the
/// first one, in this order.
[[nodiscard]] result<std::vector<finished_simulation>> simulate(const simulation_jobs& jobs,
                                                                const cluster::trace_totals& totals,
                                                                const console& say);

}  // namespace cutpoint::cli
