// The events of a timeline in Chrome's trace event format (JSON), which chrome://tracing and Perfetto open. Times are in
// microseconds, to the nanosecond.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <cutpoint/trace.h>

namespace cutpoint::cli {

/// "processor 0", "device 0 stream 1": the number of a lane among those of the processor or of its device.
[[nodiscard]] std::vector<std::string> names_of(std::span<const lane_record> lanes);

/// Of a process of the timeline, which is a feed; its threads are the lanes.
struct trace_process {
  std::uint64_t number = 1;
  double begin = 0;  ///< seconds from the timeline's beginning to the feed's
};

/// A process's name, and its place among the others.
[[nodiscard]] std::string process_name_event(const trace_process& process, std::string_view name);
[[nodiscard]] std::string thread_name_event(const trace_process& process, std::uint64_t lane, std::string_view name);

/// A span of anything, from `begin` to `end` seconds of the feed.
[[nodiscard]] std::string span_event(const trace_process& process, std::uint64_t lane, std::string_view what,
                                     double begin, double end, std::uint64_t bytes);
[[nodiscard]] std::string span_event(const trace_process& process, const trace_span& span);
/// A counter for each of the queues that is not as full as `before`; empty where all are.
[[nodiscard]] std::string level_events(const trace_process& process, const trace_levels& levels,
                                       const std::optional<trace_levels>& before);

/// What comes before the first event, between two, and after the last: an array.
inline constexpr std::string_view first_trace_event = "[\n";
inline constexpr std::string_view next_trace_event = ",\n";
inline constexpr std::string_view last_trace_event = "\n]\n";

}  // namespace cutpoint::cli
