// Tests of the simulator: its accounts are those of the chunks that it placed, and its metrics those of the paper.
#include <algorithm>
#include <atomic>
#include <map>
#include <set>

#include <cutpoint/cluster/simulation_jobs.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cluster/support/trace_bytes.h"
#include "tests/host/support/value_of.h"

namespace cutpoint::tests {
namespace {

using cluster::chunk_trace_reader;
using cluster::node_number;
using cluster::routed_chunk;
using cluster::simulation_hooks;
using cluster::simulation_options;
using cluster::simulation_report;
using cluster::trace_totals;

template <class Function>
auto with_reader(const std::string& trace, Function&& function) {
  memory_source source({reinterpret_cast<const std::uint8_t*>(trace.data()), trace.size()});
  auto reader = value_of(chunk_trace_reader::open(source, "t"));
  return function(reader);
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
    const auto report = value_of(simulate(trace, small_options(policy), placement.hooks()));
    std::sort(placement.placed.begin(), placement.placed.end());
    EXPECT_EQ(placement.placed, expected);
    EXPECT_EQ(report.chunk_count, expected.size());
    EXPECT_EQ(report.chunk_look_ups, expected.size());
    std::uint64_t stored_bytes = 0;
    for (node_number i = 0; i < report.nodes.size(); ++i) {
      stored_bytes += report.nodes[i].stored_bytes;
      // A node of Extreme Binning stores a chunk again for another bin.
      const bool is_exact = policy != "extreme-binning";
      const std::uint64_t node_bytes = report.nodes[i].stored_bytes;
      EXPECT_TRUE(is_exact ? node_bytes == placement.stored_bytes[i] : node_bytes >= placement.stored_bytes[i]) << i;
    }
    EXPECT_EQ(report.stored_bytes, stored_bytes);
  });
}

TEST(cluster_simulation, of_dht_stores_nothing_twice_and_of_one_exact_node_neither) {
  const std::string trace = trace_bytes(similar_files(3, 40));
  const trace_totals totals = totals_of(trace);
  for_each_policy([&](std::string_view policy) {
    simulation_options options = small_options(policy);
    if (policy != "dht") options.node_count = 1;
    const auto report = value_of(simulate(trace, options));
    const auto metrics = cluster::metrics_of(report, totals);
    if (policy == "extreme-binning") {
      EXPECT_LT(metrics.normalized_ratio, 1);
    } else {
      EXPECT_EQ(report.stored_bytes, totals.unique_bytes);
      EXPECT_EQ(metrics.normalized_ratio, 1);
      EXPECT_EQ(metrics.relative_saving, 1);
    }
  });
}

TEST(cluster_simulation, of_nodes_with_containers_misses_duplicates_that_an_exact_node_finds) {
  const std::string trace = trace_bytes(similar_files(5, 60));
  const trace_totals totals = totals_of(trace);
  simulation_options options = small_options("sigma-dedupe");
  options.deduplication = cluster::node_deduplication::containers;
  const auto missing = value_of(simulate(trace, options));
  options.deduplication = cluster::node_deduplication::exact;
  EXPECT_GT(missing.stored_bytes, value_of(simulate(trace, options)).stored_bytes);
  EXPECT_LT(missing.stored_bytes, totals.byte_count);
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

// --- Several simulations of one trace ----------------------------------------------------------------------------------

using cluster::simulation_jobs;

cluster::trace_access access_to(const std::string& trace) {
  return [&trace](const auto& read) { return with_reader(trace, read); };
}

TEST(cluster_simulation_jobs, each_simulation_is_the_one_that_runs_alone) {
  const std::string trace = trace_bytes(similar_files(3, 30));
  simulation_jobs jobs{.read_trace = access_to(trace), .options = {}, .thread_count = 3, .hooks_of = {}};
  const trace_totals totals = totals_of(trace);
  for (const std::string_view policy : cluster::policy_names()) {
    jobs.options.push_back(
        {.policy = std::string(policy), .node_count = 7, .super_chunk_bytes = 50'000, .changes = {}});
  }
  std::atomic<std::uint64_t> placed_count = 0;
  jobs.hooks_of = [&](std::size_t i) {
    cluster::simulation_hooks hooks;
    if (i == 2) hooks.place = [&](auto, auto chunks) { placed_count += chunks.size(); };
    return hooks;
  };
  const auto finished = value_of(cluster::simulate_all(jobs, totals));
  ASSERT_EQ(finished.size(), jobs.options.size());
  EXPECT_EQ(placed_count, totals.chunk_count);
  for (std::size_t i = 0; i < jobs.options.size(); ++i) {
    SCOPED_TRACE(jobs.options[i].policy);
    simulation_jobs alone = jobs;
    alone.options = {jobs.options[i]};
    alone.thread_count = 1;
    alone.hooks_of = {};
    const auto expected = value_of(cluster::simulate_all(alone, totals));
    std::set<std::string> names;
    std::vector<double> numbers;
    cluster::visit_numbers(finished[i], totals, [&](const char* name, auto number) {
      names.insert(name);
      if (std::string_view(name) != "seconds") numbers.push_back(static_cast<double>(number));
    });
    EXPECT_EQ(names.size(), numbers.size() + 1);
    cluster::visit_numbers(expected[0], totals,
                           [&, place = std::size_t{0}](std::string_view name, auto number) mutable {
                             if (name != "seconds") {
                               EXPECT_EQ(numbers[place++], static_cast<double>(number)) << name;
                             }
                           });
  }
}

TEST(cluster_simulation_jobs, the_first_failure_in_the_order_of_the_options_is_told) {
  const std::string trace = trace_bytes(similar_files(3, 5));
  simulation_jobs jobs{.read_trace = access_to(trace), .options = {}, .thread_count = 2, .hooks_of = {}};
  const trace_totals totals = totals_of(trace);
  jobs.options.resize(5);
  jobs.options[1].node_count = 0;
  jobs.options[4].policy = "none";
  const status finished = error_of(cluster::simulate_all(jobs, totals));
  EXPECT_EQ(finished.message(), "the number of nodes is 0, and may be 1 to 65536");
  jobs.options.clear();
  EXPECT_TRUE(cluster::simulate_all(jobs, totals)->empty());
}

TEST(cluster_simulation_jobs, deduplications_have_names) {
  EXPECT_EQ(*cluster::find_deduplication("none"), cluster::node_deduplication::none);
  EXPECT_EQ(*cluster::find_deduplication("containers"), cluster::node_deduplication::containers);
  EXPECT_EQ(cluster::deduplication_names().size(), 3U);
  const status unknown = error_of(cluster::find_deduplication("exakt"));
  EXPECT_EQ(unknown.code(), status_code::unknown_name);
}

}  // namespace
}  // namespace cutpoint::tests
