// Events in Chrome's trace event format (JSON), which chrome://tracing and Perfetto open. Times are in microseconds
// with three decimals.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <cutpoint/trace.h>

namespace cutpoint::cli {

/// Returns names such as "processor 0" and "device 0 stream 1".
[[nodiscard]] std::vector<std::string> names_of(std::span<const lane_record> lanes);

/// A process of the timeline, which stands for a feed. Its threads stand for the lanes.
struct trace_process {
  std::uint64_t number = 1;
  double begin = 0;  ///< seconds from the start of the timeline to the start of the feed
};

/// Return the events that name a process or a thread and set its place among the others.
[[nodiscard]] std::string process_name_event(const trace_process& process, std::string_view name);
[[nodiscard]] std::string thread_name_event(const trace_process& process, std::uint64_t lane, std::string_view name);

/// Returns a span from `begin` to `end`, in seconds of the feed.
[[nodiscard]] std::string span_event(const trace_process& process, std::uint64_t lane, std::string_view what,
                                     double begin, double end, std::uint64_t bytes);
[[nodiscard]] std::string span_event(const trace_process& process, const trace_span& span);
/// Returns a counter for each queue whose level differs from `before`.
[[nodiscard]] std::string level_events(const trace_process& process, const trace_levels& levels,
                                       const std::optional<trace_levels>& before);

// The text before the first event, between two events and after the last one.
inline constexpr std::string_view first_trace_event = "[\n";
inline constexpr std::string_view next_trace_event = ",\n";
inline constexpr std::string_view last_trace_event = "\n]\n";

}  // namespace cutpoint::cli
