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

/// What rows are ordered by: how much of the best savings may be given up for speed (`required_savings_share`), or the bytes that a
/// store keeps.
enum class tune_goal { savings, balanced, speed, store };
[[nodiscard]] std::string_view to_string(tune_goal goal);

/// The bytes that a store keeps of a new chunk besides its compressed content (docs/formats/store.md): the description of its record, in
/// the container and in its trailer (112), two tags (32, of which the trailer's is shared), zeros that align it (7.5 on average), and its
/// entry in a shard with the filter's (13.1).
inline constexpr double store_record_bytes = 148.6;
/// The bytes by which a folder or a list of extents refers to a chunk, new or not.
inline constexpr std::uint64_t store_reference_bytes = 44;
/// The number of blocks of a sample that tell how much its results vary.
inline constexpr std::size_t sample_block_count = 16;

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
  std::vector<double> kept_by_block =
      {};                    ///< the bytes that a store keeps of each block of the sample, if compression counts
  bool is_usual = false;     ///< whether it is what a store has that names no chunker
  bool is_on_front = false;  ///< whether no other row saves more at this speed, or is faster with these savings

  /// Returns the counts of all inputs if they are known, otherwise those of the sample.
  [[nodiscard]] const dedup_counts& best_counts() const { return whole ? *whole : counts; }
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
  std::uint64_t chunk_cost =
      0;  ///< bytes of metadata that each chunk costs; `store_reference_bytes` for the goal `store`
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

  /// Returns the share of bytes that duplicates save, and compression if it counts and pays, less the metadata of chunks. It is negative
  /// if that is more than they save.
  [[nodiscard]] double net_savings(const tune_row& row) const;
  /// Returns the bytes of the sample, or of all inputs where they were counted, that are not saved: for the goal `store`, what it keeps.
  [[nodiscard]] double kept_bytes(const tune_row& row) const;
  /// Returns by what share of the bytes that are kept by `other` the rows must differ to differ in all inputs too: two standard errors of
  /// the sample, and no less than `least_difference`.
  [[nodiscard]] double spread_between(const tune_row& row, const tune_row& other) const;
};

/// Estimates that differ by less are equal.
inline constexpr double least_difference = 0.005;

}  // namespace cutpoint
