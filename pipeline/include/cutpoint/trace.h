// The trace of a feed: when each lane did what, and how full the queues were.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <string_view>
#include <variant>

#include <cutpoint/engine.h>

namespace cutpoint {

/// The steps of a batch on a device.
enum class device_step { copy_in, cutting, fingerprinting, copy_out };
[[nodiscard]] std::string_view to_string(device_step which) noexcept;

/// A span of time that a lane spent on a stage, or a device on a step of a batch. The spans of one lane's stages do not
/// overlap, and their sums are the feed's `lane_record`s. The steps of a batch lie within the span of the lane's stage.
struct trace_span {
  std::uint64_t lane = 0;  ///< index in `feed_statistics::lanes`
  int device = -1;         ///< number of the GPU that the lane belongs to; -1 for a processor lane
  std::variant<stage, device_step> what = stage::intake;
  double begin = 0;  ///< seconds since the feed was opened, by the steady clock
  double end = 0;    ///< on the same clock
  std::uint64_t bytes = 0;
};

/// How full the queues of a feed are at one moment.
struct trace_levels {
  double at = 0;                                ///< seconds since the feed was opened
  std::uint64_t held_bytes = 0;                 ///< bytes of the ring that are in use
  std::uint64_t waiting_segments = 0;           ///< segments that wait to be mapped
  std::uint64_t waiting_fingerprint_bytes = 0;  ///< bytes of chunks that wait to be fingerprinted after the join
  std::uint64_t waiting_delivery_bytes = 0;     ///< bytes of chunks that wait to be delivered
};

/// Receives the trace of one feed. The engine makes one call at a time, from any of its threads, while it holds its
/// lock. So calls should be short, and must not throw or call the engine. A span is delivered when the lane's task is
/// done; therefore neither spans nor levels come in the order of time.
class trace_receiver {
 public:
  virtual ~trace_receiver() = default;
  /// Is called once, before all other calls. `opening_time` is the time 0 of the trace. `lanes` are the feed's lanes, valid
  /// during the call.
  virtual void begin(std::chrono::steady_clock::time_point opening_time,
                     std::span<const lane_record> lanes) noexcept = 0;
  virtual void take(const trace_span& span) noexcept = 0;
  virtual void take(const trace_levels& levels) noexcept = 0;
};

}  // namespace cutpoint
