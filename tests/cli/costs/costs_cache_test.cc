// Costs that are kept come back as they were; what is kept otherwise is refused and does no harm.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/costs/costs.h"

namespace cutpoint::cli {
namespace {

using nlohmann::ordered_json;
using testing::HasSubstr;

cost_model example() {
  cost_model model{.machine = "the machine", .processor_count = 7, .memory = {}, .processor = {}, .devices = {}};
  model.seconds = 0.5;
  model.memory = {.read_by_one = 1e10, .read_by_all = 2.5e10, .copy = 5e9, .page_cache = 0};
  model.together = 0.75;
  model.seconds_of_a_chunk = 1.25e-7;
  model.processor.cuts = {{"gear", "gear(avg_bytes=8192)", 9000.5, 3.25e9, processor_backends().back().kind}};
  model.processor.fingerprints = {{fingerprint_kind::blake3, 8192, 64, 3e9, backend::scalar}};
  device_costs device{.index = 2, .name = "a GPU", .batch_bytes = 1 << 25, .rates = {}, .problem = {}};
  device.link_in = 2e10;
  device.link_out = 1e10;
  device.pinning = 8e9;
  device.latency_seconds = 2e-5;
  device.rates.cuts = {{"ram", "ram()", 1, 5e11, backend::cuda}};
  device.rates.fingerprints = {{fingerprint_kind::sha1, 2048, 16384, 1e11, backend::cuda}};
  model.devices = {device, {.index = 3, .name = "another", .rates = {}, .problem = "it is gone"}};
  return model;
}

class costs_cache : public testing::Test {
 protected:
  void SetUp() override {
    std::string folder = (std::filesystem::temp_directory_path() / "cutpoint-XXXXXX").string();
    ASSERT_NE(::mkdtemp(folder.data()), nullptr);
    folder_ = folder;
    path_ = (folder_ / "new" / "costs.json").string();
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] result<cost_model> load() const { return load_costs(path_, "the machine", "the build"); }

  /// What the file has, changed.
  void change(const std::function<void(ordered_json&)>& how) const {
    ASSERT_TRUE(save_costs(path_, example(), "the build").ok());
    std::ifstream in(path_);
    ordered_json whole = ordered_json::parse(in);
    how(whole);
    std::ofstream(path_) << whole.dump();
  }
  void write(const std::string& text) const {
    std::filesystem::create_directories(folder_ / "new");
    std::ofstream(path_, std::ios::binary) << text;
  }
  void expect_refused(const std::string& why) const {
    const auto loaded = load();
    ASSERT_FALSE(loaded.ok());
    EXPECT_EQ(loaded.error().code(), status_code::invalid_argument);
    EXPECT_THAT(loaded.error().message(), HasSubstr(why));
    EXPECT_THAT(loaded.error().message(), HasSubstr(path_));
  }

  std::filesystem::path folder_;
  std::string path_;
};

TEST_F(costs_cache, gives_back_what_was_kept) {
  ASSERT_TRUE(save_costs(path_, example(), "the build").ok());
  const auto loaded = load();
  ASSERT_TRUE(loaded.ok()) << loaded.error().message();
  EXPECT_EQ(json_line(costs_json(*loaded)), json_line(costs_json(example())));
  EXPECT_EQ(loaded->processor.cuts[0].where, processor_backends().back().kind);
  EXPECT_EQ(loaded->processor.cuts[0].mean_bytes, 9000.5);
  EXPECT_EQ(loaded->devices[0].rates.fingerprints[0].in_flight, 16384u);
  EXPECT_EQ(loaded->devices[1].problem, "it is gone");
}

TEST_F(costs_cache, takes_the_place_of_what_was_there_and_leaves_nothing_else) {
  write("something else");
  ASSERT_TRUE(save_costs(path_, example(), "the build").ok());
  EXPECT_TRUE(load().ok());
  const std::filesystem::directory_iterator files(folder_ / "new");
  EXPECT_EQ(std::distance(begin(files), end(files)), 1);
}

TEST_F(costs_cache, cannot_be_read_where_there_is_none) {
  const auto loaded = load();
  ASSERT_FALSE(loaded.ok());
  EXPECT_EQ(loaded.error().system_error(), ENOENT);
}

TEST_F(costs_cache, is_of_one_build_and_one_machine) {
  ASSERT_TRUE(save_costs(path_, example(), "another build").ok());
  expect_refused("was measured by another build");
  change([](ordered_json& whole) { whole["costs"]["machine"] = "M"; });
  expect_refused("was measured on another machine");
  for (const ordered_json& format : {ordered_json(2), ordered_json("3"), ordered_json()}) {
    change([&](ordered_json& whole) { whole["costs"]["format"] = format; });
    expect_refused("costs are of another format: `format` must be 3");
  }
}

TEST_F(costs_cache, refuses_every_beginning_of_a_file) {
  ASSERT_TRUE(save_costs(path_, example(), "the build").ok());
  std::ifstream in(path_);
  const std::string whole((std::istreambuf_iterator<char>(in)), {});
  for (std::size_t size = 0; size + 2 < whole.size(); size += 7) {
    write(whole.substr(0, size));
    ASSERT_FALSE(load().ok()) << size;
  }
}

TEST_F(costs_cache, refuses_what_is_no_costs) {
  for (const char* const text : {"", "null", "[]", "{}", "1e999", "\"costs\"", "{\"build\":\"the build\"}",
                                 "{\"build\":\"the build\",\"costs\":[]}", "\xff\xfe", "{\"build\":\"the build\""}) {
    write(text);
    EXPECT_FALSE(load().ok()) << text;
  }
  write(std::string(1'000'000, '['));
  expect_refused("is no JSON object");
}

TEST_F(costs_cache, refuses_numbers_that_no_machine_has) {
  for (const char* const number :
       {"-1", "1e19", "1e999", "-1e-300", "NaN", "Infinity", "null", "\"1\"", "[1]", "true"}) {
    ASSERT_TRUE(save_costs(path_, example(), "the build").ok());
    std::ifstream in(path_);
    std::string whole((std::istreambuf_iterator<char>(in)), {});
    const std::size_t at = whole.find("3250000000.0");
    ASSERT_NE(at, std::string::npos);
    write(whole.replace(at, 12, number));
    EXPECT_FALSE(load().ok()) << number;
  }
}

TEST_F(costs_cache, refuses_each_field_that_is_missing_or_of_another_kind) {
  const ordered_json flat = ordered_json::parse(json_line(costs_json(example()))).flatten();
  ASSERT_GT(flat.size(), 40u);
  for (const auto& [where, value] : flat.items()) {
    const ordered_json::json_pointer at(where);
    change([&](ordered_json& whole) { whole["costs"][at] = ordered_json::object(); });
    EXPECT_FALSE(load().ok()) << where;
    change([&](ordered_json& whole) { whole["costs"][at.parent_pointer()].erase(at.back()); });
    const std::set<std::string> optional = {"seconds", "batch_bytes", "pinning", "problem"};
    const bool may_be_missing = optional.contains(at.back());
    EXPECT_EQ(load().ok(), may_be_missing) << where;
  }
}

TEST_F(costs_cache, names_the_field_that_is_wrong_and_its_bounds) {
  const auto expect = [&](const char* where, const ordered_json& value, const std::string& why) {
    change([&](ordered_json& whole) { whole["costs"][ordered_json::json_pointer(where)] = value; });
    expect_refused(why);
  };
  expect("/devices/0/link_in", -1, "devices[0].link_in must be a number from 0 to 1e+18");
  expect("/together", 1.5, "together must be a number from 1e-06 to 1");
  expect("/together", 0, "together must be a number from 1e-06 to 1");
  expect("/processors", 0, "processors must be a number from 1 to 1e+18");
  expect("/processors", 1.5, "processors must be a whole number");
  expect("/devices/1/index", 4096, "devices[1].index must be a number from 0 to 4095");
  expect("/devices/0/latency_seconds", 3601, "devices[0].latency_seconds must be a number from 0 to 3600");
  expect("/memory", 1, "memory must be an object");
  expect("/processor/cuts", 1, "processor.cuts must be a list");
  expect("/processor/cuts/0/name", 1, "processor.cuts[0].name must be a text");
  change([](ordered_json& whole) { whole["costs"]["memory"].erase("copy"); });
  expect_refused("memory.copy is missing");
}

TEST_F(costs_cache, reads_costs_of_other_machines_and_builds) {
  change([](ordered_json& whole) { whole["costs"]["processor"]["cuts"][0]["back_end"] = "neon"; });
  for (const bool is_alone : {false, true}) {
    if (is_alone) {
      std::ifstream in(path_);
      const std::string costs = ordered_json::parse(in)["costs"].dump();
      write(costs);
    }
    const auto read = read_costs(path_);
    ASSERT_TRUE(read.ok()) << read.error().message();
    EXPECT_EQ(read->machine, "the machine");
    EXPECT_EQ(read->processor.cuts[0].where, backend::neon);
  }
}

TEST_F(costs_cache, refuses_names_that_nothing_has) {
  change([](ordered_json& whole) { whole["costs"]["devices"][0]["rates"]["cuts"][0]["back_end"] = "abacus"; });
  expect_refused("devices[0].rates.cuts[0].back_end must be the name of a back end");
  change([](ordered_json& whole) { whole["costs"]["processor"]["fingerprints"][0]["name"] = "crc"; });
  expect_refused("processor.fingerprints[0].name must be the name of a fingerprint");
}

TEST_F(costs_cache, does_not_wait_for_what_is_no_file) {
  std::filesystem::create_directories(folder_ / "new");
  ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);
  expect_refused("has no costs");
  std::filesystem::remove(path_);
  std::filesystem::create_directory(path_);
  expect_refused("has no costs");
  std::filesystem::remove(path_);
  std::ofstream(path_).close();
  std::filesystem::resize_file(path_, std::uintmax_t{1} << 40);  // a hole
  expect_refused("has no costs");
}

TEST_F(costs_cache, says_where_nothing_can_be_kept) {
  std::ofstream(folder_ / "file").close();
  const status under_a_file = save_costs((folder_ / "file" / "costs.json").string(), example(), "the build");
  EXPECT_EQ(under_a_file.code(), status_code::io_error);
  EXPECT_THAT(under_a_file.message(), HasSubstr((folder_ / "file").string()));
  std::filesystem::create_directories(path_);
  const status over_a_folder = save_costs(path_, example(), "the build");
  EXPECT_EQ(over_a_folder.code(), status_code::io_error);
  EXPECT_THAT(over_a_folder.message(), HasSubstr(path_ + ": cannot be written"));
  const std::filesystem::directory_iterator files(folder_ / "new");
  EXPECT_EQ(std::distance(begin(files), end(files)), 1) << "nothing stays of what was not finished";
}

TEST(costs_file, lies_where_the_environment_says) {
  const feed_options job{.cuts = *chunker::make(fastcdc_parameters{})};
  ::unsetenv("CUTPOINT_CACHE_DIR");
  ::unsetenv("XDG_CACHE_HOME");
  ::unsetenv("HOME");
  EXPECT_EQ(costs_file("m", job).error().code(), status_code::unavailable);
  ::setenv("HOME", "/home/someone", 1);
  EXPECT_THAT(costs_file("m", job).value(), testing::StartsWith("/home/someone/.cache/cutpoint/costs-"));
  ::setenv("XDG_CACHE_HOME", "relative", 1);
  EXPECT_THAT(costs_file("m", job).value(), testing::StartsWith("/home/someone/.cache/cutpoint/costs-"));
  ::setenv("XDG_CACHE_HOME", "/caches", 1);
  EXPECT_THAT(costs_file("m", job).value(), testing::StartsWith("/caches/cutpoint/costs-"));
  ::setenv("CUTPOINT_CACHE_DIR", "", 1);
  EXPECT_THAT(costs_file("m", job).value(), testing::StartsWith("/caches/cutpoint/costs-"));
  ::setenv("CUTPOINT_CACHE_DIR", "here", 1);
  EXPECT_THAT(costs_file("m", job).value(), testing::StartsWith("here/costs-"));
  EXPECT_EQ(costs_file("m", job).value(), costs_file("m", job).value());
  EXPECT_NE(costs_file("m", job).value(), costs_file("n", job).value());
  feed_options other = job;
  other.fingerprint = fingerprint_kind::sha1;
  EXPECT_NE(costs_file("m", job).value(), costs_file("m", other).value());
}

}  // namespace
}  // namespace cutpoint::cli
