// Measures kernels in rounds: each round measures a plain read of the same memory and then each back end.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include <cutpoint/source.h>
#include <cutpoint/status.h>

#include "cli/bench/cell.h"
#include "cli/bench/contenders.h"

namespace cutpoint::cli {

/// The place of the data: memory beyond all caches, or the L2 cache.
enum class bench_place { memory, l2 };
[[nodiscard]] std::string_view to_string(bench_place place);

struct bench_row {
  const bench_job* job = nullptr;
  bench_place place = bench_place::memory;
  std::optional<double> mean_bytes;  ///< of the chunks
  double read_bytes_per_second = 0;  ///< the median of the rounds' plain reads
  std::vector<bench_cell> cells;     ///< of every back end of this build
};

/// Checks the answers, then measures. Errors: those of `prepare`; cancelled.
[[nodiscard]] result<bench_row> measure(const bench_job& job, bench_place place, byte_span data, std::uint64_t rounds,
                                        const cancellation& cancel);

}  // namespace cutpoint::cli
