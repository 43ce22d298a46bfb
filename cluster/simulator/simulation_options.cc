// The names and the bounds of the options of a simulation.
#include <algorithm>

#include <cutpoint/cluster/simulation.h>
#include <cutpoint/text.h>
#include <fmt/format.h>

#include "cluster/simulator/policies_by_name.h"

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

}  // namespace cutpoint::cluster
