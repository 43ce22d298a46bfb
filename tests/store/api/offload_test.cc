// Backups, copies and push sessions on GPUs, for which host doubles stand: they store what the processor stores, within the memory
// that is allowed.
#include <array>
#include <atomic>
#include <memory>

#include <cutpoint/store_diff.h>
#include <cutpoint/store_push.h>
#include <cutpoint/store_report.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/pipeline/support/device_feed.h"
#include "tests/store/support/file_store.h"
#include "tests/store/support/stored_files.h"

namespace cutpoint::tests {
namespace {

using testing::HasSubstr;

constexpr std::array on_devices = {backend::cuda, backend::hybrid};

/// Lanes with many batches in a small tree.
store_lane_options lanes_on(backend where, std::vector<int> devices = {0}) {
  return {.where = where, .devices = std::move(devices), .segment_bytes = 20'000, .batch_bytes = 60'000};
}

/// A tree of files, and a store of small chunks and containers.
class offloaded_store {
 public:
  explicit offloaded_store(const store_secret& secret = {}) : secret_(secret) {
    make_small_tree(folder_);
    folder_.make_file("tree/zeros", std::string(200'000, '\0'));
    folder_.make_file("tree/same", drawn_text(content::random, 150'000, 1));
    make_store("store");
  }

  void make_store(std::string_view name, std::string cuts = {}) {
    if (cuts.empty()) {
      cuts = secret_.which == store_secret::kind::none ? "fastcdc(min_bytes=512,avg_bytes=2048,max_bytes=8192)"
                                                       : "borg2-fastcdc(min_exp=9,max_exp=13,mask_bits=11)";
    }
    // A device cuts by none of the algorithms that hide what was stored.
    const store_settings settings{.cuts = cuts, .container_bytes = 64 * KiB, .accepts_insecure_cuts = true};
    const status outcome = backup_store::create(folder_ / name, settings, secret_);
    ASSERT_TRUE(outcome.ok()) << outcome.message();
  }
  [[nodiscard]] backup_store open(std::string_view name = "store") const {
    return backup_store::open(folder_ / name, secret_).value();
  }
  [[nodiscard]] result<store_snapshot> back_up(engine& threads, const store_lane_options& lanes,
                                               store_work* work = nullptr, std::uint64_t memory_bytes = 8 * MiB) const {
    return open().back_up(threads, {.paths = {folder_ / "tree"},
                                    .host = "h",
                                    .reads_everything = true,
                                    .memory_bytes = memory_bytes,
                                    .lanes = lanes,
                                    .work = [work](const store_work& done) {
                                      if (work != nullptr) *work = done;
                                    }});
  }
  /// Expects that a snapshot has the files of the tree, and that a backup by the processor finds all of it in the store.
  void expect_right(const store_snapshot& snapshot) const {
    EXPECT_FALSE(snapshot.is_incomplete);
    auto alone = engine::make({.threads = 1}).value();
    const std::uint64_t chunk_count = open().report({})->chunks.count;
    const auto again = value_of(back_up(alone, {.where = backend::scalar}));
    auto whole = open();
    EXPECT_EQ(whole.report({})->chunks.count, chunk_count) << "other chunks than the processor's";
    const auto compared = value_of(whole.diff({.before = snapshot.id, .after = again.id}));
    EXPECT_EQ(compared.modified + compared.added.files + compared.removed.files, 0u);
    const temporary_folder target;
    ASSERT_TRUE(whole.restore(snapshot.id, {.path = folder_ / "tree", .target = target / "t"}).ok());
    EXPECT_EQ(facts_of(target / "t"), facts_of(folder_ / "tree"));
    expect_clean(whole);
  }
  [[nodiscard]] const temporary_folder& folder() const { return folder_; }

 private:
  temporary_folder folder_;
  store_secret secret_;
};

TEST(offloaded_backup, stores_what_the_processor_stores) {
  for (const bool is_encrypted : {false, true}) {
    for (const backend where : on_devices) {
      for (const bool cuts_slowly : {false, true}) {
        if (is_encrypted && (cuts_slowly || where != backend::cuda)) continue;  // each password takes a second
        const offloaded_store target(is_encrypted ? store_secret{store_secret::kind::password, "secret"}
                                                  : store_secret{});
        auto threads = engine_factory::make({.threads = 2}, std::make_shared<host_device>()).value();
        store_lane_options lanes = lanes_on(where, cuts_slowly ? std::vector<int>{0} : std::vector<int>{0, 1});
        if (cuts_slowly) lanes.rates = slow_device_cuts(1);
        store_work work;
        target.expect_right(value_of(target.back_up(threads, lanes, &work)));
        EXPECT_EQ(work.feed.device_warning, "");
        EXPECT_EQ(work.feed.plan, where == backend::cuda ? work_plan::device : work_plan::shared);
        EXPECT_EQ(work.thread_count, 2u);
        EXPECT_GT(work.wall_seconds, 0);
        EXPECT_GT(work.chunk_count, 100u);
        EXPECT_EQ(work.stages().front().work.bytes, work.feed.fed_bytes);
        EXPECT_EQ(work.indexing.bytes, work.feed.fed_bytes);
        EXPECT_GT(work.writing.bytes, 200'000u);
        EXPECT_LT(work.writing.bytes, 400'000u) << "one of two equal files";
        EXPECT_TRUE(work.bottleneck());
        if (where == backend::cuda) {
          EXPECT_GT(work.feed.device_bytes, work.feed.fed_bytes / 2);
          EXPECT_EQ(work.devices().size(), cuts_slowly ? 1u : 2u);
        }
      }
    }
  }
}

TEST(offloaded_backup, names_its_stages_with_the_time_of_each) {
  const offloaded_store target;
  auto threads = engine_factory::make({.threads = 2}, std::make_shared<host_device>()).value();
  store_work work;
  ASSERT_TRUE(target.back_up(threads, lanes_on(backend::cuda), &work).ok());
  std::vector<std::string_view> names;
  for (const stage_cost& each : work.stages()) {
    names.push_back(each.name);
    // The device's lanes cut and fingerprint. What they leave are joins, and whatever lies at their ends.
    if (each.name != "fingerprinting" && each.name != "chunking") {
      EXPECT_GT(each.work.seconds, 0) << each.name;
    }
  }
  EXPECT_EQ(names, (std::vector<std::string_view>{"reading", "intake", "chunking", "joining", "fingerprinting",
                                                  "indexing", "compression", "writing"}));
  ASSERT_EQ(work.devices().size(), 1u);
  EXPECT_GT(work.devices()[0].alone_seconds(), 0);
}

/// Sums up the memory that it provides of all devices.
class metered_device final : public device_provider {
 public:
  status check(int device) const override { return devices_.check(device); }
  result<std::unique_ptr<cuda::offload>> make(int device, const chunker& cuts, const fingerprint_recipe& fingerprint,
                                              const cuda::batch_limits& limits, cuda::offload_use use) const override {
    auto next = devices_.make(device, cuts, fingerprint, limits, use);
    if (next) memory_bytes += (*next)->memory_bytes();
    return next;
  }
  mutable std::atomic<std::uint64_t> memory_bytes = 0;

 private:
  host_device devices_;
};

TEST(offloaded_backup, is_refused_with_devices_that_are_not_there) {
  const offloaded_store target;
  auto opened_store = target.open();
  auto source = target.open();
  auto threads = engine_factory::make({.threads = 1}, std::make_shared<host_device>()).value();
  const auto expect_refused = [&](const store_lane_options& lanes, status_code code, std::string_view why) {
    std::vector<status> outcomes;
    const auto backup =
        opened_store.back_up(threads, {.paths = {target.folder() / "tree"}, .host = "h", .lanes = lanes});
    const auto copy = opened_store.copy_snapshots(threads, source, {.lanes = lanes});
    const auto push = push_session::begin(opened_store, threads, {.lanes = lanes});
    for (const status& each :
         {backup ? status() : backup.error(), copy ? status() : copy.error(), push ? status() : push.error()}) {
      EXPECT_EQ(each.code(), code);
      EXPECT_THAT(each.message(), HasSubstr(why));
    }
  };
  for (const backend where : on_devices) {
    expect_refused({.where = where, .devices = {0, 7}}, status_code::invalid_argument, "there are two devices");
    expect_refused({.where = where, .devices = {1, 1}}, status_code::invalid_argument, "a device is named twice");
    expect_refused({.where = where, .devices = {}}, status_code::invalid_argument, "no device is named");
  }
  if (!parse_backend("cuda").ok()) {
    threads = engine::make({.threads = 1}).value();
    expect_refused({.where = backend::cuda}, status_code::unavailable, gpus() ? "" : gpus().error().message());
  }
  EXPECT_EQ(opened_store.statistics()->containers, 0u);
  EXPECT_TRUE(opened_store.sessions()->empty()) << "nothing was begun";
}

TEST(offloaded_backup, takes_a_device_that_is_expected_to_be_faster) {
  job_rates rates;
  rates.processor = {.chunking = 1e9, .fingerprinting = 1e9};
  rates.devices = {{.device = 0, .link_in = 50e9, .chunking = 100e9, .fingerprinting = 100e9}};
  const offloaded_store target;
  auto threads = engine_factory::make({.threads = 1}, std::make_shared<host_device>()).value();
  store_lane_options lanes = lanes_on(backend::automatic);
  lanes.rates = std::make_shared<const job_rates>(rates);
  store_work work;
  ASSERT_TRUE(target.back_up(threads, lanes, &work).ok());
  EXPECT_EQ(work.feed.plan, work_plan::shared);
  EXPECT_EQ(work.predictions().size(), 3u);
  if (gpus().ok()) return;
  lanes.rates = nullptr;
  lanes.measures_rates = true;
  ASSERT_TRUE(target.back_up(threads, lanes, &work).ok());
  EXPECT_EQ(work.feed.plan, work_plan::processor) << "no device can be measured";
}

TEST(offloaded_backup, takes_no_segments_beside_those_of_a_cap) {
  const offloaded_store target;
  auto threads = engine::make({.threads = 1}).value();
  const status refused = error_of(target.open().back_up(threads, {.paths = {target.folder() / "tree"},
                                                                  .host = "h",
                                                                  .most_old_containers = 3,
                                                                  .lanes = {.segment_bytes = 1 * MiB}}));
  EXPECT_EQ(refused.message(),
            "segment_bytes = 1048576 cannot be chosen with most_old_containers, which needs segments of 20M");
}

TEST(offloaded_push, shares_the_memory_of_a_device_among_its_streams) {
  const offloaded_store target;
  auto opened_store = target.open();
  const auto devices = std::make_shared<metered_device>();
  auto threads = engine_factory::make({.threads = 2}, devices).value();
  constexpr std::uint64_t allowed = 256 * MiB;
  store_work work;
  auto session = value_of(push_session::begin(opened_store, threads,
                                              {.most_streams = 3,
                                               .memory_bytes = 32 * MiB,
                                               .lanes = {.where = backend::cuda, .device_memory_bytes = allowed},
                                               .work = [&](const store_work& done) { work = done; }}));
  std::vector<push_stream> streams;
  std::vector<std::vector<std::uint8_t>> contents;
  for (std::uint64_t i = 0; i < 3; ++i) {
    contents.push_back(make_stream(content::random, 300'000, i));
    streams.push_back(session.begin_stream("/file" + std::to_string(i)).value());
  }
  for (std::size_t i = 0; i < 3; ++i) ASSERT_TRUE(streams[i].write(contents[i]).ok());
  for (push_stream& each : streams) ASSERT_TRUE(each.end().ok());
  const auto snapshot = value_of(session.commit());
  EXPECT_EQ(work.feed.device_warning, "");
  EXPECT_EQ(work.feed.fed_bytes, 900'000u);
  EXPECT_GT(work.feed.device_bytes, 450'000u);
  EXPECT_EQ(work.reading.bytes, 0u) << "the program reads";
  EXPECT_LE(devices->memory_bytes, allowed);
  EXPECT_GT(devices->memory_bytes, 0u);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(read_file(opened_store, snapshot.id, "/file" + std::to_string(i)),
              std::string(contents[i].begin(), contents[i].end()));
  }
}

TEST(offloaded_copy, cuts_again_as_the_processor_does) {
  offloaded_store source;
  auto alone = engine::make({.threads = 1}).value();
  ASSERT_TRUE(source.back_up(alone, {}).ok());
  std::vector<std::uint64_t> chunk_bytes;  // nodes also have hints, which depend on who stores a chunk first
  for (const backend where : {backend::scalar, backend::cuda, backend::hybrid}) {
    const std::string name = "copy on " + std::string(to_string(where));
    source.make_store(name, "fastcdc(min_bytes=1024,avg_bytes=4096,max_bytes=16384)");
    auto opened_source = source.open();
    auto target = source.open(name);
    auto threads = engine_factory::make({.threads = 2}, std::make_shared<host_device>()).value();
    store_work work;
    const auto copied = value_of(target.copy_snapshots(
        threads, opened_source,
        {.memory_bytes = 16 * MiB, .lanes = lanes_on(where), .work = [&](const store_work& done) { work = done; }}));
    EXPECT_EQ(copied.copied, 1u);
    chunk_bytes.push_back(value_of(target.report({})).chunks.raw_bytes);
    if (where == backend::cuda) {
      EXPECT_GT(work.feed.device_bytes, 0u) << work.feed.device_warning;
    }
    const temporary_folder folder;
    const auto snapshot = target.find_snapshot("latest");
    ASSERT_TRUE(target.restore(snapshot->id, {.path = source.folder() / "tree", .target = folder / "t"}).ok());
    EXPECT_EQ(facts_of(folder / "t"), facts_of(source.folder() / "tree"));
  }
  EXPECT_GT(chunk_bytes[0], 0u);
  EXPECT_EQ(chunk_bytes, std::vector<std::uint64_t>(3, chunk_bytes[0]));
}

TEST(store_job, keeps_the_key_of_the_store_out_of_messages) {
  const offloaded_store target({store_secret::kind::password, "secret"});
  auto opened_store = target.open();
  auto threads = engine::make({.threads = 1}).value();
  const std::string cuts = opened_store.job().cuts.canonical();
  const auto push = push_session::begin(opened_store, threads, {.most_streams = 1000, .memory_bytes = 8 * MiB});
  const auto backup = target.back_up(threads, {}, nullptr, 4 * KiB);
  ASSERT_FALSE(push.ok() || backup.ok());
  for (const status& each : {push.error(), backup.error()}) {
    EXPECT_EQ(each.code(), status_code::memory_limit);
    EXPECT_THAT(each.message(), HasSubstr(cuts));
  }
}

TEST(store_job, has_no_key_of_the_store) {
  const offloaded_store target({store_secret::kind::password, "secret"});
  const feed_options job = target.open().job({.where = backend::hybrid, .devices = {3}, .segment_bytes = 5 * MiB});
  EXPECT_EQ(std::get<borg2_fastcdc_parameters>(job.cuts.parameters()).key, borg2_fastcdc_parameters().key);
  EXPECT_FALSE(job.fingerprint.key.has_value());
  EXPECT_EQ(job.fingerprint.kind, fingerprint_kind::blake3);
  EXPECT_EQ(job.where, backend::hybrid);
  EXPECT_EQ(job.devices, std::vector<int>{3});
  EXPECT_EQ(job.segment_bytes, 5 * MiB);
}

/// A GiB of which the processor would cut and fingerprint a GB in a second, and with a device five.
TEST(store_work, adds_what_a_store_was_measured_to_take_to_the_limits) {
  store_work work;
  work.thread_count = 2;
  work.feed.fed_bytes = 1'000'000'000;
  work.feed.predictions = {
      {.plan = work_plan::shared, .bytes_per_second = 5e9, .limits = {{"device 0", 5e9}, {"delivery", 8e9}}},
      {.plan = work_plan::processor, .bytes_per_second = 1e9, .limits = {{"processor", 1e9}, {"delivery", 8e9}}}};
  work.indexing.seconds = 0.05;
  work.compression.seconds = 2;
  work.writing.seconds = 0.25;
  const auto predictions = work.predictions();
  ASSERT_EQ(predictions.size(), 2u);
  const plan_prediction& shared = *prediction_of(predictions, work_plan::shared);
  ASSERT_EQ(shared.limits.size(), 4u) << "what a store does is no delivery";
  EXPECT_EQ(shared.limits[0].name, "processor");  // two processors compress a GB in a second
  EXPECT_DOUBLE_EQ(shared.bytes_per_second, 1e9);
  EXPECT_EQ(shared.limits[1].name, "writing");
  EXPECT_DOUBLE_EQ(shared.limits[1].bytes_per_second, 4e9);
  const plan_prediction& alone = *prediction_of(predictions, work_plan::processor);
  EXPECT_EQ(alone.limits[0].name, "processor");
  EXPECT_DOUBLE_EQ(alone.bytes_per_second, 0.5e9) << "they compress besides";
  EXPECT_EQ(predictions[0].plan, work_plan::shared);
}

}  // namespace
}  // namespace cutpoint::tests
