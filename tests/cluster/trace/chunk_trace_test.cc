// Tests of chunk traces: what is written is read again, and traces that are damaged are refused with the place.
#include <algorithm>

#include <cutpoint/cluster/chunk_trace.h>
#include <cutpoint/cluster/trace_evolution.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cluster/support/trace_bytes.h"
#include "tests/host/support/value_of.h"

namespace cutpoint::tests {
namespace {

using cluster::chunk_trace_reader;
using cluster::chunk_trace_writer;

/// A source that gives at most `step` bytes at a time.
class slow_source final : public source {
 public:
  slow_source(std::string_view bytes, std::size_t step) : rest_(bytes), step_(step) {}
  result<std::size_t> read(std::span<std::uint8_t> destination) override {
    const std::size_t count = std::min({destination.size(), step_, rest_.size()});
    std::copy_n(rest_.begin(), count, destination.begin());
    rest_.remove_prefix(count);
    return count;
  }

 private:
  std::string_view rest_;
  std::size_t step_;
};

/// Reads a trace to its end. The result is the status of the first failure.
status read_all(std::string_view bytes, std::vector<traced_file>& files, std::size_t step = 1 << 20) {
  slow_source source(bytes, step);
  auto reader = chunk_trace_reader::open(source, "t");
  if (!reader) return reader.error();
  for (;;) {
    const auto has_file = reader->next_file();
    if (!has_file) return has_file.error();
    if (!*has_file) return {};
    files.push_back({reader->applications()[reader->application()], reader->client(), {}});
    for (;;) {
      const auto chunks = reader->next_chunks();
      if (!chunks) return chunks.error();
      if (chunks->empty()) break;
      files.back().chunks.insert(files.back().chunks.end(), chunks->begin(), chunks->end());
    }
  }
}

std::string message_of(std::string_view bytes) {
  std::vector<traced_file> files;
  return read_all(bytes, files).message();
}

std::vector<traced_file> random_files(splitmix64& random, std::size_t count) {
  std::vector<traced_file> files;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t application = random.next() % 7;
    files.push_back({std::string(1 + application * application * 7, static_cast<char>('a' + application)),
                     static_cast<std::uint32_t>(random.next()), random_chunks(random, random.next() % 50)});
  }
  return files;
}

TEST(cluster_chunk_trace, is_read_as_it_was_written_however_its_bytes_come) {
  splitmix64 random(1);
  for (const std::size_t step : {1U, 5U, 12U, 1000U, 1'000'000U}) {
    const auto files = random_files(random, step == 5 ? 0 : step < 12 ? 20 : 400);
    std::vector<traced_file> again;
    ASSERT_EQ(read_all(trace_bytes(files), again, step).message(), "");
    EXPECT_EQ(again, files);
  }
}

TEST(cluster_chunk_trace, skips_the_rest_of_a_file) {
  splitmix64 random(2);
  const auto files = random_files(random, 30);
  const std::string bytes = trace_bytes(files);
  slow_source source(bytes, 100);
  auto reader = value_of(chunk_trace_reader::open(source, "t"));
  for (const traced_file& each : files) {
    ASSERT_TRUE(*reader.next_file());
    EXPECT_EQ(reader.client(), each.client);
  }
  EXPECT_FALSE(*reader.next_file());
}

TEST(cluster_chunk_trace, that_is_cut_off_anywhere_is_refused) {
  const std::string bytes = trace_bytes({{"tar", 1, {{5, 6}, {7, 8}}}, {"disk images", 2, {{9, 10}}}});
  EXPECT_EQ(message_of(bytes), "");
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const std::string message = message_of(bytes.substr(0, size));
    if (size < 12) {
      EXPECT_EQ(message, "t: is no chunk trace: it does not begin with CUTTRACE");
    } else {
      EXPECT_THAT(message, testing::HasSubstr("t: is cut off after ")) << size;
    }
  }
  EXPECT_EQ(message_of(bytes + 'x'), "t: record 10 lies after the end");
}

TEST(cluster_chunk_trace, refuses_what_it_does_not_know_with_the_place) {
  const std::string bytes = trace_bytes({{"tar", 1, {{5, 6}}}});  // class, name, file, chunk, end
  const auto changed = [&](std::size_t offset, char value) {
    std::string copy = bytes;
    copy[offset] = value;
    return message_of(copy);
  };
  EXPECT_EQ(changed(0, 'X'), "t: is no chunk trace: it does not begin with CUTTRACE");
  EXPECT_EQ(changed(8, 2), "t: has version 2 of the format for chunk traces, and only version 1 can be read");
  EXPECT_EQ(changed(12, 9), "t: record 0 has the unknown kind 9");
  EXPECT_EQ(changed(13, 0), "t: record 0 has the name of an application class with 0 bytes, and 1 to 255 are allowed");
  EXPECT_EQ(changed(12 + 8, 1), "t: record 0 is a chunk outside a file");
  EXPECT_EQ(changed(36 + 1, 4), "t: record 2 names the application class 4, and 1 are defined");
  EXPECT_EQ(changed(60 + 1, 7), "t: record 4 is the end after 7 records");
  EXPECT_EQ(message_of(bytes.substr(0, 36) + bytes.substr(12, 24) + bytes.substr(36)),
            "t: record 4 follows a second definition of the application class 'tar'");
}

TEST(cluster_chunk_trace, writer_refuses_names_and_lengths_that_do_not_fit_and_passes_failures_on) {
  chunk_trace_writer writer([](std::string_view) { return status(status_code::io_error, "full"); });
  EXPECT_EQ(writer.begin_file("").message(), "the name of an application class has 1 to 255 bytes, not 0");
  EXPECT_EQ(writer.begin_file(std::string(256, 'a')).message(),
            "the name of an application class has 1 to 255 bytes, not 256");
  EXPECT_TRUE(writer.begin_file(std::string(255, 'a')).ok());
  EXPECT_EQ(writer.add({1, 0}).message(), "a chunk of a trace has 1 to 4294967295 bytes, not 0");
  EXPECT_EQ(writer.finish().message(), "full");
}

TEST(cluster_chunk_trace, writer_keeps_little_of_a_long_file_and_passes_failures_on_within_it) {
  constexpr std::size_t chunk_count = 100'000;  // 1.2 MB
  std::size_t written_bytes = 0;
  std::size_t longest_write = 0;
  chunk_trace_writer writer([&](std::string_view more) {
    written_bytes += more.size();
    longest_write = std::max(longest_write, more.size());
    return written_bytes < 1'000'000 ? status() : status(status_code::io_error, "full");
  });
  ASSERT_TRUE(writer.begin_file("tar").ok());
  std::size_t added_count = 0;
  status added;
  while (added.ok() && added_count < chunk_count) added = writer.add({++added_count, 1});
  EXPECT_EQ(added.message(), "full");
  EXPECT_LT(added_count, chunk_count);
  EXPECT_LE(longest_write, 256 * 1024 + 12);
}

// --- Synthetic traces: they change as measured, and are measured as they change ----------------------------------------

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
