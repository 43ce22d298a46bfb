// Around a simulation: its options, its metrics, and several simulations of one trace at once.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include <cutpoint/cluster/simulation.h>
#include <cutpoint/cluster/simulation_jobs.h>
#include <cutpoint/text.h>
#include <fmt/format.h>

#include "cluster/simulator/simulated_policies.h"
#include "host/core/parallel.h"

namespace cutpoint::cluster {

namespace {

struct bounded_option {
  std::string_view meaning;
  std::uint64_t value;
  std::uint64_t least;
  std::uint64_t most;
};

status check_changes(const simulation_options& options) {
  std::uint64_t last_percent = 0;
  for (const membership_change& each : options.changes) {
    if (each.live_count == 0 || each.live_count > options.node_count) {
      return {status_code::invalid_argument,
              fmt::format("the number of live nodes is {}, and may be 1 to {}, of all nodes", each.live_count,
                          options.node_count)};
    }
    if (each.percent < last_percent || each.percent > 100) {
      return {status_code::invalid_argument,
              fmt::format("the number of live nodes changes after {} % of the chunks, and may change after {} to 100 %",
                          each.percent, last_percent)};
    }
    last_percent = each.percent;
  }
  return {};
}

}  // namespace

std::span<const std::string_view> deduplication_names() {
  static constexpr std::string_view names[] = {"exact", "containers", "none"};
  return names;
}

result<node_deduplication> find_deduplication(std::string_view name) {
  const auto names = deduplication_names();
  const auto place = std::find(names.begin(), names.end(), name);
  if (place == names.end()) return unknown_name("deduplication", name, names);
  return static_cast<node_deduplication>(place - names.begin());
}

status check(const simulation_options& options) {
  constexpr std::uint64_t gibibyte = 1024 * 1024 * 1024;
  if (find_policy(options.policy) == nullptr) return unknown_name("policy", options.policy, policy_names());
  const bounded_option bounded_options[] = {
      {"the number of nodes", options.node_count, 1, 65'536},
      {"the handprint size", options.handprint_size, 1, 64},
      {"the length of super-chunks", options.super_chunk_bytes, 2, gibibyte},
      {"the number of points of a node", options.points_per_node, 1, 10'000},
      {"the batch size", options.batch_size, 1, 65'536},
      {"the length of containers", options.container_bytes, 1, gibibyte},
      {"the number of cached containers", options.cached_containers, 1, 1'000'000},
  };
  for (const bounded_option& each : bounded_options) {
    if (each.value >= each.least && each.value <= each.most) continue;
    return {status_code::invalid_argument,
            fmt::format("{} is {}, and may be {} to {}", each.meaning, each.value, each.least, each.most)};
  }
  if (options.overload_percent != 0 && (options.overload_percent < 100 || options.overload_percent > 10'000)) {
    return {status_code::invalid_argument,
            fmt::format("the overload percentage is {}, and may be 0 or 100 to 10000", options.overload_percent)};
  }
  return check_changes(options);
}

// Simulations on several threads.

result<std::vector<finished_simulation>> simulate_all(const simulation_jobs& jobs, const trace_totals& totals) {
  std::vector<finished_simulation> finished(jobs.options.size());
  std::vector<status> outcomes(jobs.options.size());
  run_parallel(jobs.thread_count, jobs.options.size(), [&](std::size_t, std::size_t i) {
    const simulation_hooks hooks = jobs.hooks_of ? jobs.hooks_of(i) : simulation_hooks();
    const auto begin = std::chrono::steady_clock::now();
    outcomes[i] = jobs.read_trace([&](chunk_trace_reader& trace) -> status {
      CUTPOINT_TRY(finished[i].report, simulate(trace, totals, jobs.options[i], hooks));
      return {};
    });
    finished[i].seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  });
  const auto failed = std::find_if(outcomes.begin(), outcomes.end(), [](const status& each) { return !each.ok(); });
  if (failed != outcomes.end()) return *failed;
  return finished;
}

// The metrics of a simulation.

namespace {

double ratio(std::uint64_t numerator, std::uint64_t denominator) {
  return denominator == 0 ? 1 : static_cast<double>(numerator) / static_cast<double>(denominator);
}

/// How the nodes that are alive are filled.
struct load_spread {
  double mean = 0;
  double deviation = 0;
  std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t most = 0;
};

load_spread spread_of(const std::vector<node_report>& nodes) {
  load_spread spread;
  double count = 0;
  double squares = 0;
  for (const node_report& each : nodes) {
    if (!each.is_alive) continue;
    const double load = static_cast<double>(each.stored_bytes);
    const double difference = load - spread.mean;
    spread.mean += difference / ++count;
    squares += difference * (load - spread.mean);
    spread.least = std::min(spread.least, each.stored_bytes);
    spread.most = std::max(spread.most, each.stored_bytes);
  }
  spread.deviation = std::sqrt(squares / count);
  return spread;
}

}  // namespace

simulation_metrics metrics_of(const simulation_report& report, const trace_totals& totals) {
  simulation_metrics metrics;
  metrics.deduplication_ratio = ratio(report.byte_count, report.stored_bytes);
  metrics.normalized_ratio = ratio(totals.unique_bytes, report.stored_bytes);
  metrics.relative_saving = ratio(report.byte_count - report.stored_bytes, totals.byte_count - totals.unique_bytes);
  const load_spread spread = spread_of(report.nodes);
  const bool is_empty = spread.most == 0;
  metrics.normalized_effective_ratio =
      metrics.normalized_ratio * (is_empty ? 1 : spread.mean / (spread.mean + spread.deviation));
  metrics.data_skew = is_empty ? 0 : static_cast<double>(spread.most - spread.least) / spread.mean;
  return metrics;
}

}  // namespace cutpoint::cluster
