// The back ends that a job of `bench` measures. Their answers are compared with the reference's before.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <cutpoint/backends.h>
#include <cutpoint/bytes.h>
#include <cutpoint/chunker.h>
#include <cutpoint/fingerprint.h>
#include <cutpoint/speed.h>
#include <cutpoint/status.h>

#include "cli/bench/cell.h"

namespace cutpoint::cli {

/// One back end at a job.
struct bench_contender {
  backend where = backend::scalar;
  bench_outcome outcome = bench_outcome::measured;
  timed_work work = {};      ///< empty unless it is to be measured
  std::string problem = {};  ///< what is wrong with its answer
};

enum class bench_kind { read, cuts, fingerprint };
[[nodiscard]] std::string_view to_string(bench_kind kind);

/// A row of the table before it is measured.
struct bench_job {
  bench_kind kind = bench_kind::read;
  std::string name;  ///< an entry of the catalog, or a fingerprint
  std::string size;  ///< as given; "own" for an entry's own sizes
  std::optional<chunker> cuts = {};
  fingerprint_kind fingerprint = fingerprint_kind::none;
  backend chosen = backend::scalar;  ///< the choice of `automatic`
};

/// A job whose back ends gave the right answer.
struct checked_bench_job {
  std::vector<bench_contender> contenders;  ///< of every back end of this build
  std::optional<double> mean_bytes;
};

/// Checks the answers of all back ends. `data` must outlive the result. Errors: those of fingerprints.
[[nodiscard]] result<checked_bench_job> prepare(const bench_job& job, byte_span data);

/// Returns the contender that cuts `data` by `cuts`, whose chunks must be `expected`.
[[nodiscard]] bench_contender cutting_contender(backend where, const chunker& cuts, byte_span data,
                                                std::span<const chunk> expected);

/// Returns the contender that fingerprints chunks of `data` by `batch`, whose digests must be `expected`.
[[nodiscard]] bench_contender hashing_contender(backend where, std::shared_ptr<batch_fingerprinter> batch,
                                                byte_span data, std::shared_ptr<const std::vector<chunk>> chunks,
                                                std::span<const digest> expected);

}  // namespace cutpoint::cli
