// The program cutpoint_bench: Google Benchmark measures each algorithm and each fingerprint with each back end of the
// processor, in one thread, on the same bytes.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <benchmark/benchmark.h>
#include <cutpoint/backends.h>
#include <cutpoint/catalog.h>
#include <cutpoint/fingerprint.h>
#include <fmt/format.h>

#include "bench/common/inputs.h"
#include "build_info.h"

namespace cutpoint::bench {

namespace {

constexpr std::uint64_t sample_bytes = 32 * MiB;
constexpr std::uint64_t message_bytes = 8 * KiB;

/// Measures `work`, which processes all of `bytes` once.
template <class Work>
void measure(benchmark::State& state, byte_span bytes, Work&& work) {
  for (auto _ : state) work();
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(bytes.size()));
}

void register_chunker(const chunker& reference, const backend_info& where, std::string_view name, byte_span bytes) {
  const auto placed = chunker_on(reference, where.kind);
  if (!placed || backend_of(*placed) != where.kind) return;
  benchmark::RegisterBenchmark(fmt::format("chunk/{}/{}", name, where.name).c_str(), [=](benchmark::State& state) {
    if (placed->find_cuts(bytes) != reference.find_cuts(bytes)) {
      return state.SkipWithError("the cuts are not those of the reference");
    }
    measure(state, bytes, [&] { benchmark::DoNotOptimize(placed->find_cuts(bytes).data()); });
    state.SetLabel(reference.canonical());
  });
}

void register_fingerprint(const fingerprint_info& info, const backend_info& where, byte_span bytes) {
  const auto make = [=] { return fingerprints_on(info.kind, where.kind); };
  if (const auto placed = make(); !placed || placed->where != where.kind) return;
  const auto run = [=](benchmark::State& state) {
    const chosen_fingerprinter placed = *make();
    fingerprinter reference = *fingerprinter::make(info.kind);
    std::vector<digest> digests(bytes.size() / message_bytes);
    const auto message = [&](std::size_t i) { return bytes.subspan(i * message_bytes, message_bytes); };
    const auto hash_all = [&] {
      for (std::size_t i = 0; i < digests.size(); ++i) placed.batch->submit(message(i), digests[i]);
      return placed.batch->flush();
    };
    if (const status hashed = hash_all(); !hashed.ok()) return state.SkipWithError(hashed.message().c_str());
    for (std::size_t i = 0; i < digests.size(); ++i) {
      if (digests[i] != *reference(message(i))) return state.SkipWithError("a digest is not that of the hash library");
    }
    measure(state, bytes, [&] { benchmark::DoNotOptimize(hash_all().ok()); });
  };
  benchmark::RegisterBenchmark(fmt::format("fingerprint/{}/{}", info.name, where.name).c_str(), run);
}

}  // namespace

int main(int argc, char** argv) {
  // The user's options come later and take precedence.
  std::string repetitions = "--benchmark_repetitions=5";
  std::string aggregates = "--benchmark_report_aggregates_only=true";
  std::vector<char*> arguments(argv, argv + argc);
  arguments.insert(arguments.begin() + 1, {repetitions.data(), aggregates.data()});
  int count = static_cast<int>(arguments.size());
  benchmark::Initialize(&count, arguments.data());
  if (benchmark::ReportUnrecognizedArguments(count, arguments.data())) return 2;

  const byte_vector bytes = random_bytes(sample_bytes);
  benchmark::AddCustomContext("commit", build_commit);
  benchmark::AddCustomContext("compiler", fmt::format("{} {}", build_compiler, build_flags));
  benchmark::RegisterBenchmark("read", [&](benchmark::State& state) {
    measure(state, bytes, [&] { benchmark::DoNotOptimize(plain_read(bytes, backend::automatic)); });
  });
  for (const backend_info& where : processor_backends()) {
    if (!where.runs_here) continue;
    for (const catalog_entry& entry : catalog()) register_chunker(entry.defaults, where, entry.name, bytes);
    for (const fingerprint_info& info : fingerprints()) {
      if (info.kind != fingerprint_kind::none) register_fingerprint(info, where, bytes);
    }
  }
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}

}  // namespace cutpoint::bench

int main(int argc, char** argv) { return cutpoint::bench::main(argc, argv); }
