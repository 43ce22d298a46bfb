// The metrics of a simulation.
#include <algorithm>
#include <cmath>
#include <limits>

#include <cutpoint/cluster/simulation.h>

namespace cutpoint::cluster {

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
