// Tests of calibration on this machine: it ends and measures everything. No speed is asserted.
#include <algorithm>
#include <cmath>

#include <cutpoint/cost_model.h>

#include "pipeline/costs/calibration_cuts.h"
#include "pipeline/costs/memory_calibration.h"
#include "tests/pipeline/support/lane_rates.h"

namespace cutpoint::tests {
namespace {

TEST(calibration_cuts, are_each_measured_once) {
  std::set<std::pair<std::string, std::string>> measured;
  for (const named_cuts& each : calibration_cuts()) measured.insert({each.name, each.cuts.canonical()});
  EXPECT_EQ(measured.size(), calibration_cuts().size());
  for (const char* const average : {"4K", "8K", "16K"}) {
    const chunker cuts = make_chunker("gear", std::array{parameter_setting{"avg_bytes", average}})->chunker;
    EXPECT_TRUE(measured.contains({"gear", cuts.canonical()})) << average;
  }
}

TEST(calibrate, measures_every_name_and_fingerprint_on_the_processor) {
  const auto machine = discover_topology();
  ASSERT_TRUE(machine.ok());
  const auto model = calibrate(*machine);
  ASSERT_TRUE(model.ok()) << model.error().message();
  EXPECT_EQ(model->machine, machine_key(*machine, {}));
  EXPECT_GT(model->seconds, 0);
  const std::vector<std::string> names = catalog_names();
  EXPECT_EQ(names_of(model->processor), std::set<std::string>(names.begin(), names.end()));
  expect_positive(model->processor);
  for (const fingerprint_info& info : fingerprints()) {
    if (info.kind == fingerprint_kind::none) continue;
    EXPECT_TRUE(std::any_of(model->processor.fingerprints.begin(), model->processor.fingerprints.end(),
                            [&](const fingerprint_rate& each) { return each.kind == info.kind; }))
        << info.name;
  }
  for (const double rate : {model->memory.read_by_one, model->memory.read_by_all, model->memory.copy,
                            model->memory.page_cache, model->together, model->seconds_of_a_chunk}) {
    EXPECT_GT(rate, 0);
    EXPECT_TRUE(std::isfinite(rate));
  }
  EXPECT_LE(model->together, 1);
  EXPECT_TRUE(model->devices.empty());
  for (const std::string& name : names) {
    const job_rates rates = rates_for(*model, rated_job(name, fingerprint_kind::sha256));
    EXPECT_GT(rates.processor.chunking, 0) << name;
    EXPECT_GT(predict_plans(rates).at(0).bytes_per_second, 0) << name;
  }
}

TEST(measure_together, needs_no_other_lane_where_there_is_one) { EXPECT_EQ(measure_together(1).value(), 1.0); }

TEST(measure_memory, shares_its_memory_among_more_threads_than_there_are_processors) {
  const auto rates = measure_memory(7, 0);
  ASSERT_TRUE(rates.ok());
  EXPECT_GT(rates->read_by_all, 0);
}

}  // namespace
}  // namespace cutpoint::tests
