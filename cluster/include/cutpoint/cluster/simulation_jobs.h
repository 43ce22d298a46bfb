// Simulations of one chunk trace by several policies and sizes, on several threads, and the names of the numbers that they report.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include <cutpoint/cluster/simulation.h>
#include <cutpoint/status.h>

namespace cutpoint::cluster {

/// Opens a trace at its beginning and gives its reader to a function. Returns what the function returns. It is called once
/// for each simulation, from several threads at once. Errors: those of opening and of the function.
using trace_access = std::function<status(const std::function<status(chunk_trace_reader&)>&)>;

struct simulation_jobs {
  trace_access read_trace;
  std::vector<simulation_options> options;
  /// Simulations that run at once, at least 1.
  std::size_t thread_count = 1;
  /// Returns the hooks of a simulation by its number; may be empty. It is called on the simulation's thread, and so are the
  /// hooks, which are called from one thread at a time only if there is one thread.
  std::function<simulation_hooks(std::size_t)> hooks_of;
};

struct finished_simulation {
  simulation_report report;
  double seconds = 0;  ///< on its thread
};

/// Runs the simulations. `totals` is what `measure_trace` says of the trace. The results are in the order of the options
/// and, but for their seconds, depend on the options and the trace alone. Errors: the first one in this order, as those of
/// `simulate` and of the access to the trace.
[[nodiscard]] result<std::vector<finished_simulation>> simulate_all(const simulation_jobs& jobs,
                                                                    const trace_totals& totals);

/// Calls `visit(name, number)` for each number of a finished simulation, by the name that it has in reports, in their order.
template <class Visitor>
void visit_numbers(const finished_simulation& finished, const trace_totals& totals, Visitor&& visit) {
  const simulation_report& report = finished.report;
  const simulation_metrics metrics = metrics_of(report, totals);
  visit("deduplication_ratio", metrics.deduplication_ratio);
  visit("normalized_ratio", metrics.normalized_ratio);
  visit("normalized_effective_ratio", metrics.normalized_effective_ratio);
  visit("data_skew", metrics.data_skew);
  visit("relative_saving", metrics.relative_saving);
  visit("stored_bytes", report.stored_bytes);
  visit("unit_count", report.unit_count);
  visit("short_handprint_count", report.short_handprint_count);
  visit("routing_look_ups", report.routing_look_ups);
  visit("chunk_look_ups", report.chunk_look_ups);
  visit("message_count", report.message_count);
  visit("index_entries", report.index_entries);
  visit("index_bytes", report.index_bytes);
  visit("seconds", finished.seconds);
}

}  // namespace cutpoint::cluster
