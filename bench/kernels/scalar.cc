#include "bench/kernels/scalar.h"

#include <benchmark/benchmark.h>
#include <cutpoint/backends.h>
#include <cutpoint/fingerprint.h>
#include <cutpoint/timing.h>
#include <fmt/format.h>

#include "bench/common/plain_read.h"

namespace cutpoint::bench {

namespace {

/// Measures `work`, which goes over all of `bytes` once. The plain read is measured just before, in every repetition,
/// so that both see the machine in the same mood.
template <class Work>
void measure(benchmark::State& state, byte_span bytes, Work&& work) {
  const double read_rate = plain_read_rate(bytes);
  const double begin = thread_seconds();
  for (auto _ : state) work();
  const double seconds = thread_seconds() - begin;
  const auto passes = static_cast<std::int64_t>(state.iterations());
  const std::int64_t processed = passes * static_cast<std::int64_t>(bytes.size());
  state.SetBytesProcessed(processed);
  state.counters["of_read"] = static_cast<double>(processed) / seconds / read_rate;
}

void register_chunker(const std::string& name, byte_span bytes, const chunker& chunker) {
  benchmark::RegisterBenchmark(name.c_str(), [=](benchmark::State& state) {
    std::vector<chunk> chunks;
    measure(state, bytes, [&] {
      chunks = chunker.find_cuts(bytes);
      benchmark::DoNotOptimize(chunks.data());
    });
    state.counters["mean_bytes"] = static_cast<double>(bytes.size()) / static_cast<double>(chunks.size());
    state.SetLabel(chunker.canonical());
  });
}

void register_fingerprint(const std::string& name, byte_span bytes, fingerprint_kind kind,
                          const configuration& chunking) {
  benchmark::RegisterBenchmark(name.c_str(), [=, chunker = chunking.chunker](benchmark::State& state) {
    const std::vector<chunk> chunks = chunker.find_cuts(bytes);
    result<fingerprinter> fingerprint = fingerprinter::make(kind);
    if (!fingerprint) return state.SkipWithError(fingerprint.error().message().c_str());
    measure(state, bytes, [&] {
      for (const chunk& c : chunks) benchmark::DoNotOptimize((*fingerprint)(bytes.subspan(c.offset, c.length)));
    });
    state.counters["mean_bytes"] = static_cast<double>(bytes.size()) / static_cast<double>(chunks.size());
    state.SetLabel(chunker.canonical());
  });
}

}  // namespace

void register_scalar_benchmarks(const std::string& family, byte_span bytes,
                                std::span<const configuration> configurations) {
  benchmark::RegisterBenchmark((family + "read").c_str(), [=](benchmark::State& state) {
    measure(state, bytes, [&] { benchmark::DoNotOptimize(plain_read(bytes, backend::automatic)); });
  });
  for (const configuration& c : configurations) {
    register_chunker(fmt::format("{}chunk/{}", family, c.name), bytes, c.chunker);
  }
  for (const fingerprint_info& info : fingerprints()) {
    if (info.kind == fingerprint_kind::none) continue;
    for (const configuration& c : configurations) {
      if (c.name != "fixed" && c.name != "fastcdc") continue;
      register_fingerprint(fmt::format("{}fingerprint/{}/{}", family, info.name, c.name), bytes, info.kind, c);
    }
  }
}

}  // namespace cutpoint::bench
