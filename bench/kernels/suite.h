// The benchmarks of cutpoint_bench: what they share, and the functions that register them, a source for each kind.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>

#include <benchmark/benchmark.h>
#include <cutpoint/bytes.h>
#include <cutpoint/chunker.h>

namespace cutpoint::bench {

struct suite {
  /// Random bytes that kernels process.
  byte_span bytes;
  /// No data and no batch of a device is larger.
  std::uint64_t most_bytes = unlimited;
  /// No benchmark begins later.
  std::chrono::steady_clock::time_point end = std::chrono::steady_clock::time_point::max();
};

/// Messages that are hashed have this length: fingerprints are those of `bytes` in such messages.
inline constexpr std::uint64_t message_bytes = 8 * KiB;

/// Registers a benchmark. It is skipped if it begins after the suite's end.
benchmark::internal::Benchmark* add(const suite& all, const std::string& name,
                                    std::function<void(benchmark::State&)> run);

/// Registers a benchmark that cannot run here and only says why.
void add_skipped(const std::string& name, const std::string& reason);

/// Registers `chunk/NAME/cuda`, `chunk+sha1/NAME/cuda` and `fingerprint/NAME/cuda`: batches in the memory of GPU 0.
void add_resident(const suite& all);

/// Registers `engine/NAME/{processor,cuda,hybrid}`: from memory to chunks and SHA-1 on all threads.
void add_engine(const suite& all);

/// Registers `intake/NAME/{none,sha1}/threads:N` for some names: from a file in the page cache to chunks; and `intake/plain/threads:N`, which only reads.
void add_intake(const suite& all);

/// Registers `intrinsic/*`: instructions on which the speed of SeqCDC's skips depends (SeqCDC sections III-D and V).
void add_intrinsics(const suite& all);

/// Registers `baseline/*`: what papers compare algorithms with, and Cutpoint does not offer.
void add_baselines(const suite& all);

}  // namespace cutpoint::bench
