// cutpoint_store_pipeline: backs files up as P-Dedupe's paper compares: serially, in a pipeline of four threads, and in
// parallel segments.
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
#include <cutpoint/engine.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/resource.h>

#include "bench/store/stages.h"
#include "store/access/commit.h"
#include "store/access/held_session.h"
#include "store/backup/backup.h"
#include "store/format/clock.h"
#include "store/storage/directory_storage.h"

namespace cutpoint::bench {

namespace {

enum class approach { baseline, pipeline, pdedupe };

struct options {
  approach how = approach::baseline;
  std::string folder;
  std::vector<std::string> files;
  std::vector<std::uint64_t> fixed;  ///< threads for cutting and for fingerprints, or nothing
  std::uint64_t threads = 0;
  std::uint64_t segment_bytes = 4 * MiB;
  join_kind join = join_kind::pdedupe;
};

struct outcome {
  double seconds = 0;
  double processor_seconds = 0;
  std::array<double, stages> stage_seconds = {};
};

double processor_seconds() {
  rusage used = {};
  ::getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

/// Stores the files by the approach that was asked for. Returns the root of the snapshot.
result<store::record_reference> store_files(const options& settings, store::open_store& target, engine& engine,
                                            store::write_session& session, const std::vector<std::string>& files,
                                            outcome& sum) {
  if (settings.how == approach::pdedupe) {
    const store::backup_options backup{.paths = files,
                                       .feed = {.cuts = target.cuts(),
                                                .fingerprint = target.fingerprint(),
                                                .join = settings.join,
                                                .segment_bytes = settings.segment_bytes}};
    const auto stored = store::backup_files(engine, session, target.reading(), backup);
    if (!stored) return stored.error();
    if (stored->totals.problems != 0) return status(status_code::io_error, "a file cannot be read completely");
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
status back_up(const options& settings, store::open_store& target, engine& engine, const std::string& file,
               outcome& sum) {
  const auto session = store::held_session::begin(target);
  if (!session) return session.error();
  auto writer = (*session)->open_writer();
  if (!writer) return writer.error();
  const auto root = store_files(settings, target, engine, (*writer)->records, {file}, sum);
  if (!root) return root.error();
  store::snapshot snapshot;
  if (status finished = (*writer)->finish(snapshot.statistics); !finished.ok()) return finished;
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
  outcome sum;
  const double used_before = processor_seconds();
  const auto begin = std::chrono::steady_clock::now();
  for (const std::string& file : settings.files) {
    if (status backed_up = back_up(settings, **target, *engine, file, sum); !backed_up.ok()) return backed_up;
  }
  sum.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  sum.processor_seconds = processor_seconds() - used_before;
  return sum;
}

int run(const options& settings) {
  const auto measured = measure(settings);
  if (!measured) {
    fmt::print(stderr, "cutpoint_store_pipeline: {}\n", measured.error().message());
    return 1;
  }
  fmt::print("{{\"seconds\": {:.6f}, \"processor_seconds\": {:.6f}, \"stage_seconds\": [{:.6f}]}}\n", measured->seconds,
             measured->processor_seconds, fmt::join(measured->stage_seconds, ", "));
  return 0;
}

}  // namespace

}  // namespace cutpoint::bench

int main(int argc, char** argv) {
  using cutpoint::join_kind;
  using cutpoint::bench::approach;
  const std::map<std::string, approach> approaches = {
      {"baseline", approach::baseline}, {"pipeline", approach::pipeline}, {"pdedupe", approach::pdedupe}};
  const std::map<std::string, join_kind> joins = {
      {"exact", join_kind::exact}, {"pdedupe", join_kind::pdedupe}, {"none", join_kind::none}};
  cutpoint::bench::options settings;
  CLI::App app(
      "Backs files up into a store, a snapshot for each, as P-Dedupe's paper compares: one stage after the other, in a "
      "pipeline of four threads, or in parallel. Prints the seconds of all backups and of each stage as JSON.");
  app.add_option("STORE", settings.folder, "A store that is not encrypted")->required()->check(CLI::ExistingDirectory);
  app.add_option("FILE", settings.files, "Files, the oldest version first")->required()->check(CLI::ExistingFile);
  app.add_option("--fixed-threads", settings.fixed,
                 "Threads of pipeline that cut segments, and threads for fingerprints")
      ->expected(2)
      ->check(CLI::Range(1, 64));
  app.add_option("--approach", settings.how, "How: baseline, pipeline or pdedupe")
      ->required()
      ->transform(CLI::CheckedTransformer(approaches));
  app.add_option("--threads", settings.threads, "Threads of pdedupe; 0: one for each processor")
      ->check(CLI::Range(0, 4096));
  app.add_option("--segment", settings.segment_bytes, "Bytes of a segment of pdedupe");
  app.add_option("--join", settings.join, "How pdedupe joins segments")->transform(CLI::CheckedTransformer(joins));
  CLI11_PARSE(app, argc, argv);
  if (!settings.fixed.empty() && settings.how != approach::pipeline) {
    fmt::print(stderr, "cutpoint_store_pipeline: --fixed-threads is for --approach pipeline\n");
    return 2;
  }
  return cutpoint::bench::run(settings);
}
