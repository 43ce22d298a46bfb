// How `bench` measures: rounds, in each of which a plain read of the same memory comes first and then each back end.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <cutpoint/source.h>
#include <cutpoint/status.h>

#include "cli/bench/contenders.h"

namespace cutpoint::cli {

/// Where the data lies: in the memory beyond all caches, or in the second cache.
enum class bench_place { memory, l2 };
[[nodiscard]] std::string_view to_string(bench_place place);

/// A back end at a job, measured.
struct bench_cell {
  backend where = backend::scalar;
  bench_outcome outcome = bench_outcome::measured;
  std::optional<double> bytes_per_second = {};  ///< the median of the rounds
  std::optional<double> of_read = {};           ///< the median of the ratios to each round's plain read
  std::string problem = {};
};

struct bench_row {
  const bench_job* job = nullptr;
  bench_place place = bench_place::memory;
  std::optional<double> mean_bytes;  ///< of the chunks
  double read_bytes_per_second = 0;  ///< the median of the rounds' plain reads
  std::vector<bench_cell> cells;     ///< of every back end of this build
};

/// Checks, then measures. Errors: those of `prepare`; cancelled.
[[nodiscard]] result<bench_row> measure(const bench_job& job, bench_place place, byte_span data, std::uint64_t rounds,
                                        const cancellation& cancel);

}  // namespace cutpoint::cli
