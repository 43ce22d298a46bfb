// Measures the engine by the clock: one feed for each pass, which is opened before the clock starts.
#include <algorithm>
#include <array>
#include <future>
#include <memory>
#include <utility>

#include <cutpoint/backends.h>
#include <cutpoint/engine.h>
#include <cutpoint/speed.h>
#include <fmt/format.h>

#include "bench/common/usual_cuts.h"
#include "bench/kernels/measure.h"
#include "bench/kernels/suite.h"
#include "cli/bench/answer.h"

namespace cutpoint::bench {

namespace {

constexpr std::uint64_t engine_bytes = 256 * MiB;

/// The threads and the bytes of all benchmarks of the engine.
struct engine_setting {
  result<engine> threads;
  aligned_bytes data;
};

status feed_all(feed& open_feed, byte_span data) {
  if (const status begun = open_feed.begin(0); !begun.ok()) return begun;
  if (const status written = open_feed.write(data); !written.ok()) return written;
  if (const status ended = open_feed.end(); !ended.ok()) return ended;
  return open_feed.finish();
}

/// Runs one pass and returns what went wrong, or an empty text. The clock runs while bytes are fed.
std::string run_pass(benchmark::State& state, engine& threads, const feed_options& options, byte_span data,
                     const cli::bench_answer& expected) {
  cli::answer_check check(expected);
  auto open_feed = threads.open(options, check);
  if (!open_feed) return open_feed.error().message();
  state.ResumeTiming();
  const status outcome = feed_all(*open_feed, data);
  state.PauseTiming();
  if (const std::string problem = check.problem(); !problem.empty()) return "it " + problem;
  return outcome.ok() ? open_feed->statistics().device_warning : outcome.message();
}

void run_engine(benchmark::State& state, engine_setting& setting, const feed_options& options,
                const result<cli::bench_answer>& expected) {
  if (!setting.threads) return fail(state, setting.threads.error().message());
  if (!expected) return fail(state, expected.error().message());
  const byte_span data = setting.data.view();
  while (state.KeepRunning()) {
    state.PauseTiming();
    const std::string problem = run_pass(state, *setting.threads, options, data, *expected);
    if (!problem.empty()) return fail(state, problem);
    state.ResumeTiming();
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(data.size()));
  state.SetLabel(options.cuts.canonical());
}

}  // namespace

void add_engine(const suite& all) {
  const auto setting = std::async(std::launch::deferred, [size = std::min(engine_bytes, all.most_bytes)] {
                         return std::make_shared<engine_setting>(engine::make(), aligned_bytes::random(size));
                       }).share();
  // Without rates, `automatic` uses no device.
  constexpr std::array where_it_runs = {std::pair("processor", backend::automatic), std::pair("cuda", backend::cuda),
                                        std::pair("hybrid", backend::hybrid)};
  for (const named_cuts& each : usual_cuts()) {
    const auto expected =
        std::async(std::launch::deferred, [cuts = each.cuts, setting] {
          const cancellation never;
          return cli::reference_answer(cuts, fingerprint_kind::sha1, setting.get()->data.view(), never);
        }).share();
    for (const auto& [place, where] : where_it_runs) {
      const std::string name = fmt::format("engine/{}/{}", each.name, place);
      if (const auto usable = parse_backend(to_string(where)); !usable) {
        add_skipped(name, usable.error().message());
        continue;
      }
      const feed_options options{.cuts = each.cuts, .fingerprint = fingerprint_kind::sha1, .where = where};
      add(all, name, [=](benchmark::State& state) { run_engine(state, *setting.get(), options, expected.get()); })
          ->UseRealTime()
          ->MeasureProcessCPUTime()
          ->Unit(benchmark::kMillisecond);
    }
  }
}

}  // namespace cutpoint::bench
