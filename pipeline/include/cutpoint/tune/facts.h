// What tuning has found.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <cutpoint/dedup.h>
#include <cutpoint/fingerprint.h>
#include <cutpoint/tune/candidate.h>
#include <cutpoint/tune/seqcdc_search.h>

namespace cutpoint {

/// Duplicates are counted by XXH3, 128 bits: not safe against made collisions, but in a sample none is met by chance.
inline constexpr fingerprint_kind counting_fingerprint = fingerprint_kind::xxh3;

/// What a thread does a second.
struct measured_speed {
  double cut_bytes_per_second = 0;
  std::optional<double> hash_bytes_per_second = {};  ///< of these chunks; nothing without a fingerprint

  /// Both, one after the other.
  [[nodiscard]] double bytes_per_second() const {
    return 1 / (1 / cut_bytes_per_second + (hash_bytes_per_second ? 1 / *hash_bytes_per_second : 0));
  }
};

/// What is wanted most.
enum class tune_goal { savings, balanced, speed };
[[nodiscard]] std::string_view to_string(tune_goal goal);

/// A candidate, and what came out.
struct tune_row {
  tune_candidate candidate;
  dedup_counts counts;  ///< of the sample
  double mean_bytes = 0;
  measured_speed speed;
  std::uint64_t tried_count = 1;           ///< settings of this name for this mean, of which this is the best
  std::optional<dedup_counts> whole = {};  ///< of all inputs, where they were read again
  bool is_on_front = false;                ///< no other saves more and is as fast, or is faster and saves as much

  /// Of all inputs where they are known, else of the sample.
  [[nodiscard]] const dedup_counts& best_counts() const { return whole ? *whole : counts; }
  /// The share of bytes that is saved when each chunk costs so many; below 0 where it costs more than it saves.
  [[nodiscard]] double net_savings(std::uint64_t chunk_cost) const;
};

struct tune_facts {
  tune_goal goal = tune_goal::balanced;
  fingerprint_kind fingerprint = fingerprint_kind::sha256;
  std::uint64_t chunk_cost = 0;
  std::uint64_t thread_count = 1;
  std::uint64_t memory_bytes = 0;
  bool is_interrupted = false;
  bool has_inputs = false;  ///< else random bytes alone
  std::uint64_t input_count = 0;
  std::uint64_t failed_count = 0;
  std::uint64_t input_bytes = 0;
  std::uint64_t sample_bytes = 0;
  std::uint64_t sample_stream_count = 0;
  double sample_share = 0;
  std::vector<seqcdc_bounds> bounds = {};  ///< for each mean that SeqCDC was searched for
  std::vector<model_row> model = {};
  std::vector<tune_row> rows = {};  ///< the best first
  bool is_recommended = false;      ///< whether the first row is a recommendation: it was measured
};

}  // namespace cutpoint
