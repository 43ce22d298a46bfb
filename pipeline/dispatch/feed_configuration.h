// What is checked and chosen for a feed before its first byte: segments, ring, memory.
#pragma once

#include <memory>
#include <vector>

#include <cutpoint/engine.h>

#include "pipeline/engine/intake.h"

namespace cutpoint {

/// Lanes that keep a device busy: one copies in while another cuts and hashes and a third copies out.
inline constexpr std::uint64_t device_lane_count = 3;

/// What a feed has of one device.
struct device_configuration {
  std::uint64_t lane_count = device_lane_count;
  bool cuts = true;
  bool fingerprints = true;       ///< what it cuts in the same go, and chunks that are known
  std::uint64_t batch_bytes = 0;  ///< most that a lane takes at a time
  /// So few that the time it takes whatever its size would count; a lane waits for more while there may be more.
  std::uint64_t least_batch_bytes = 0;
};

struct feed_configuration {
  fingerprint_kind fingerprint = fingerprint_kind::none;
  join_kind join = join_kind::exact;
  const cancellation* cancel = nullptr;
  std::chrono::nanoseconds cancel_grace = {};
  std::uint64_t lane_count = 1;  ///< of the processor
  std::vector<device_configuration> devices;
  std::vector<work_plan> choices = {work_plan::processor};  ///< by which the feed may work, the first at first
  std::shared_ptr<const job_rates> rates;                   ///< that are expected; may be null
  backend chunked_on = backend::scalar;
  backend fingerprinted_on = backend::scalar;
  /// Fingerprinted at a time by a lane, after the join: so few that lanes share a segment, so many that it is worth it.
  std::uint64_t fingerprint_task_bytes = 512 * KiB;
  std::uint64_t segment_bytes = 0;  ///< that lanes take
  std::uint64_t ring_bytes = 0;
  std::uint64_t memory_bytes = 0;           ///< that are allowed
  std::uint64_t fill_limit = 0;             ///< bytes of the ring that are used at first
  std::uint64_t kept_lookbehind_bytes = 0;  ///< bytes that stay before what has come out
  bool has_candidates = false;              ///< maps mark candidates
  intake_options intake = {};
};

/// Where candidates are marked, segments begin at multiples of this many positions, so that two never share a word of
/// bits.
inline constexpr std::uint64_t segment_granule = 64;

/// The room that a feed is given at a time, where lanes share the work and where there is one.
inline constexpr std::uint64_t most_room_shared = 1 * MiB;
inline constexpr std::uint64_t most_room_alone = 256 * KiB;

/// What another plan must promise to be taken up instead of one that does.
inline constexpr double worthwhile_gain = 1.1;

/// Waiting segments with which every lane has something to take, so that the feeding thread lends a hand.
[[nodiscard]] std::uint64_t help_threshold_segments(const feed_configuration& plan) noexcept;

/// For `thread_count` lanes of the processor and those of `device_count` devices. Errors: as `engine::open`.
[[nodiscard]] result<feed_configuration> make_feed_configuration(const feed_options& options,
                                                                 std::uint64_t thread_count,
                                                                 std::uint64_t device_count);

/// The plans by which a feed may work, the one to begin with first; `processor` alone where no device is worth it. Errors:
/// invalid_argument, where the back end and the plan contradict each other.
[[nodiscard]] result<std::vector<work_plan>> work_plan_choices(const feed_options& options);

}  // namespace cutpoint
