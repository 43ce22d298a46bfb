// Tests of several simulations of one trace: each is the one that runs alone, and the first failure is told.
#include <atomic>
#include <set>
#include <string>

#include <cutpoint/cluster/simulation_jobs.h>
#include <gtest/gtest.h>

#include "tests/cluster/support/trace_bytes.h"

namespace cutpoint::tests {
namespace {

using cluster::chunk_trace_reader;
using cluster::simulation_jobs;
using cluster::trace_totals;

cluster::trace_access access_to(const std::string& trace) {
  return [&trace](const auto& read) -> status {
    memory_source source({reinterpret_cast<const std::uint8_t*>(trace.data()), trace.size()});
    auto reader = chunk_trace_reader::open(source, "t");
    return reader ? read(*reader) : reader.error();
  };
}

trace_totals totals_of(const cluster::trace_access& read_trace) {
  trace_totals totals;
  EXPECT_TRUE(read_trace([&](chunk_trace_reader& reader) -> status {
                totals = *cluster::measure_trace(reader, {});
                return {};
              }).ok());
  return totals;
}

TEST(cluster_simulation_jobs, each_simulation_is_the_one_that_runs_alone) {
  const std::string trace = trace_bytes(similar_files(3, 30));
  simulation_jobs jobs{.read_trace = access_to(trace), .options = {}, .thread_count = 3, .hooks_of = {}};
  const trace_totals totals = totals_of(jobs.read_trace);
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
  const auto finished = cluster::simulate_all(jobs, totals);
  ASSERT_TRUE(finished.ok());
  ASSERT_EQ(finished->size(), jobs.options.size());
  EXPECT_EQ(placed_count, totals.chunk_count);
  for (std::size_t i = 0; i < jobs.options.size(); ++i) {
    SCOPED_TRACE(jobs.options[i].policy);
    simulation_jobs alone = jobs;
    alone.options = {jobs.options[i]};
    alone.thread_count = 1;
    alone.hooks_of = {};
    const auto expected = cluster::simulate_all(alone, totals);
    ASSERT_TRUE(expected.ok());
    std::set<std::string> names;
    std::vector<double> numbers;
    cluster::visit_numbers((*finished)[i], totals, [&](const char* name, auto number) {
      names.insert(name);
      if (std::string_view(name) != "seconds") numbers.push_back(static_cast<double>(number));
    });
    EXPECT_EQ(names.size(), numbers.size() + 1);
    cluster::visit_numbers((*expected)[0], totals,
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
  const trace_totals totals = totals_of(jobs.read_trace);
  jobs.options.resize(5);
  jobs.options[1].node_count = 0;
  jobs.options[4].policy = "none";
  const auto finished = cluster::simulate_all(jobs, totals);
  ASSERT_FALSE(finished.ok());
  EXPECT_EQ(finished.error().message(), "the number of nodes is 0, and may be 1 to 65536");
  jobs.options.clear();
  EXPECT_TRUE(cluster::simulate_all(jobs, totals)->empty());
}

TEST(cluster_simulation_jobs, deduplications_have_names) {
  EXPECT_EQ(*cluster::find_deduplication("none"), cluster::node_deduplication::none);
  EXPECT_EQ(*cluster::find_deduplication("containers"), cluster::node_deduplication::containers);
  EXPECT_EQ(cluster::deduplication_names().size(), 3U);
  const auto unknown = cluster::find_deduplication("exakt");
  ASSERT_FALSE(unknown.ok());
  EXPECT_EQ(unknown.error().code(), status_code::unknown_name);
}

}  // namespace
}  // namespace cutpoint::tests
