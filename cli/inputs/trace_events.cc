// Writes each event as a line of JSON.
#include "cli/inputs/trace_events.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "cli/common/json.h"

namespace cutpoint::cli {

namespace {

/// Formats seconds as microseconds with three decimals, several times as fast as formatting a double.
std::string microseconds(double seconds) {
  const auto nanoseconds = static_cast<std::uint64_t>(std::llround(std::max(0.0, seconds) * 1e9));
  return fmt::format("{}.{:03}", nanoseconds / 1000, nanoseconds % 1000);
}

std::string name_event(const trace_process& process, std::uint64_t lane, std::string_view kind, std::string_view name) {
  return fmt::format(R"({{"ph":"M","name":"{}_name","pid":{},"tid":{},"args":{{"name":{}}}}})", kind, process.number,
                     lane, json_string(name));
}

std::string counter_event(const trace_process& process, std::string_view time, std::string_view name,
                          std::uint64_t value) {
  return fmt::format(R"({{"ph":"C","name":"{}","pid":{},"tid":0,"ts":{},"args":{{"value":{}}}}})", name, process.number,
                     time, value);
}

}  // namespace

std::vector<std::string> names_of(std::span<const lane_record> lanes) {
  std::vector<std::string> names;
  std::map<int, std::uint64_t> counts;
  for (const lane_record& lane : lanes) {
    const std::uint64_t number = counts[lane.device]++;
    names.push_back(lane.device < 0 ? fmt::format("processor {}", number)
                                    : fmt::format("device {} stream {}", lane.device, number));
  }
  return names;
}

std::string process_name_event(const trace_process& process, std::string_view name) {
  return name_event(process, 0, "process", name) + std::string(next_trace_event) +
         fmt::format(R"({{"ph":"M","name":"process_sort_index","pid":{0},"tid":0,"args":{{"sort_index":{0}}}}})",
                     process.number);
}

std::string thread_name_event(const trace_process& process, std::uint64_t lane, std::string_view name) {
  return name_event(process, lane, "thread", name) + std::string(next_trace_event) +
         fmt::format(R"({{"ph":"M","name":"thread_sort_index","pid":{},"tid":{},"args":{{"sort_index":{}}}}})",
                     process.number, lane, lane);
}

std::string span_event(const trace_process& process, std::uint64_t lane, std::string_view what, double begin,
                       double end, std::uint64_t bytes) {
  return fmt::format(R"({{"ph":"X","name":"{}","pid":{},"tid":{},"ts":{},"dur":{},"args":{{"bytes":{}}}}})", what,
                     process.number, lane, microseconds(process.begin + begin), microseconds(end - begin), bytes);
}

std::string span_event(const trace_process& process, const trace_span& span) {
  const auto name = std::visit([](auto what) { return to_string(what); }, span.what);
  return span_event(process, span.lane, name, span.begin, span.end, span.bytes);
}

std::string level_events(const trace_process& process, const trace_levels& levels,
                         const std::optional<trace_levels>& before) {
  struct queue {
    std::string_view name;
    std::uint64_t trace_levels::*level;
  };
  constexpr std::array<queue, 4> queues = {{{"held bytes", &trace_levels::held_bytes},
                                            {"segments to map", &trace_levels::waiting_segments},
                                            {"bytes to fingerprint", &trace_levels::waiting_fingerprint_bytes},
                                            {"bytes to deliver", &trace_levels::waiting_delivery_bytes}}};
  const std::string time = microseconds(process.begin + levels.at);
  std::string out;
  for (const queue& each : queues) {
    if (before && levels.*each.level == (*before).*each.level) continue;
    if (!out.empty()) out += next_trace_event;
    out += counter_event(process, time, each.name, levels.*each.level);
  }
  return out;
}

}  // namespace cutpoint::cli
