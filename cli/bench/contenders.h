// What `bench` measures: one job done by each back end, after its answers were compared with the reference's.
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

namespace cutpoint::cli {

/// What became of a back end at a job.
enum class bench_outcome {
  measured,
  no_kernel,     ///< it leaves the job to the reference or the library
  does_not_run,  ///< on this processor
  wrong_answer,  ///< not the reference's
};
[[nodiscard]] std::string_view to_string(bench_outcome outcome);

/// One back end at a job.
struct bench_contender {
  backend where = backend::scalar;
  bench_outcome outcome = bench_outcome::measured;
  timed_work work = {};      ///< where it is to be measured
  std::string problem = {};  ///< what is wrong with its answer
};

enum class bench_kind { read, cuts, fingerprint };

/// A row of the table before it is measured.
struct bench_job {
  bench_kind kind = bench_kind::read;
  std::string name;  ///< of the catalog or of a fingerprint
  std::string size;  ///< as asked for; "own" for a name's own sizes
  std::optional<chunker> cuts = {};
  fingerprint_kind fingerprint = fingerprint_kind::none;
  backend chosen = backend::scalar;  ///< by `automatic`
};

/// A job on data, checked.
struct checked_bench_job {
  std::vector<bench_contender> contenders;  ///< of every back end of this build
  std::optional<double> mean_bytes;
};

/// Data must stay where it is while the contest lives. Errors: those of fingerprints.
[[nodiscard]] result<checked_bench_job> prepare(const bench_job& job, byte_span data);

/// A back end's chunker at cutting `data`, of which `expected` are the chunks.
[[nodiscard]] bench_contender cutting_contender(backend where, const chunker& made, byte_span data,
                                                std::span<const chunk> expected);

/// A back end's batch at fingerprinting these chunks of `data`, of which `expected` are the fingerprints.
[[nodiscard]] bench_contender hashing_contender(backend where, std::shared_ptr<batch_fingerprinter> batch,
                                                byte_span data, std::shared_ptr<const std::vector<chunk>> chunks,
                                                std::span<const digest> expected);

}  // namespace cutpoint::cli
