// The plan and the sizes that a feed begins with.
#include "pipeline/schedule/feed_configuration.h"

#include <cutpoint/cost_model.h>
#include <gtest/gtest.h>

#include "tests/host/algorithms/chunkers.h"
#include "tests/host/support/value_of.h"
#include "tests/pipeline/support/recorder.h"

namespace cutpoint::tests {
namespace {

feed_options configured_options(std::string_view settings = "min_bytes=1K,avg_bytes=4K,max_bytes=16K") {
  return {.cuts = chunker_of("gear", settings), .fingerprint = fingerprint_kind::sha1};
}

result<feed_configuration> configured(const feed_options& options, std::uint64_t thread_count) {
  return make_feed_configuration(options, thread_count, recorder());
}

/// Rates of a device that is `gain` times as fast as the two cores together.
std::shared_ptr<const job_rates> rates_with(double gain) {
  job_rates rates;
  rates.processor = {.chunking = 2e9, .fingerprinting = 2e9};
  rates.devices = {{.chunking = 4e9 * gain, .fingerprinting = 4e9 * gain, .batch_bytes = 3 * MiB}};
  return std::make_shared<const job_rates>(rates);
}

TEST(feed_configuration, stays_within_the_memory) {
  for (const backend where : {backend::automatic, backend::hybrid}) {
    for (const std::uint64_t threads : {1u, 2u, 16u}) {
      for (std::uint64_t memory = 256 * KiB; memory <= 4 * GiB; memory *= 2) {
        feed_options options = configured_options();
        options.where = where;
        options.memory_bytes = memory;
        const auto got = value_of(configured(options, threads));
        EXPECT_LE(got.ring_bytes, memory);
        EXPECT_LE(got.fill_limit, got.ring_bytes);
        EXPECT_GE(got.ring_bytes, got.segment_bytes + options.cuts.reach());
        EXPECT_GT(got.segment_bytes, 0u);
      }
    }
  }
}

TEST(feed_configuration, with_rules_leaves_cutting_to_the_processor) {
  feed_options options = configured_options();
  options.rule_cuts = {chunker_of("fixed", "avg_bytes=1M")};
  options.where = backend::hybrid;
  options.rates = rates_with(4);
  const auto shared = value_of(configured(options, 2));
  ASSERT_FALSE(shared.devices.empty());
  EXPECT_EQ(shared.devices[0].work, work_kind::fingerprints);
  EXPECT_GE(shared.ring_bytes, 2 * MiB);  // a chunk of the rule, and what follows it
  EXPECT_EQ(shared.segment_bytes, usual_segment_bytes(options.cuts));

  options.where = backend::cuda;
  const status refused = error_of(configured(options, 2));
  EXPECT_EQ(refused.code(), status_code::invalid_argument);
  options.where = backend::automatic;
  options.rates = nullptr;
  options.memory_bytes = 512 * KiB;
  EXPECT_EQ(configured(options, 2).error().code(), status_code::memory_limit);
}

TEST(feed_configuration, takes_the_memory_for_selection_ahead_from_the_ring) {
  feed_options options = configured_options();
  options.memory_bytes = 8 * MiB;
  const auto without = configured(options, 16);
  EXPECT_EQ(without->selection_bytes, 0u);
  EXPECT_EQ(without->ring_bytes, 7 * MiB);
  const auto with = make_feed_configuration(options, 16, selecting_recorder());
  EXPECT_EQ(with->selection_bytes, 1 * MiB);
  EXPECT_EQ(with->ring_bytes, 6 * MiB);
}

TEST(feed_configuration, has_room_for_what_every_lane_works_on_and_as_much_that_waits) {
  feed_options options = configured_options();
  options.where = backend::hybrid;
  options.devices = {0, 1};
  options.memory_bytes = 4 * GiB;
  const auto got = value_of(configured(options, 8));
  ASSERT_EQ(got.devices.size(), 2u);
  EXPECT_EQ(got.segment_bytes, 2 * MiB);
  EXPECT_EQ(got.devices[0].batch_bytes, 32 * MiB);
  EXPECT_GE(got.ring_bytes, 2 * 8 * got.segment_bytes + 2 * 6 * got.devices[0].batch_bytes);
  EXPECT_EQ(got.all_lanes(), 8u + 2 * 3);
}

TEST(feed_configuration, keeps_devices_that_do_not_pay_on_standby_for_auto_only) {
  feed_options options = configured_options();
  options.rates = rates_with(0.05);
  options.batch_bytes = 32 * MiB;
  const auto got = value_of(configured(options, 2));
  EXPECT_EQ(got.plan, work_plan::processor);
  EXPECT_TRUE(got.devices.empty());
  ASSERT_EQ(got.standby.size(), 1u);
  EXPECT_EQ(got.all_lanes(), 2u + 3);
  EXPECT_LE(6 * got.standby[0].least_batch_bytes, got.ring_bytes) << "three batches, and as many that wait";
  options.rates = nullptr;
  const auto without = value_of(configured(options, 2));
  EXPECT_TRUE(without.standby.empty());
  EXPECT_EQ(got.ring_bytes, without.ring_bytes) << "nothing is kept for them";
  options.rates = rates_with(0.05);
  options.where = backend::scalar;
  EXPECT_TRUE(value_of(configured(options, 2)).standby.empty());
  options.where = backend::hybrid;
  EXPECT_TRUE(value_of(configured(options, 2)).standby.empty());
}

TEST(feed_configuration, has_short_segments_for_a_single_lane_only) {
  EXPECT_EQ(configured(configured_options(), 1)->segment_bytes, 512 * KiB);
  EXPECT_EQ(configured(configured_options("min_bytes=256K,avg_bytes=1M,max_bytes=4M"), 1)->segment_bytes, 8 * MiB);
  EXPECT_EQ(configured(configured_options(), 2)->segment_bytes, 2 * MiB);
  feed_options options = configured_options();
  options.where = backend::hybrid;
  EXPECT_EQ(configured(options, 1)->segment_bytes, 2 * MiB);
}

TEST(feed_configuration, has_batches_that_fit_the_device) {
  feed_options options = configured_options();
  options.where = backend::hybrid;
  options.memory_bytes = 4 * GiB;
  options.device_memory_bytes = 240 * MiB;  // for three lanes, eight bytes for each of a batch
  EXPECT_EQ(configured(options, 2)->devices[0].batch_bytes, 10 * MiB);
  options.rates = rates_with(1);
  EXPECT_EQ(configured(options, 2)->devices[0].batch_bytes, 3 * MiB);
  options.batch_bytes = 20 * MiB;
  EXPECT_EQ(configured(options, 2)->devices[0].batch_bytes, 20 * MiB) << "as asked for";
}

TEST(feed_configuration, chooses_the_plan_by_the_back_end_and_the_gain) {
  feed_options options = configured_options();
  const auto plan = [&](backend where, std::shared_ptr<const job_rates> rates) {
    options.where = where;
    options.rates = std::move(rates);
    const auto got = configured(options, 2);
    EXPECT_EQ(got->devices.empty(), got->plan == work_plan::processor);
    EXPECT_EQ(got->predictions.empty(), options.rates == nullptr);
    const work_choice choice = choose_work(options, 2);
    EXPECT_EQ(choice.plan, got->plan);
    EXPECT_EQ(choice.predictions.size(), got->predictions.size());
    return got->plan;
  };
  EXPECT_EQ(plan(backend::automatic, nullptr), work_plan::processor);
  EXPECT_EQ(plan(backend::automatic, rates_with(0.09)), work_plan::processor);
  EXPECT_EQ(plan(backend::automatic, rates_with(0.11)), work_plan::shared);
  EXPECT_EQ(plan(backend::hybrid, rates_with(0.09)), work_plan::shared);
  EXPECT_EQ(plan(backend::hybrid, nullptr), work_plan::shared);
  EXPECT_EQ(plan(backend::cuda, nullptr), work_plan::device);
  EXPECT_EQ(plan(backend::scalar, rates_with(10)), work_plan::processor);
}

TEST(feed_configuration, has_devices_only_fingerprint_if_they_cut_slowly_or_not_at_all) {
  feed_options options = configured_options();
  options.where = backend::hybrid;
  EXPECT_EQ(configured(options, 2)->devices[0].work, work_kind::cuts);
  job_rates rates = *rates_with(1);
  rates.devices[0].chunking = 1e6;
  options.rates = std::make_shared<const job_rates>(rates);
  EXPECT_EQ(configured(options, 2)->devices[0].work, work_kind::fingerprints);
  feed_options unbounded = configured_options("avg_bytes=4K,max_bytes=0");
  unbounded.where = backend::hybrid;
  unbounded.rates = rates_with(1);
  EXPECT_EQ(configured(unbounded, 2)->devices[0].work, work_kind::fingerprints);
  rates.processor = {.chunking = 1e9, .fingerprinting = 100e9};
  unbounded.where = backend::automatic;
  unbounded.rates = std::make_shared<const job_rates>(rates);
  EXPECT_EQ(configured(unbounded, 2)->plan, work_plan::processor) << "hashing costs little";
}

TEST(feed_configuration, leaves_all_to_the_processor_without_devices) {
  feed_options options = configured_options();
  options.devices = {};
  const auto alone = configured(options, 2);
  for (const backend where : {backend::cuda, backend::hybrid}) {
    options.where = where;
    const auto got = configured(options, 2);
    EXPECT_EQ(got->plan, work_plan::processor);
    EXPECT_EQ(got->all_lanes(), 2u);
    EXPECT_EQ(help_threshold_segments(*got), 2u);
    EXPECT_EQ(got->ring_bytes, alone->ring_bytes);
  }
}

TEST(feed_configuration, leaves_out_a_device_without_rates_if_another_has_rates) {
  feed_options options = configured_options();
  options.where = backend::hybrid;
  options.devices = {3, 0};
  options.rates = rates_with(10);
  const auto got = configured(options, 2);
  ASSERT_EQ(got->devices.size(), 1u);
  EXPECT_EQ(got->devices[0].device, 0);
  EXPECT_EQ(got->devices[0].batch_bytes, 3 * MiB);
  EXPECT_EQ(got->device_warning, "GPU 3 has no rates and is not used");
  options.devices = {3};
  options.memory_bytes = 4 * GiB;
  const auto unmeasured = configured(options, 2);
  ASSERT_EQ(unmeasured->devices.size(), 1u) << "it was asked for";
  EXPECT_EQ(unmeasured->devices[0].batch_bytes, 32 * MiB) << "not the batches of another device";
  options.where = backend::automatic;
  EXPECT_TRUE(configured(options, 2)->devices.empty()) << "the rates are those of another device";
}

TEST(feed_configuration, aligns_segments_whose_candidates_are_marked) {
  feed_options options{.cuts = chunker_of("ae-max", "avg_bytes=4K,max_bytes=16K"),
                       .fingerprint = fingerprint_kind::none};
  options.map = map_kind::candidates;
  options.segment_bytes = 100'001;
  const auto marked = configured(options, 2);
  EXPECT_TRUE(marked->has_candidates);
  EXPECT_EQ(marked->segment_bytes % segment_granule, 0u);
  options.where = backend::hybrid;
  EXPECT_FALSE(configured(options, 2)->has_candidates) << "devices cut";
}

TEST(feed_configuration, names_all_memory_if_a_part_is_for_kept_chunks) {
  feed_options options = configured_options();
  options.memory_bytes = 1 * MiB;
  options.kept_memory_bytes = 1020 * KiB;
  const auto refused = configured(options, 2);
  const std::string allowed = "more than the memory allowed, 4K (memory_bytes = 1M less kept_memory_bytes = 1020K)";
  EXPECT_NE(refused.error().message().find(allowed), std::string::npos) << refused.error().message();
}

TEST(feed_configuration, refuses_segments_and_memory_that_are_too_small) {
  feed_options options = configured_options();
  options.memory_bytes = 100;
  EXPECT_EQ(configured(options, 2).error().code(), status_code::memory_limit);
  options.memory_bytes = 1 * GiB;
  options.join = join_kind::pdedupe;
  options.segment_bytes = 2 * options.cuts.reach();
  EXPECT_EQ(configured(options, 2).error().code(), status_code::invalid_argument);
  ++options.segment_bytes;
  EXPECT_EQ(configured(options, 2)->intake.cut_every, options.segment_bytes);
}

}  // namespace
}  // namespace cutpoint::tests
