// Tests of calibration on this machine: it ends and measures everything. No speed is asserted.
#include <cmath>

#include <cutpoint/cost_model.h>
#include <gtest/gtest.h>

#include "pipeline/costs/memory_calibration.h"
#include "tests/host/algorithms/chunkers.h"

namespace cutpoint::tests {
namespace {

TEST(calibrate, measures_the_job_on_the_processor) {
  const auto machine = discover_topology();
  ASSERT_TRUE(machine.ok());
  // Ordinary cuts, chunks of megabytes, and cuts that read nothing.
  for (const auto& [name, kind] :
       {std::pair("fastcdc", fingerprint_kind::sha256), std::pair("pbs", fingerprint_kind::md5),
        std::pair("fixed", fingerprint_kind::none)}) {
    const feed_options job{.cuts = chunker_of(name), .fingerprint = kind};
    const auto model = calibrate(*machine, {}, job);
    ASSERT_TRUE(model.ok()) << model.error().message();
    EXPECT_EQ(model->machine, machine_key(*machine, {}));
    EXPECT_GT(model->seconds, 0);
    EXPECT_EQ(model->processor.cuts.at(0).cuts, job.cuts.canonical());
    EXPECT_GE(model->processor.cuts.at(0).mean_bytes, 1);
    EXPECT_EQ(model->processor.fingerprints.size(), kind == fingerprint_kind::none ? 0u : 1u);
    for (const double rate :
         {model->memory.read_by_one, model->memory.read_by_all, model->memory.copy, model->memory.page_cache,
          model->together, model->seconds_of_a_chunk, model->processor.cuts.at(0).bytes_per_second}) {
      EXPECT_GT(rate, 0);
      EXPECT_TRUE(std::isfinite(rate));
    }
    EXPECT_LE(model->together, 1);
    EXPECT_TRUE(model->devices.empty());
    const job_rates rates = rates_for(*model, job, 2);
    EXPECT_GT(rates.processor.chunking, 0) << name;
    EXPECT_EQ(rates.processor.fingerprinting > 0, kind != fingerprint_kind::none) << name;
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
