// The program cutpoint_bench: Google Benchmark measures each algorithm and each fingerprint with each back end of the
// processor, in one thread, and with a GPU, on the same bytes; and the engine, end to end.
//
// It exits with 1 if an answer is wrong or something fails, and with 2 for wrong usage.
#include <algorithm>
#include <array>
#include <future>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <cutpoint/backends.h>
#include <cutpoint/engine.h>
#include <cutpoint/fingerprint.h>
#include <cutpoint/speed.h>
#include <cutpoint/text.h>
#include <fmt/format.h>

#include "bench/common/usual_data.h"
#include "bench/kernels/measure.h"
#include "bench/kernels/suite.h"
#include "build_info.h"
#include "cli/bench/answer.h"

namespace cutpoint::bench {

benchmark::internal::Benchmark* add(const suite& all, const std::string& name,
                                    std::function<void(benchmark::State&)> run) {
  return benchmark::RegisterBenchmark(name.c_str(), [end = all.end, body = std::move(run)](benchmark::State& state) {
    if (std::chrono::steady_clock::now() >= end) return skip(state, "not measured: out of time");
    body(state);
  });
}

void add_skipped(const std::string& name, const std::string& reason) {
  benchmark::RegisterBenchmark(name.c_str(), [reason](benchmark::State& state) {
    skip(state, reason);
  })->Repetitions(1);
}

namespace {

constexpr std::uint64_t sample_bytes = 32 * MiB;

std::string not_here(const backend_info& where) { return fmt::format("this processor does not run {}", where.name); }

void add_chunker(const suite& all, const named_cuts& each, const backend_info& where,
                 std::shared_future<std::vector<chunk>> expected) {
  const std::string name = fmt::format("chunk/{}/{}", each.name, where.name);
  if (!where.runs_here) return add_skipped(name, not_here(where));
  const auto placed = chunker_on(each.cuts, where.kind);
  if (!placed || backend_of(*placed) != where.kind) return;
  add(all, name, [bytes = all.bytes, cuts = *placed, expected](benchmark::State& state) {
    measure(
        state, bytes, [&] { return cuts.find_cuts(bytes); }, expected.get(), "the cuts are not those of the reference");
    state.SetLabel(cuts.canonical());
  });
}

byte_span message_at(byte_span bytes, std::size_t number) {
  return bytes.subspan(number * message_bytes, message_bytes);
}

std::vector<digest> reference_digests(fingerprint_kind kind, byte_span bytes) {
  fingerprinter reference = *fingerprinter::make(kind);
  std::vector<digest> digests;
  for (std::size_t i = 0; i < bytes.size() / message_bytes; ++i) digests.push_back(*reference(message_at(bytes, i)));
  return digests;
}

void add_fingerprint(const suite& all, const fingerprint_info& info, const backend_info& where,
                     std::shared_future<std::vector<digest>> expected) {
  const std::string name = fmt::format("fingerprint/{}/{}", info.name, where.name);
  if (!where.runs_here) return add_skipped(name, not_here(where));
  const auto make = [=] { return fingerprints_on(info.kind, where.kind); };
  if (const auto placed = make(); !placed || placed->where != where.kind) return;
  add(all, name, [bytes = all.bytes, make, expected](benchmark::State& state) {
    const chosen_fingerprinter placed = *make();
    std::vector<digest> digests(bytes.size() / message_bytes);
    const auto hash_all = [&]() -> const std::vector<digest>& {
      for (std::size_t i = 0; i < digests.size(); ++i) placed.batch->submit(message_at(bytes, i), digests[i]);
      if (!placed.batch->flush().ok()) digests.clear();
      return digests;
    };
    measure(state, bytes, hash_all, expected.get(), "a digest is not that of the hash library");
  });
}

void add_kernels(const suite& all) {
  const byte_span bytes = all.bytes;
  add(all, "read", [bytes, sum = plain_read(bytes, backend::automatic)](benchmark::State& state) {
    measure(
        state, bytes, [&] { return plain_read(bytes, backend::automatic); }, sum,
        "the sum of the bytes differs from that of the first read");
  });
  // The expected answers are made when the first benchmark that was chosen needs them.
  for (const named_cuts& each : usual_cuts()) {
    const auto expected =
        std::async(std::launch::deferred, [bytes, cuts = each.cuts] { return cuts.find_cuts(bytes); }).share();
    for (const backend_info& where : processor_backends()) add_chunker(all, each, where, expected);
  }
  for (const fingerprint_info& info : fingerprints()) {
    if (info.kind == fingerprint_kind::none) continue;
    const auto expected =
        std::async(std::launch::deferred, [=] { return reference_digests(info.kind, bytes); }).share();
    for (const backend_info& where : processor_backends()) add_fingerprint(all, info, where, expected);
  }
}

/// Removes this program's own option `--name=VALUE` from the arguments and returns its last value.
std::optional<std::string> own_option(std::vector<char*>& arguments, std::string_view name) {
  const std::string begin = fmt::format("--{}=", name);
  std::optional<std::string> value;
  std::erase_if(arguments, [&](const char* each) {
    const bool is_it = std::string_view(each).starts_with(begin);
    if (is_it) value = each + begin.size();
    return is_it;
  });
  return value;
}

/// Sets what the program's own options say. Errors: invalid_argument.
status take_own_options(std::vector<char*>& arguments, suite& all) {
  if (const auto text = own_option(arguments, "bytes")) {
    const auto bytes = parse_size(*text);
    if (!bytes || *bytes < 64 * KiB) {
      return {status_code::invalid_argument, fmt::format("--bytes={}: give a size of at least 64K", *text)};
    }
    all.most_bytes = *bytes;
  }
  if (const auto text = own_option(arguments, "seconds")) {
    const auto seconds = parse_number(*text);
    if (!seconds || *seconds == 0 || *seconds > 86400) {
      return {status_code::invalid_argument, fmt::format("--seconds={}: give a number from 1 to 86400", *text)};
    }
    all.end = std::chrono::steady_clock::now() + std::chrono::seconds(*seconds);
  }
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  // The user's options come later and take precedence.
  std::string repetitions = "--benchmark_repetitions=5";
  std::string aggregates = "--benchmark_report_aggregates_only=true";
  std::vector<char*> arguments(argv, argv + argc);
  arguments.insert(arguments.begin() + 1, {repetitions.data(), aggregates.data()});
  suite all;
  if (const status own = take_own_options(arguments, all); !own.ok()) {
    fmt::print(stderr, "cutpoint_bench: {}\n", own.message());
    return 2;
  }
  int count = static_cast<int>(arguments.size());
  benchmark::Initialize(&count, arguments.data());
  if (benchmark::ReportUnrecognizedArguments(count, arguments.data())) return 2;

  const aligned_bytes data = aligned_bytes::random(std::min(sample_bytes, all.most_bytes));
  all.bytes = data.view();
  benchmark::AddCustomContext("commit", build_commit);
  benchmark::AddCustomContext("compiler", fmt::format("{} {}", build_compiler, build_flags));
  add_kernels(all);
  add_resident(all);
  add_engine(all);
  add_intake(all);
  add_intrinsics(all);
  add_baselines(all);
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return has_failed ? 1 : 0;
}

}  // namespace cutpoint::bench

int main(int argc, char** argv) { return cutpoint::bench::main(argc, argv); }

namespace cutpoint::bench {

// Measures the engine by the clock: one feed for each pass, which is opened before the clock starts.

namespace {

constexpr std::uint64_t engine_bytes = 256 * MiB;

/// The threads and the bytes of all benchmarks of the engine.
struct engine_setting {
  result<engine> threads;
  aligned_bytes data;
};

status feed_all(feed& open_feed, byte_span data) {
  CUTPOINT_RETURN_IF_FAILED(open_feed.begin(0));
  CUTPOINT_RETURN_IF_FAILED(open_feed.write(data));
  CUTPOINT_RETURN_IF_FAILED(open_feed.end());
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
