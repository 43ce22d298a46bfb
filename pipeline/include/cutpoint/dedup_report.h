// What a deduplicating run came to: counts and times, and what follows from them. The command and the Python module
// report from here.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <cutpoint/dedup.h>
#include <cutpoint/engine.h>

namespace cutpoint {

/// Of the lengths of chunks, those that reports tell.
inline constexpr std::array reported_percentiles = {1, 5, 25, 50, 75, 95, 99};
/// Of their histogram: buckets of an eighth of an octave.
inline constexpr unsigned reported_fineness = 3;

/// What an index holds for each of its entries; nothing where it has none.
[[nodiscard]] std::optional<double> bytes_per_entry(const fingerprint_index& index);

/// The exact cuts beside those that were asked for.
struct exact_comparison {
  const dedup_tally* tally = nullptr;
  cut_differences differences = {};

  /// Duplicates that the other cuts miss; less than 0 where they find more.
  [[nodiscard]] std::int64_t missed_bytes(const dedup_counts& other) const;
  /// Of the duplicates that the exact cuts find; nothing where they find none.
  [[nodiscard]] std::optional<double> missed_share(const dedup_counts& other) const;
};

/// Time that all lanes of the processor together spent on a stage.
struct stage_cost {
  std::string_view name;
  stage_work work;
  bool is_parallel = false;  ///< any number of lanes at once; else one at a time

  /// How long the stage alone would take.
  [[nodiscard]] double alone_seconds(std::uint64_t thread_count) const;
  [[nodiscard]] std::optional<double> bytes_per_second() const;
};

/// Time that the lanes of a device together spent, waiting for it, and the bytes that were cut there.
struct device_cost {
  int device = 0;
  std::uint64_t lane_count = 0;
  stage_work work;

  /// How long the device would have taken for this with all lanes busy.
  [[nodiscard]] double alone_seconds() const { return work.seconds / static_cast<double>(lane_count); }
  /// Of all lanes together.
  [[nodiscard]] std::optional<double> bytes_per_second() const;
};

/// Throughput that P-Dedupe's equations predict, T_w being 0, from the seconds that stages take for a byte.
struct throughput_model {
  double chunking = 0;        ///< T_c, with the join
  double fingerprinting = 0;  ///< T_f
  double index = 0;           ///< T_i
  // Bytes a second; nothing where no time passed.
  std::optional<double> serial;     ///< equation 4
  std::optional<double> pipelined;  ///< equation 5
  std::optional<double> parallel;   ///< equation 6
};

struct dedup_report {
  const feed_options* feed = nullptr;
  std::uint64_t memory_limit_bytes = 0;  ///< that was allowed, with what was read ahead
  std::uint64_t thread_count = 0;
  std::uint64_t input_count = 0;
  std::uint64_t failed_count = 0;
  bool is_interrupted = false;
  double wall_seconds = 0;
  const dedup_tally* tally = nullptr;
  std::vector<std::string> kind_names;  ///< by kind
  stage_work reading;
  feed_statistics work;
  std::optional<exact_comparison> exact;

  /// Of a segment: what changes the cuts, where the join does, else what a lane took.
  [[nodiscard]] std::uint64_t segment_bytes() const;
  [[nodiscard]] std::vector<stage_cost> stages() const;
  [[nodiscard]] std::vector<device_cost> devices() const;
  /// The stage, or the device, that would take longest alone: no run is faster than it. Nothing where no time passed.
  [[nodiscard]] std::optional<std::string> bottleneck() const;
  [[nodiscard]] throughput_model model() const;
  [[nodiscard]] std::optional<double> bytes_per_second() const;
  /// The kinds that have streams, by falling bytes.
  [[nodiscard]] std::vector<std::size_t> kinds_by_bytes() const;
};

}  // namespace cutpoint
