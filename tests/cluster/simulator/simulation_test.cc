// Tests of the simulator: its accounts are those of the chunks that it placed, and its metrics those of the paper.
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <thread>
#include <tuple>

#include <cutpoint/cluster/simulation.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cluster/support/trace_bytes.h"

namespace cutpoint::tests {
namespace {

using cluster::chunk_trace_reader;
using cluster::node_number;
using cluster::routed_chunk;
using cluster::simulation_hooks;
using cluster::simulation_options;
using cluster::simulation_report;
using cluster::trace_totals;

byte_span bytes_of(const std::string& text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

template <class Function>
auto with_reader(const std::string& trace, Function&& function) {
  memory_source source(bytes_of(trace));
  auto reader = chunk_trace_reader::open(source, "t");
  EXPECT_TRUE(reader.ok());
  return function(*reader);
}

trace_totals totals_of(const std::string& trace) {
  return *with_reader(trace, [](chunk_trace_reader& reader) { return cluster::measure_trace(reader, {}); });
}

result<simulation_report> simulate(const std::string& trace, const simulation_options& options,
                                   const simulation_hooks& hooks = {}) {
  const trace_totals totals = totals_of(trace);
  return with_reader(trace,
                     [&](chunk_trace_reader& reader) { return cluster::simulate(reader, totals, options, hooks); });
}

/// Small super-chunks and little of everything, so that short traces have many decisions.
simulation_options small_options(std::string_view policy) {
  return {.policy = std::string(policy),
          .node_count = 5,
          .handprint_size = 4,
          .super_chunk_bytes = 100'000,
          .points_per_node = 20,
          .batch_size = 3,
          .container_bytes = 50'000,
          .cached_containers = 4,
          .changes = {}};
}

/// Runs a function for each policy, with its name in the messages of failures.
template <class Function>
void for_each_policy(Function&& function) {
  for (const std::string_view policy : cluster::policy_names()) {
    SCOPED_TRACE(policy);
    function(policy);
  }
}

auto contents_of(const simulation_report& report) {
  std::vector<std::tuple<std::uint64_t, std::uint64_t, bool>> nodes;
  for (const auto& each : report.nodes) nodes.emplace_back(each.stored_bytes, each.application_count, each.is_alive);
  return std::tuple(report.byte_count, report.chunk_count, report.unit_count, report.short_handprint_count,
                    report.stored_bytes, report.routing_look_ups, report.chunk_look_ups, report.message_count,
                    report.index_entries, report.index_bytes, nodes);
}

/// The chunks on the nodes, as a hook of a simulation learns of them.
struct chunk_placement {
  simulation_hooks hooks() {
    simulation_hooks hooks;
    hooks.place = [this](node_number node, std::span<const routed_chunk> chunks) {
      for (const routed_chunk& each : chunks) {
        placed.emplace_back(each.fingerprint, each.length);
        if (stored[node].insert(each.fingerprint).second) stored_bytes[node] += each.length;
      }
    };
    return hooks;
  }

  std::vector<std::pair<std::uint64_t, std::uint32_t>> placed;
  std::map<node_number, std::set<std::uint64_t>> stored;
  std::map<node_number, std::uint64_t> stored_bytes;  ///< by exact nodes
};

TEST(cluster_simulation, places_each_chunk_once_and_accounts_for_it) {
  const auto files = similar_files(1, 60);
  std::vector<std::pair<std::uint64_t, std::uint32_t>> expected;
  for (const auto& file : files) {
    for (const auto& each : file.chunks) expected.emplace_back(each.fingerprint, each.length);
  }
  std::sort(expected.begin(), expected.end());
  const std::string trace = trace_bytes(files);
  for_each_policy([&](std::string_view policy) {
    chunk_placement placement;
    const auto report = simulate(trace, small_options(policy), placement.hooks());
    ASSERT_TRUE(report.ok());
    std::sort(placement.placed.begin(), placement.placed.end());
    EXPECT_EQ(placement.placed, expected);
    EXPECT_EQ(report->chunk_count, expected.size());
    EXPECT_EQ(report->chunk_look_ups, expected.size());
    std::uint64_t stored_bytes = 0;
    for (node_number i = 0; i < report->nodes.size(); ++i) {
      stored_bytes += report->nodes[i].stored_bytes;
      // A node of Extreme Binning stores a chunk again for another bin.
      const bool is_exact = policy != "extreme-binning";
      const std::uint64_t node_bytes = report->nodes[i].stored_bytes;
      EXPECT_TRUE(is_exact ? node_bytes == placement.stored_bytes[i] : node_bytes >= placement.stored_bytes[i]) << i;
    }
    EXPECT_EQ(report->stored_bytes, stored_bytes);
  });
}

TEST(cluster_simulation, depends_on_nothing_but_the_trace_and_the_options) {
  const std::string trace = trace_bytes(similar_files(2, 40));
  for_each_policy([&](std::string_view policy) {
    const auto alone = simulate(trace, small_options(policy));
    ASSERT_TRUE(alone.ok());
    std::vector<std::optional<simulation_report>> reports(3);
    std::vector<std::thread> threads;
    for (auto& each : reports) threads.emplace_back([&] { each = *simulate(trace, small_options(policy)); });
    for (std::thread& each : threads) each.join();
    for (const auto& each : reports) EXPECT_EQ(contents_of(*each), contents_of(*alone));
  });
}

TEST(cluster_simulation, of_dht_stores_nothing_twice_and_of_one_exact_node_neither) {
  const std::string trace = trace_bytes(similar_files(3, 40));
  const trace_totals totals = totals_of(trace);
  for_each_policy([&](std::string_view policy) {
    simulation_options options = small_options(policy);
    if (policy != "dht") options.node_count = 1;
    const auto report = simulate(trace, options);
    ASSERT_TRUE(report.ok());
    const auto metrics = cluster::metrics_of(*report, totals);
    if (policy == "extreme-binning") {
      EXPECT_LT(metrics.normalized_ratio, 1);
    } else {
      EXPECT_EQ(report->stored_bytes, totals.unique_bytes);
      EXPECT_EQ(metrics.normalized_ratio, 1);
      EXPECT_EQ(metrics.relative_saving, 1);
    }
  });
}

TEST(cluster_simulation, routes_nothing_to_a_node_that_is_not_alive) {
  const std::string trace = trace_bytes(similar_files(4, 60));
  const std::uint64_t chunk_count = totals_of(trace).chunk_count;
  for_each_policy([&](std::string_view policy) {
    simulation_options options = small_options(policy);
    options.changes = {
        {.percent = 0, .live_count = 2}, {.percent = 30, .live_count = 5}, {.percent = 60, .live_count = 3}};
    std::uint64_t placed_count = 0;
    std::set<node_number> before_growth;
    std::set<node_number> after_failure;
    simulation_hooks hooks;
    hooks.place = [&](node_number node, std::span<const routed_chunk> chunks) {
      if (placed_count * 100 < 30 * chunk_count - 100 * chunks.size()) before_growth.insert(node);
      // A batch that has begun is routed by the state at its beginning: 3 units, of which the longest has 600 chunks.
      if (placed_count > chunk_count * 60 / 100 + 3 * 600) after_failure.insert(node);
      placed_count += chunks.size();
    };
    const auto report = simulate(trace, options, hooks);
    ASSERT_TRUE(report.ok());
    EXPECT_TRUE(before_growth.size() <= 2 && *before_growth.rbegin() < 2);
    EXPECT_LT(*after_failure.rbegin(), 3U);
    std::vector<bool> is_alive;
    for (const auto& each : report->nodes) is_alive.push_back(each.is_alive);
    EXPECT_EQ(is_alive, std::vector<bool>({true, true, true, false, false}));
  });
}

TEST(cluster_simulation, of_nodes_with_containers_misses_duplicates_that_an_exact_node_finds) {
  const std::string trace = trace_bytes(similar_files(5, 60));
  const trace_totals totals = totals_of(trace);
  simulation_options options = small_options("sigma-dedupe");
  options.deduplication = cluster::node_deduplication::containers;
  const auto missing = simulate(trace, options);
  options.deduplication = cluster::node_deduplication::exact;
  const auto exact = simulate(trace, options);
  ASSERT_TRUE(missing.ok() && exact.ok());
  EXPECT_GT(missing->stored_bytes, exact->stored_bytes);
  EXPECT_LT(missing->stored_bytes, totals.byte_count);
}

TEST(cluster_simulation, counts_look_ups_and_indexes_as_the_paper_does) {
  // One super-chunk of 10 different chunks, which is stored twice by one client.
  std::vector<traced_file> files(2, {"a", 0, {}});
  for (std::uint64_t i = 1; i <= 10; ++i) {
    for (auto& file : files) file.chunks.push_back({i, 10'000});
  }
  const std::string trace = trace_bytes(files);
  const auto report_of = [&](std::string_view policy) {
    simulation_options options = small_options(policy);
    options.has_fixed_super_chunks = true;
    options.node_count = 1;
    return *simulate(trace, options);
  };
  const simulation_report sigma = report_of("sigma-dedupe");
  EXPECT_EQ(sigma.unit_count, 2U);
  EXPECT_EQ(sigma.routing_look_ups, 2U * 4);  // one candidate, 4 representative fingerprints
  EXPECT_EQ(sigma.chunk_look_ups, 20U);
  EXPECT_EQ(sigma.message_count, 2U * 2);
  EXPECT_EQ(sigma.index_entries, 4U);
  EXPECT_EQ(sigma.index_bytes, 4U * 40);
  const simulation_report stateless = report_of("emc-stateless");
  EXPECT_EQ(stateless.routing_look_ups, 0U);
  EXPECT_EQ(stateless.message_count, 2U);
  EXPECT_EQ(stateless.index_bytes, 10U);
  const simulation_report binning = report_of("extreme-binning");
  EXPECT_EQ(binning.index_bytes, 48U);
  EXPECT_EQ(binning.stored_bytes, 100'000U);
  EXPECT_EQ(report_of("dht").unit_count, 20U);
}

TEST(cluster_simulation, reports_handprints_that_are_shorter_than_asked) {
  const std::string trace = trace_bytes({{"a", 0, {{1, 5}, {2, 5}, {1, 5}}}});
  simulation_options options = small_options("sigma-dedupe");
  options.handprint_size = 2;
  EXPECT_EQ(simulate(trace, options)->short_handprint_count, 0U);
  options.handprint_size = 3;
  EXPECT_EQ(simulate(trace, options)->short_handprint_count, 1U);
}

TEST(cluster_simulation, metrics_are_those_of_equations_7_to_10) {
  const trace_totals totals = {.byte_count = 1000, .unique_bytes = 100, .applications = {}};
  simulation_report report;
  report.byte_count = 1000;
  report.stored_bytes = 200;
  report.nodes = {{.stored_bytes = 30}, {.stored_bytes = 90}, {.stored_bytes = 80, .is_alive = false}};
  const auto metrics = cluster::metrics_of(report, totals);
  EXPECT_DOUBLE_EQ(metrics.deduplication_ratio, 5);
  EXPECT_DOUBLE_EQ(metrics.normalized_ratio, 0.5);
  EXPECT_DOUBLE_EQ(metrics.normalized_effective_ratio, 0.5 * 60 / (60 + 30));  // the dead node does not count
  EXPECT_DOUBLE_EQ(metrics.data_skew, 1);
  EXPECT_DOUBLE_EQ(metrics.relative_saving, 800.0 / 900);
  simulation_report empty;
  empty.nodes = {{}, {}};
  const auto empty_metrics = cluster::metrics_of(empty, {});
  EXPECT_EQ(empty_metrics.normalized_effective_ratio, 1);
  EXPECT_EQ(empty_metrics.data_skew, 0);
}

TEST(cluster_simulation, refuses_options_out_of_bounds_with_the_bounds) {
  const auto message_of = [](auto&& change) {
    simulation_options options;
    change(options);
    return cluster::check(options).message();
  };
  EXPECT_EQ(message_of([](auto&) {}), "");
  EXPECT_EQ(message_of([](auto& o) { o.node_count = 0; }), "the number of nodes is 0, and may be 1 to 65536");
  EXPECT_EQ(message_of([](auto& o) { o.node_count = 1'000'000; }),
            "the number of nodes is 1000000, and may be 1 to 65536");
  EXPECT_EQ(message_of([](auto& o) { o.handprint_size = 65; }), "the handprint size is 65, and may be 1 to 64");
  EXPECT_EQ(message_of([](auto& o) { o.overload_percent = 99; }),
            "the overload percentage is 99, and may be 0 or 100 to 10000");
  EXPECT_THAT(message_of([](auto& o) { o.policy = "sigma-dedup"; }), testing::HasSubstr("'sigma-dedupe'?"));
  EXPECT_EQ(message_of([](auto& o) { o.changes = {{.percent = 5, .live_count = 9}}; }),
            "the number of live nodes is 9, and may be 1 to 4, of all nodes");
  EXPECT_EQ(message_of([](auto& o) {
              o.changes = {{.percent = 50, .live_count = 1}, {.percent = 40, .live_count = 2}};
            }),
            "the number of live nodes changes after 40 % of the chunks, and may change after 50 to 100 %");
}

TEST(cluster_simulation, of_a_trace_that_is_cut_off_or_another_one_fails) {
  const std::string trace = trace_bytes(similar_files(6, 5));
  const std::string cut_off = trace.substr(0, trace.size() - 12);
  const auto of_cut_off = [&](auto&& function) { return with_reader(cut_off, function).error().message(); };
  EXPECT_THAT(of_cut_off([](chunk_trace_reader& reader) { return cluster::measure_trace(reader, {}); }),
              testing::StartsWith("t: is cut off after "));
  EXPECT_THAT(of_cut_off([&](chunk_trace_reader& reader) {
                return cluster::simulate(reader, totals_of(trace), small_options("dht"), {});
              }),
              testing::StartsWith("t: is cut off after "));
  const std::string another = trace_bytes(similar_files(7, 5));
  const auto simulated = with_reader(another, [&](chunk_trace_reader& reader) {
    return cluster::simulate(reader, totals_of(trace), small_options("dht"), {});
  });
  EXPECT_EQ(simulated.error().message(), "the trace is not the one that was measured");
}

}  // namespace
}  // namespace cutpoint::tests
