// What is checked and chosen for a feed before its first byte: segments, ring, memory.
#pragma once

#include <cutpoint/engine.h>

#include "pipeline/intake.h"

namespace cutpoint {

struct feed_plan {
  fingerprint_kind fingerprint = fingerprint_kind::none;
  join_kind join = join_kind::exact;
  const cancellation* cancel = nullptr;
  std::uint64_t lane_count = 1;
  bool maps_on_device = false;          ///< segments are cut by a device's lanes, not by the processor's
  bool fingerprints_on_device = false;  ///< and fingerprinted in the same go
  backend chunked_on = backend::scalar;
  backend fingerprinted_on = backend::scalar;
  /// Fingerprinted at a time by a lane, after the join: so few that lanes share a segment, so many that it is worth it.
  std::uint64_t unit_bytes = 512 * KiB;
  std::uint64_t segment_bytes = 0;  ///< that lanes take
  std::uint64_t ring_bytes = 0;
  std::uint64_t memory_bytes = 0;  ///< that are allowed
  std::uint64_t fill_limit = 0;    ///< bytes of the ring that are used at first
  std::uint64_t kept_behind = 0;   ///< bytes that stay before what has come out
  bool has_candidates = false;     ///< maps mark candidates
  intake_plan intake = {};
};

/// Where candidates are marked, segments begin at multiples of this many positions, so that two never share a word of
/// bits.
inline constexpr std::uint64_t segment_granule = 64;

/// Lanes that keep a device busy: one copies in while another cuts and hashes and a third copies out.
inline constexpr std::uint64_t device_lane_count = 3;

/// For `thread_count` lanes of the processor and, `on_device`, those of one device. Errors: as `engine::open`.
[[nodiscard]] result<feed_plan> make_plan(const feed_options& options, std::uint64_t thread_count, bool on_device);

}  // namespace cutpoint
