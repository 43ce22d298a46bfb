// cutpoint_store_pipeline: backs files up as P-Dedupe's paper compares: serially, in a pipeline of four threads, and in
// parallel segments, on the processor, on a GPU, or on both.
#include <array>
#include <chrono>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <cutpoint/backends.h>
#include <cutpoint/cost_model.h>
#include <cutpoint/engine.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/resource.h>

#include "bench/store/stages.h"
#include "store/backup/backup.h"
#include "store/format/clock.h"
#include "store/session/leased_session.h"
#include "store/storage/directory_storage.h"

namespace cutpoint::bench {

namespace {

enum class approach { baseline, pipeline, pdedupe, cuda, hybrid };

struct options {
  approach how = approach::baseline;
  std::string folder;
  std::vector<std::string> files;
  std::vector<std::uint64_t> fixed;  ///< threads for cutting and for fingerprints, or nothing
  std::uint64_t threads = 0;
  std::uint64_t segment_bytes = 4 * MiB;
  join_kind join = join_kind::pdedupe;
  int device = 0;
};

struct outcome {
  double seconds = 0;
  double processor_seconds = 0;
  std::array<double, stages> stage_seconds = {};
  store_work work = {};  ///< of the approaches that use the engine
};

double processor_seconds() {
  rusage used = {};
  ::getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

/// The paper's stage that a stage of a backup belongs to.
stage stage_of(std::string_view name) {
  if (name == "fingerprinting") return stage::fingerprinting;
  if (name == "indexing") return stage::indexing;
  return name == "compression" || name == "writing" ? stage::writing : stage::chunking;
}

bool uses_engine(approach how) { return how != approach::baseline && how != approach::pipeline; }

/// Returns how the engine cuts for the store, with the rates that a hybrid feed shares its work by. Errors: of a device that
/// cannot be used.
result<feed_options> feed_of(const options& settings, const store::open_store& target, const engine& engine) {
  feed_options feed{.cuts = target.cuts(),
                    .fingerprint = target.fingerprint(),
                    .devices = {settings.device},
                    .join = settings.join,
                    .segment_bytes = settings.segment_bytes};
  if (settings.how != approach::cuda && settings.how != approach::hybrid) return feed;
  const auto where = parse_backend(settings.how == approach::cuda ? "cuda" : "hybrid");
  if (!where) return where.error();
  feed.where = *where;
  CUTPOINT_RETURN_IF_FAILED(engine.check_devices(feed));
  auto rates = measure_rates(feed, engine.thread_count());
  if (!rates) return rates.error();
  feed.rates = *std::move(rates);
  return feed;
}

/// Stores the files by the approach that was asked for. Returns the root of the snapshot.
result<store::record_reference> store_files(const options& settings, const feed_options& feed,
                                            store::open_store& target, engine& engine, store::deduplicator& session,
                                            const std::vector<std::string>& files, outcome& sum) {
  if (uses_engine(settings.how)) {
    const auto stored = store::backup_files(engine, session, target.reading(), {.paths = files}, feed);
    if (!stored) return stored.error();
    if (stored->totals.problems != 0) return status(status_code::io_error, "a file cannot be read completely");
    store::add(sum.work.reading, stored->work.reading);
    add_work(sum.work.feed, stored->work.feed);
    return stored->root;
  }
  const auto cuts = chunker_on(target.cuts(), backend::automatic);
  if (!cuts) return cuts.error();
  auto names = fingerprints_on(target.fingerprint(), backend::automatic);
  if (!names) return names.error();
  staged_backup backup(*cuts, *names->batch, session);
  std::vector<std::unique_ptr<batch_fingerprinter>> hashers;
  for (std::uint64_t i = 0; !settings.fixed.empty() && i < settings.fixed[1]; ++i) {
    auto own = fingerprints_on(target.fingerprint(), backend::automatic);
    if (!own) return own.error();
    hashers.push_back(std::move(own->batch));
  }
  const auto run = [&]() -> result<store::record_reference> {
    if (settings.how == approach::baseline) return backup.run_serially(files);
    if (hashers.empty()) return backup.run_in_pipeline(files);
    return backup.run_with_threads(files, {.count = settings.fixed[0], .segment_bytes = settings.segment_bytes},
                                   hashers);
  };
  auto root = run();
  for (std::size_t i = 0; i < stages; ++i) sum.stage_seconds[i] += backup.seconds()[i];
  return root;
}

/// Makes a snapshot of one file.
status back_up(const options& settings, const feed_options& feed, store::open_store& target, engine& engine,
               const std::string& file, outcome& sum) {
  const auto session = store::leased_session::begin(target);
  if (!session) return session.error();
  auto writer = (*session)->open_writer();
  if (!writer) return writer.error();
  const auto root = store_files(settings, feed, target, engine, (*writer)->records, {file}, sum);
  if (!root) return root.error();
  store::snapshot snapshot;
  CUTPOINT_RETURN_IF_FAILED((*writer)->finish(snapshot.statistics));
  if (uses_engine(settings.how)) (*writer)->records.add_work(sum.work);
  snapshot.root = *root;
  snapshot.paths = {"/"};
  snapshot.time = store::nanoseconds_now();
  snapshot.session = (*session)->id();
  const auto committed = store::commit_snapshot(**session, std::move(snapshot));
  if (!committed) return committed.error();
  return target.reopen_shards();
}

result<outcome> measure(const options& settings) {
  auto files = store::open_file_system(settings.folder);
  if (!files) return files.error();
  const std::shared_ptr<store::file_system> shared = std::move(*files);
  auto target = store::open_store::open(
      [shared](const std::string& writer_id, std::size_t pending_objects) {
        return store::open_directory_storage(shared, {.writer_id = writer_id, .pending_objects = pending_objects});
      },
      std::nullopt);
  if (!target) return target.error();
  auto engine = engine::make({.threads = settings.threads});
  if (!engine) return engine.error();
  const auto feed = feed_of(settings, **target, *engine);
  if (!feed) return feed.error();
  outcome sum;
  sum.work.thread_count = engine->thread_count();
  const double used_before = processor_seconds();
  const auto begin = std::chrono::steady_clock::now();
  for (const std::string& file : settings.files) {
    CUTPOINT_RETURN_IF_FAILED(back_up(settings, *feed, **target, *engine, file, sum));
  }
  sum.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  sum.processor_seconds = processor_seconds() - used_before;
  if (!uses_engine(settings.how)) return sum;
  for (const stage_cost& each : sum.work.stages()) {
    sum.stage_seconds[static_cast<std::size_t>(stage_of(each.name))] += each.work.seconds;
  }
  return sum;
}

int run(const options& settings) {
  const auto measured = measure(settings);
  if (!measured) {
    fmt::print(stderr, "cutpoint_store_pipeline: {}\n", measured.error().message());
    return 1;
  }
  const store_work& work = measured->work;
  if (!work.feed.device_warning.empty()) {
    fmt::print(stderr, "cutpoint_store_pipeline: {}\n", work.feed.device_warning);
    return 1;
  }
  std::vector<std::string> devices;
  for (const device_cost& each : work.devices()) {
    devices.push_back(fmt::format("{{\"device\": {}, \"seconds\": {:.6f}, \"bytes\": {}}}", each.device,
                                  each.alone_seconds(), each.work.bytes));
  }
  fmt::print(
      "{{\"seconds\": {:.6f}, \"processor_seconds\": {:.6f}, \"stage_seconds\": [{:.6f}], \"devices\": [{}], "
      "\"bottleneck\": \"{}\"}}\n",
      measured->seconds, measured->processor_seconds, fmt::join(measured->stage_seconds, ", "),
      fmt::join(devices, ", "), work.bottleneck().value_or(""));
  return 0;
}

}  // namespace

}  // namespace cutpoint::bench

int main(int argc, char** argv) {
  using cutpoint::join_kind;
  using cutpoint::bench::approach;
  const std::map<std::string, approach> approaches = {{"baseline", approach::baseline},
                                                      {"pipeline", approach::pipeline},
                                                      {"pdedupe", approach::pdedupe},
                                                      {"cuda", approach::cuda},
                                                      {"hybrid", approach::hybrid}};
  const std::map<std::string, join_kind> joins = {
      {"exact", join_kind::exact}, {"pdedupe", join_kind::pdedupe}, {"none", join_kind::none}};
  cutpoint::bench::options settings;
  CLI::App app(
      "Backs files up into a store, a snapshot for each, as P-Dedupe's paper compares: one stage after the other, in a "
      "pipeline of four threads, or in parallel, also on a GPU. Prints the seconds of all backups, of each stage and "
      "of the GPU as JSON.");
  app.add_option("STORE", settings.folder, "A store that is not encrypted")->required()->check(CLI::ExistingDirectory);
  app.add_option("FILE", settings.files, "Files, the oldest version first")->required()->check(CLI::ExistingFile);
  app.add_option("--fixed-threads", settings.fixed,
                 "Threads of pipeline that cut segments, and threads for fingerprints")
      ->expected(2)
      ->check(CLI::Range(1, 64));
  app.add_option("--approach", settings.how, "How: baseline, pipeline, pdedupe, cuda or hybrid")
      ->required()
      ->transform(CLI::CheckedTransformer(approaches));
  app.add_option("--threads", settings.threads, "Threads of pdedupe, cuda and hybrid; 0: one for each processor")
      ->check(CLI::Range(0, 4096));
  app.add_option("--segment", settings.segment_bytes, "Bytes of a segment of pdedupe, cuda and hybrid");
  app.add_option("--device", settings.device, "Number of the GPU")->check(CLI::Range(0, 4095));
  app.add_option("--join", settings.join, "How these three join segments")->transform(CLI::CheckedTransformer(joins));
  CLI11_PARSE(app, argc, argv);
  if (!settings.fixed.empty() && settings.how != approach::pipeline) {
    fmt::print(stderr, "cutpoint_store_pipeline: --fixed-threads is for --approach pipeline\n");
    return 2;
  }
  return cutpoint::bench::run(settings);
}
