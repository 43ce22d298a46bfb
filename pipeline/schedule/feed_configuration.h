// The feed configuration: everything that is checked and chosen before a feed's first byte.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include <cutpoint/engine.h>

#include "pipeline/schedule/sequence.h"

namespace cutpoint {

/// An upper bound of the device memory for each byte of a batch: the byte, its candidates, its share of the chunks.
inline constexpr std::uint64_t device_bytes_for_each = 8;

/// Lanes that keep a device busy: one copies in, another cuts and fingerprints, and a third copies out.
inline constexpr std::uint64_t device_lane_count = 3;

/// Most chunks of a chunk range that is fingerprinted after a join.
inline constexpr std::uint64_t most_chunks_in_range = 4096;

/// The length of the longest chunks that devices fingerprint. One thread makes SHA-1 or SHA-256 of a chunk, for which a batch
/// would wait: at an estimated 0.1 GB/s, 256 KiB take 3 ms. BLAKE3 gives every 1024 bytes a thread.
[[nodiscard]] constexpr std::uint64_t longest_fingerprinted_on_device(fingerprint_kind kind) noexcept {
  return kind == fingerprint_kind::blake3 ? unlimited : 256 * KiB;
}

/// What a feed uses of one device.
struct device_configuration {
  int device = 0;  ///< the GPU's number
  std::uint64_t lane_count = device_lane_count;
  work_kind work = work_kind::cuts;
  bool fingerprints = true;       ///< whether the device makes the feed's fingerprints
  std::uint64_t batch_bytes = 0;  ///< most that a lane takes at a time
  /// Most joined chunks that a lane fingerprints at a time: at least `most_chunks_in_range`.
  std::uint64_t batch_chunks = 0;
  /// In a smaller batch latency takes much of the time. A lane waits for more bytes while more may come.
  std::uint64_t least_batch_bytes = 0;

  friend bool operator==(const device_configuration&, const device_configuration&) = default;
};

struct feed_configuration {
  fingerprint_kind fingerprint = fingerprint_kind::none;
  join_kind join = join_kind::exact;
  const cancellation* cancel = nullptr;
  std::chrono::nanoseconds cancel_grace = {};
  work_plan plan = work_plan::processor;
  std::vector<plan_prediction> predictions;  ///< the fastest first; empty without rates
  std::shared_ptr<const job_rates> rates;    ///< that are expected; may be null
  std::uint64_t lane_count = 1;              ///< of the processor
  std::vector<device_configuration> devices;
  /// Devices that are opened when the processor's lanes turn out so slow that they pay. Empty if there are others.
  std::vector<device_configuration> standby = {};
  /// Whether devices copy memory of a caller sooner if it is locked for the feed than from the ring.
  bool pays_to_pin = false;
  std::string device_warning = {};  ///< why the feed leaves out a device, or empty
  backend chunked_on = backend::scalar;
  backend fingerprinted_on = backend::scalar;
  /// Bytes that a lane fingerprints at a time after the join. Several lanes can share the chunks of a segment.
  std::uint64_t fingerprint_task_bytes = 512 * KiB;
  std::uint64_t segment_bytes = 0;
  std::uint64_t ring_bytes = 0;
  std::uint64_t memory_bytes = 0;  ///< that are allowed, without those for kept chunks
  std::uint64_t kept_memory_bytes = 0;
  bool has_select = false;                  ///< of the receiver
  std::uint64_t selection_bytes = 0;        ///< of the memory, for chunks that are selected ahead of their delivery
  std::uint64_t fill_limit = 0;             ///< bytes of the ring that are used at first
  std::uint64_t kept_lookbehind_bytes = 0;  ///< bytes that stay in the ring before the first undelivered chunk
  bool has_candidates = false;              ///< whether maps mark candidates
  intake_options intake = {};

  /// Lanes of the processor and of all devices, also on standby.
  [[nodiscard]] std::uint64_t all_lanes() const noexcept;
};

/// Segments whose candidates are marked begin at multiples of this many positions, so that they share no word of bits.
inline constexpr std::uint64_t segment_granule = 64;

/// The most room that a feed gives at a time, with several lanes and with one.
inline constexpr std::uint64_t most_room_shared = 1 * MiB;
inline constexpr std::uint64_t most_room_alone = 256 * KiB;
/// The most that one of several lanes reads at a time.
inline constexpr std::uint64_t most_read_by_lane = 512 * KiB;

/// The number of waiting segments that gives every lane something to take. From then on the feeding thread works too.
[[nodiscard]] std::uint64_t help_threshold_segments(const feed_configuration& configuration) noexcept;

/// Whether the plan `shared` is predicted to be enough faster than the processor alone.
[[nodiscard]] bool devices_pay(std::span<const plan_prediction> predictions);

/// The kind of work that devices are predicted to be faster with.
[[nodiscard]] work_kind faster_kind(std::span<const plan_prediction> predictions);

/// Returns an error if the back end cannot cut by several chunkers.
[[nodiscard]] status check_rules(const feed_options& options);

/// Chooses the plan and all sizes, for `thread_count` lanes of the processor. `options.devices` may be empty. A device
/// without rates is left out if another has rates. Errors: as `engine::open`.
[[nodiscard]] result<feed_configuration> make_feed_configuration(const feed_options& options,
                                                                 std::uint64_t thread_count,
                                                                 const chunk_receiver& receiver);

/// Returns what an error adds to the memory allowed, `memory_bytes`, if there is more memory for kept chunks.
[[nodiscard]] std::string kept_memory_note(std::uint64_t memory_bytes, std::uint64_t kept_memory_bytes);

}  // namespace cutpoint
