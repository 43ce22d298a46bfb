// The results of tuning.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <cutpoint/context.h>
#include <cutpoint/context_file.h>
#include <cutpoint/dedup.h>
#include <cutpoint/fingerprint.h>
#include <cutpoint/tune/candidate.h>
#include <cutpoint/tune/seqcdc_search.h>

namespace cutpoint {

/// The fingerprint by which the tuner counts duplicates. XXH3 with 128 bits is not safe against deliberate collisions,
/// but accidental ones are too unlikely to occur in a sample.
inline constexpr fingerprint_kind counting_fingerprint = fingerprint_kind::xxh3;

/// Rates of one thread.
struct measured_speed {
  double cut_bytes_per_second = 0;
  std::optional<double> hash_bytes_per_second = {};  ///< for chunks of this size; nullopt without a fingerprint

  /// Returns the rate of cutting and then fingerprinting.
  [[nodiscard]] double bytes_per_second() const {
    return 1 / (1 / cut_bytes_per_second + (hash_bytes_per_second ? 1 / *hash_bytes_per_second : 0));
  }
};

/// What rows are ordered by: how much of the best savings may be given up for speed (`required_savings_share`).
enum class tune_goal { savings, balanced, speed };
[[nodiscard]] std::string_view to_string(tune_goal goal);

/// What zstd makes of chunks at a store's usual level, each by itself and on one thread.
struct measured_compression {
  double compressed_share = 1;  ///< compressed bytes for each byte, 0 to 1
  double bytes_per_second = 0;

  /// Returns whether it saves enough for a store to compress.
  [[nodiscard]] bool pays() const { return compressed_share <= 1 - 1.0 / paying_compression_divisor; }
};

/// A candidate and its results.
struct tune_row {
  tune_candidate candidate;
  dedup_counts counts;    ///< counts of the sample
  double mean_bytes = 0;  ///< mean chunk size on the sample, without chunks that the sample cuts short
  std::optional<measured_speed> speed = {};  ///< nullopt if the search was cancelled before it was measured
  std::uint64_t tried_count = 1;             ///< settings of this name tried for this mean; a row has one of the best
  std::optional<dedup_counts> whole = {};    ///< counts of all inputs, if they were read again
  std::optional<measured_compression> compression = {};  ///< of the sample's new chunks, if it counts
  bool is_on_front = false;  ///< whether no other row saves more at this speed, or is faster with these savings

  /// Returns the counts of all inputs if they are known, otherwise those of the sample.
  [[nodiscard]] const dedup_counts& best_counts() const { return whole ? *whole : counts; }
  /// Returns the share of bytes that duplicates save, and compression if it counts and pays, where each chunk costs
  /// `chunk_cost` bytes of metadata. It is negative if that is more than they save.
  [[nodiscard]] double net_savings(std::uint64_t chunk_cost) const;
  /// Returns the bytes of the new chunks, after compression if it counts and pays.
  [[nodiscard]] double stored_bytes() const;
};

/// What was measured of the files of one extension.
struct extension_facts {
  std::string extension;       ///< in lower case, without a dot
  std::string class_name;      ///< of its rule; empty if its files are cut and compressed as all others
  tune_row usual;              ///< by the recommended chunker
  std::vector<tune_row> rows;  ///< that of the rule first; compression counts
};

/// A proposed context. Duplicates between files of different extensions do not count, by the rules or without them.
struct context_proposal {
  context_file content;                     ///< its `others` are cut as recommended
  std::vector<extension_facts> extensions;  ///< those with enough bytes in the sample, in order of their names
  dedup_counts counts;                      ///< of the sample, by the rules
  dedup_counts usual_counts;                ///< of the sample, by the recommended chunker alone
  double stored_bytes = 0;                  ///< of the new chunks by the rules, after compression
  double usual_stored_bytes = 0;            ///< the same by the recommended chunker alone
};

/// The conditions and the results of tuning. The caller sets the members up to `sample_share` and `model`; `search`
/// fills `skipped_targets`, `skips_seqcdc_search`, `bounds` and `rows`, and `choose` orders the rows.
struct tune_facts {
  tune_goal goal = tune_goal::balanced;
  fingerprint_kind fingerprint = fingerprint_kind::sha256;  ///< the fingerprint whose speed counts
  std::uint64_t chunk_cost = 0;                             ///< bytes of metadata that each chunk costs
  std::uint64_t thread_count = 1;
  std::uint64_t memory_bytes = 0;  ///< memory limit
  bool is_interrupted = false;
  bool has_inputs = false;  ///< false if only random bytes were cut
  std::uint64_t input_count = 0;
  std::uint64_t failed_count = 0;
  std::uint64_t input_bytes = 0;
  std::uint64_t sample_bytes = 0;
  std::uint64_t sample_stream_count = 0;
  double sample_share = 0;                          ///< as `content_sample::share`
  std::vector<std::uint64_t> skipped_targets = {};  ///< means that were not tried: the sample has too few such chunks
  /// Whether SeqCDC was tried with its usual parameters alone, because no other setting saved anything.
  bool skips_seqcdc_search = false;
  std::vector<seqcdc_bounds> bounds = {};  ///< one for each mean for which SeqCDC's parameters were searched
  std::vector<model_row> model = {};
  std::vector<tune_row> rows = {};               ///< the best first, after `choose`
  std::optional<context_proposal> context = {};  ///< as `propose_context` sets it
  bool is_recommended = false;  ///< whether the first row is a recommendation: it was counted on data and measured
};

}  // namespace cutpoint
