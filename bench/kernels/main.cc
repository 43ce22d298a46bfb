// The program cutpoint_bench: Google Benchmark measures each algorithm and each fingerprint with each back end of the
// processor, in one thread, on the same bytes.
#include <future>
#include <string>
#include <utility>
#include <vector>

#include <benchmark/benchmark.h>
#include <cutpoint/backends.h>
#include <cutpoint/catalog.h>
#include <cutpoint/fingerprint.h>
#include <cutpoint/speed.h>
#include <fmt/format.h>

#include "bench/kernels/measure.h"
#include "build_info.h"

namespace cutpoint::bench {

namespace {

constexpr std::uint64_t sample_bytes = 32 * MiB;
constexpr std::uint64_t message_bytes = 8 * KiB;

void register_chunker(const chunker& reference, const backend_info& where, std::string_view name, byte_span bytes,
                      std::shared_future<std::vector<chunk>> expected) {
  const auto placed = chunker_on(reference, where.kind);
  if (!placed || backend_of(*placed) != where.kind) return;
  benchmark::RegisterBenchmark(fmt::format("chunk/{}/{}", name, where.name).c_str(), [=](benchmark::State& state) {
    measure(
        state, bytes, [&] { return placed->find_cuts(bytes); }, expected.get(),
        "the cuts are not those of the reference");
    state.SetLabel(reference.canonical());
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

void register_fingerprint(const fingerprint_info& info, const backend_info& where, byte_span bytes,
                          std::shared_future<std::vector<digest>> expected) {
  const auto make = [=] { return fingerprints_on(info.kind, where.kind); };
  if (const auto placed = make(); !placed || placed->where != where.kind) return;
  const auto run = [=](benchmark::State& state) {
    const chosen_fingerprinter placed = *make();
    std::vector<digest> digests(bytes.size() / message_bytes);
    const auto hash_all = [&]() -> const std::vector<digest>& {
      for (std::size_t i = 0; i < digests.size(); ++i) placed.batch->submit(message_at(bytes, i), digests[i]);
      if (!placed.batch->flush().ok()) digests.clear();
      return digests;
    };
    measure(state, bytes, hash_all, expected.get(), "a digest is not that of the hash library");
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

  const aligned_bytes data = aligned_bytes::random(sample_bytes);
  const byte_span bytes = data.view();
  benchmark::AddCustomContext("commit", build_commit);
  benchmark::AddCustomContext("compiler", fmt::format("{} {}", build_compiler, build_flags));
  const std::uint64_t sum = plain_read(bytes, backend::automatic);
  benchmark::RegisterBenchmark("read", [&](benchmark::State& state) {
    measure(
        state, bytes, [&] { return plain_read(bytes, backend::automatic); }, sum,
        "the sum of the bytes differs from that of the first read");
  });
  // The expected answers are made when the first benchmark that was chosen needs them.
  for (const catalog_entry& entry : catalog()) {
    const auto expected = std::async(std::launch::deferred, [&] { return entry.defaults.find_cuts(bytes); }).share();
    for (const backend_info& where : processor_backends()) {
      if (where.runs_here) register_chunker(entry.defaults, where, entry.name, bytes, expected);
    }
  }
  for (const fingerprint_info& info : fingerprints()) {
    if (info.kind == fingerprint_kind::none) continue;
    const auto expected =
        std::async(std::launch::deferred, [&] { return reference_digests(info.kind, bytes); }).share();
    for (const backend_info& where : processor_backends()) {
      if (where.runs_here) register_fingerprint(info, where, bytes, expected);
    }
  }
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}

}  // namespace cutpoint::bench

int main(int argc, char** argv) { return cutpoint::bench::main(argc, argv); }
