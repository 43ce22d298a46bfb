// Tests of synthetic traces: they change as measured, and are measured as they change.
#include <cutpoint/cluster/trace_evolution.h>
#include <gtest/gtest.h>

#include "tests/cluster/support/trace_bytes.h"

namespace cutpoint::tests {
namespace {

using cluster::chunk_trace_reader;
using cluster::routed_chunk;
using cluster::versioned_class;

std::vector<versioned_class> measured(const std::string& trace) {
  memory_source source({reinterpret_cast<const std::uint8_t*>(trace.data()), trace.size()});
  auto reader = chunk_trace_reader::open(source, "t");
  return *cluster::measure_changes(*reader, nullptr);
}

std::string evolved(const std::vector<versioned_class>& classes, const cluster::evolution_options& options) {
  std::string bytes;
  cluster::chunk_trace_writer writer([&](std::string_view more) {
    bytes += more;
    return status();
  });
  EXPECT_TRUE(cluster::write_versions(writer, classes, options).ok());
  EXPECT_TRUE(writer.finish().ok());
  return bytes;
}

versioned_class one_class(const cluster::version_changes& changes) {
  splitmix64 random(1);
  return {"a", random_chunks(random, 20'000), 1, changes};
}

TEST(cluster_trace_evolution, measures_the_chunks_that_the_version_before_lacks) {
  const std::vector<routed_chunk> first = {{1, 10}, {2, 10}, {3, 10}, {4, 10}, {5, 10}};
  const std::vector<routed_chunk> second = {{1, 10}, {6, 10}, {7, 10}, {4, 10}, {8, 10}};
  const auto classes = measured(trace_bytes({{"a", 0, first}, {"b", 0, second}, {"a", 0, second}, {"a", 0, second}}));
  ASSERT_EQ(classes.size(), 2U);
  EXPECT_EQ(classes[0].application, "a");
  EXPECT_EQ(classes[0].first_version, first);
  EXPECT_EQ(classes[0].version_count, 3U);
  EXPECT_DOUBLE_EQ(classes[0].changes.changed_share, 3.0 / 10);  // the third version has no changes
  EXPECT_DOUBLE_EQ(classes[0].changes.change_chunks, 3.0 / 2);
  EXPECT_EQ(classes[1].version_count, 1U);
  EXPECT_EQ(classes[1].changes.changed_share, 0);
}

TEST(cluster_trace_evolution, versions_change_by_the_share_and_the_lengths_that_were_asked) {
  for (const auto& [share, length] : {std::pair(0.02, 1.0), {0.1, 4.0}, {0.5, 20.0}, {0.9, 2.0}}) {
    const auto classes = measured(evolved({one_class({share, length})}, {.version_count = 20, .seed = 7}));
    ASSERT_EQ(classes.size(), 1U);
    EXPECT_EQ(classes[0].application, "synthetic-a");
    EXPECT_EQ(classes[0].version_count, 20U);
    EXPECT_NEAR(classes[0].changes.changed_share, share, 0.03 * share);
    // Such short changes cannot be nine of ten chunks: they follow each other, one chunk apart.
    const double mean_length = share == 0.9 ? 9 : length;
    EXPECT_NEAR(classes[0].changes.change_chunks, mean_length, 0.06 * mean_length);
  }
}

TEST(cluster_trace_evolution, at_the_ends_all_chunks_change_or_none) {
  EXPECT_EQ(measured(evolved({one_class({1, 3})}, {.version_count = 3}))[0].changes.changed_share, 1);
  EXPECT_EQ(measured(evolved({one_class({0, 3})}, {.version_count = 3}))[0].changes.changed_share, 0);
}

TEST(cluster_trace_evolution, depends_on_the_seed_alone) {
  const std::vector<versioned_class> classes = {one_class({0.3, 2})};
  const std::string trace = evolved(classes, {.version_count = 3, .seed = 1});
  EXPECT_EQ(evolved(classes, {.version_count = 3, .seed = 1}), trace);
  const std::string another = evolved(classes, {.version_count = 3, .seed = 2});
  EXPECT_EQ(another.size(), trace.size());
  EXPECT_NE(another, trace);
}

TEST(cluster_trace_evolution, stops_if_it_is_cancelled) {
  cancellation cancel;
  cancel.request();
  cluster::chunk_trace_writer writer([](std::string_view) { return status(); });
  const std::vector<versioned_class> classes = {one_class({0.3, 2})};
  EXPECT_EQ(cluster::write_versions(writer, classes, {.version_count = 3, .cancel = &cancel}).code(),
            status_code::cancelled);
}

}  // namespace
}  // namespace cutpoint::tests
