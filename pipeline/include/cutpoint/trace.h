// What the lanes of a feed do when: spans of time, and how full its queues are in between.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <string_view>
#include <variant>

#include <cutpoint/engine.h>

namespace cutpoint {

/// What a device does with a batch, while its lane waits.
enum class device_step { copy_in, cutting, fingerprinting, copy_out };
[[nodiscard]] std::string_view to_string(device_step which) noexcept;

/// What a lane does at a time. Spans of stages of one lane do not overlap, and their sums are the feed's `lane_record`s.
/// The steps of a device's batch lie within the span of its stage.
struct trace_span {
  std::uint64_t lane = 0;  ///< as in `feed_statistics::lanes`
  int device = -1;         ///< the GPU whose lane it is; -1 for the processor's
  std::variant<stage, device_step> what = stage::intake;
  double begin = 0;  ///< seconds since the feed was opened, by the steady clock
  double end = 0;
  std::uint64_t bytes = 0;
};

/// How much waits at a moment.
struct trace_levels {
  double at = 0;                                ///< seconds since the feed was opened
  std::uint64_t held_bytes = 0;                 ///< of the ring
  std::uint64_t waiting_segments = 0;           ///< that are to be mapped
  std::uint64_t waiting_fingerprint_bytes = 0;  ///< that were joined and are to be fingerprinted
  std::uint64_t waiting_delivery_bytes = 0;     ///< that are to come out
};

/// Takes a feed's timeline. One call at a time, from any of the engine's threads and under its lock: calls should be
/// short, and must not throw or call the engine. Spans come when the lane's task is done, so neither they nor levels are
/// in the order of time.
class trace_receiver {
 public:
  virtual ~trace_receiver() = default;
  /// Once, before all others: when the feed was opened, and its lanes.
  virtual void begin(std::chrono::steady_clock::time_point opened, std::span<const lane_record> lanes) noexcept = 0;
  virtual void take(const trace_span& span) noexcept = 0;
  virtual void take(const trace_levels& levels) noexcept = 0;
};

}  // namespace cutpoint
