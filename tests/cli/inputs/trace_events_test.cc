// The events of a timeline: what the format asks of each, for lanes of devices too, which few machines have.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>
#include <thread>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli/inputs/trace_file.h"

namespace cutpoint::cli {
namespace {

using library_json = nlohmann::json;

const std::vector<lane_record> lanes = {{}, {}, {.device = 0}, {.device = 0}, {.device = 3}, {.device = 0}};

/// A file that goes with the test.
class temporary_file {
 public:
  ~temporary_file() { std::filesystem::remove(path_); }
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] library_json content() const {
    std::ifstream file(path_);
    return library_json::parse(file);
  }

 private:
  std::string path_ =
      (std::filesystem::temp_directory_path() / ("cutpoint-trace-" + std::to_string(std::random_device()()))).string();
};

TEST(trace_events, name_lanes_by_what_they_are_and_their_number_among_these) {
  const std::vector<std::string> expected = {"processor 0",       "processor 1",       "device 0 stream 0",
                                             "device 0 stream 1", "device 3 stream 0", "device 0 stream 2"};
  EXPECT_EQ(names_of(lanes), expected);
}

TEST(trace_events, of_spans_are_complete_and_in_microseconds_of_the_whole_timeline) {
  const trace_process of{.number = 2, .begin = 1.5};
  const library_json stage_event = library_json::parse(
      span_event(of, {.lane = 1, .what = stage::chunking, .begin = 0.25, .end = 0.375, .bytes = 4096}));
  EXPECT_EQ(stage_event, (library_json{{"ph", "X"},
                                       {"name", "chunking"},
                                       {"pid", 2},
                                       {"tid", 1},
                                       {"ts", 1'750'000.0},
                                       {"dur", 125'000.0},
                                       {"args", {{"bytes", 4096}}}}));
  for (const device_step step :
       {device_step::copy_in, device_step::cutting, device_step::fingerprinting, device_step::copy_out}) {
    const library_json event = library_json::parse(
        span_event(of, {.lane = 2, .device = 0, .what = step, .begin = 1e-9, .end = 3e-9, .bytes = 0}));
    EXPECT_EQ(event["name"], to_string(step));
    EXPECT_EQ(event["dur"], 0.002);
  }
}

TEST(trace_events, of_levels_are_a_counter_for_each_queue_that_has_changed) {
  const trace_levels before{.at = 1, .held_bytes = 1, .waiting_segments = 7};
  EXPECT_EQ(level_events({}, {.at = 2, .held_bytes = 1, .waiting_segments = 7}, before), "");
  EXPECT_EQ(library_json::parse(level_events({}, {.at = 2, .held_bytes = 1, .waiting_segments = 8}, before))["name"],
            "segments to map");
  const library_json events = library_json::parse("[" +
                                                  level_events({},
                                                               {.at = 2,
                                                                .held_bytes = 1,
                                                                .waiting_segments = 2,
                                                                .waiting_fingerprint_bytes = 3,
                                                                .waiting_delivery_bytes = 4},
                                                               std::nullopt) +
                                                  "]");
  ASSERT_EQ(events.size(), 4u);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(events[i]["ph"], "C");
    EXPECT_EQ(events[i]["ts"], 2e6);
    EXPECT_EQ(events[i]["args"]["value"], i + 1);
  }
}

TEST(trace_file, takes_spans_of_several_feeds_from_several_threads) {
  const temporary_file file;
  auto trace = trace_file::open(file.path()).value();
  const auto now = std::chrono::steady_clock::now();
  std::vector<feed_timeline*> feeds = {&trace->add("first \"one\""), &trace->add("second \xff")};
  feeds[0]->begin(now, lanes);
  feeds[1]->begin(now + std::chrono::seconds(1), lanes);
  std::vector<std::thread> threads;
  for (std::uint64_t lane = 0; lane < 4; ++lane) {
    threads.emplace_back([&feeds, lane] {
      for (int i = 0; i < 1000; ++i) {
        feeds[lane % 2]->take(trace_span{.lane = lane, .what = stage::joining, .begin = 1.0 * i, .end = 1.0 * i + 0.5});
      }
    });
  }
  for (std::thread& each : threads) each.join();
  feeds[1]->read(now + std::chrono::seconds(3), now + std::chrono::seconds(4), 10);
  EXPECT_TRUE(trace->finish().ok());
  feeds[0]->take(trace_levels{});  // too late

  const library_json events = file.content();
  EXPECT_EQ(events.size(), 2 * (2 + 2 * lanes.size()) + 4000 + 1);
  EXPECT_EQ(events.back()["name"], "reading");
  EXPECT_EQ(events.back()["ts"], 3e6);
  EXPECT_EQ(events.back()["pid"], 2);
  const auto named =
      std::find_if(events.begin(), events.end(), [](const library_json& event) { return event["pid"] == 1; });
  EXPECT_EQ(named->at("args")["name"], "first \"one\"");  // before all else of its feed
}

TEST(trace_file, is_not_touched_before_something_is_to_be_written) {
  const temporary_file file;
  std::ofstream(file.path()) << "[\"older\"]";
  {
    auto trace = trace_file::open(file.path()).value();
    trace->add("feed").begin(std::chrono::steady_clock::now(), lanes);
  }
  EXPECT_EQ(file.content(), library_json::array({"older"}));
  EXPECT_TRUE(trace_file::open(file.path()).value()->finish().ok());
  EXPECT_EQ(file.content(), library_json::array());
}

TEST(trace_file, tells_the_first_failure_at_its_end) {
  auto trace = trace_file::open("/dev/full").value();
  feed_timeline& feed = trace->add("feed");
  feed.begin(std::chrono::steady_clock::now(), lanes);
  for (int i = 0; i < 10'000; ++i) feed.take(trace_span{});
  EXPECT_EQ(trace->finish().code(), status_code::io_error);
}

}  // namespace
}  // namespace cutpoint::cli
