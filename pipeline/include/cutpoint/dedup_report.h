// The results of a deduplication: counts and times, and the figures derived from them. The command and the Python
// module make their reports from these.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <cutpoint/context.h>
#include <cutpoint/dedup.h>
#include <cutpoint/engine.h>
#include <cutpoint/stage_costs.h>

namespace cutpoint {

/// The percentiles of chunk lengths that reports contain.
inline constexpr std::array reported_percentiles = {1, 5, 25, 50, 75, 95, 99};
/// The `fineness` of the length histogram in reports: each bucket is an eighth of an octave.
inline constexpr unsigned reported_fineness = 3;

/// Returns the memory that an index uses for each entry, in bytes, or nullopt if it is empty.
[[nodiscard]] std::optional<double> bytes_per_entry(const fingerprint_index& index);

/// The results of the exact join, for comparison with those of another join on the same streams.
struct exact_comparison {
  const dedup_tally* tally = nullptr;  ///< tally of the exact join; owned by the caller
  cut_differences differences = {};

  /// Returns how many duplicate bytes the other cuts miss. It is negative if they find more than the exact cuts.
  [[nodiscard]] std::int64_t missed_bytes(const dedup_counts& other) const;
  /// Returns `missed_bytes` as a share of the duplicate bytes that the exact cuts find, or nullopt if they find none.
  [[nodiscard]] std::optional<double> missed_share(const dedup_counts& other) const;
};

/// The throughput that P-Dedupe's equations predict with T_w = 0, because nothing is written.
struct throughput_model {
  // Seconds for each byte, on one lane.
  double chunking = 0;        ///< T_c, with the join
  double fingerprinting = 0;  ///< T_f
  double index = 0;           ///< T_i: delivery
  // Bytes a second; nullopt if no time was spent.
  std::optional<double> serial;     ///< equation 4
  std::optional<double> pipelined;  ///< equation 5
  std::optional<double> parallel;   ///< equation 6
};

/// The results of one deduplication. The caller sets the members, and keeps the objects behind the pointers. `feed` and
/// `tally` must not be null when a function is called.
struct dedup_report {
  const feed_options* feed = nullptr;
  std::uint64_t memory_limit_bytes = 0;  ///< memory limit of the feed and of read-ahead together
  std::uint64_t thread_count = 0;        ///< as `engine::thread_count`
  std::uint64_t input_count = 0;         ///< inputs that were opened
  std::uint64_t failed_count = 0;        ///< inputs that failed
  std::uint64_t repeated_count = 0;      ///< as `reading_record::repeated_count`
  std::uint64_t other_kind_count = 0;    ///< links, devices and other files that were skipped since they have no bytes
  bool is_interrupted = false;           ///< whether the execution was cancelled
  double wall_seconds = 0;
  const dedup_tally* tally = nullptr;
  std::vector<std::string> kind_names;       ///< names of the kinds in `tally->kinds()`
  std::vector<std::size_t> kind_rules = {};  ///< their rules in `context`
  chunking_context context = {};             ///< that the feed cut by
  stage_work reading;                        ///< as `reading_record::work`
  feed_statistics work;                      ///< statistics of the finished feed
  std::optional<exact_comparison> exact;     ///< present if the exact cuts were found too

  /// Returns the size of a segment: the option if the join makes cuts depend on it, otherwise the size that lanes took.
  [[nodiscard]] std::uint64_t segment_bytes() const;
  /// Returns the costs of reading and of the engine's stages, in the order in which bytes pass through them.
  [[nodiscard]] std::vector<stage_cost> stages() const;
  /// Returns the time that a lane spent on a stage. The feeding thread is lane 0.
  [[nodiscard]] double lane_seconds(std::size_t lane, stage which) const;
  /// Returns the costs of each device that the feed used.
  [[nodiscard]] std::vector<device_cost> devices() const;
  /// Returns the name of the stage or device with the largest `alone_seconds`, which bounds the speed. Returns nullopt
  /// if there were no bytes or no time was spent.
  [[nodiscard]] std::optional<std::string> bottleneck() const;
  [[nodiscard]] throughput_model model() const;
  /// Returns the bytes of all streams per second of wall time, or nullopt if one of them is 0.
  [[nodiscard]] std::optional<double> bytes_per_second() const;
  /// Returns the counts of each class of the context, those of the files without a rule first. Empty without rules.
  [[nodiscard]] std::vector<dedup_counts> classes() const;
  /// Returns the numbers of the kinds that have streams, those with the most bytes first.
  [[nodiscard]] std::vector<std::size_t> kinds_by_bytes() const;
};

/// Returns "exact", "pdedupe" or "none".
[[nodiscard]] std::string_view name_of(join_kind join) noexcept;

/// Returns the report as less than 20 lines for people: the savings, what was read and cut, the time, and the largest kinds of files.
[[nodiscard]] std::string dedup_summary(const dedup_report& facts);
/// Returns the same without the time, but with chunk lengths and more kinds of files.
[[nodiscard]] std::string dedup_contents(const dedup_report& facts);

}  // namespace cutpoint
