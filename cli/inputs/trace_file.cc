// Writes each event as a line of JSON, through a buffer. Nothing is written after the first failure, which `finish` reports.
#include "cli/inputs/trace_file.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <exception>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "cli/common/json.h"

namespace cutpoint::cli {

// --- Events ----------------------------------------------------------------------------------------------------------

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

// --- Files -----------------------------------------------------------------------------------------------------------

namespace {

double seconds_between(std::chrono::steady_clock::time_point begin, std::chrono::steady_clock::time_point end) {
  return std::chrono::duration<double>(end - begin).count();
}

}  // namespace

// --- A feed ----------------------------------------------------------------------------------------------------------

feed_timeline::feed_timeline(trace_file& file, std::uint64_t number, std::string name)
    : file_(file), process_{.number = number}, name_(std::move(name)) {}

void feed_timeline::begin(std::chrono::steady_clock::time_point feed_begin,
                          std::span<const lane_record> lanes) noexcept {
  const std::lock_guard lock(file_.mutex_);
  if (!file_.first_opened_) file_.first_opened_ = feed_begin;
  feed_begin_ = feed_begin;
  process_.begin = seconds_between(*file_.first_opened_, feed_begin);
  lane_names_ = names_of(lanes);
}

std::string feed_timeline::names() const {
  std::string all = process_name_event(process_, name_);
  for (std::size_t lane = 0; lane < lane_names_.size(); ++lane) {
    all += std::string(next_trace_event) + thread_name_event(process_, lane, lane_names_[lane]);
  }
  return all;
}

/// Writes an event. The first one is preceded by the names, because the file must not be changed earlier.
template <class Event>
void feed_timeline::write(Event&& event) noexcept {
  const std::lock_guard lock(file_.mutex_);
  if (!file_.outcome_.ok() || file_.is_finished_) return;
  try {
    const std::string text = event();
    if (text.empty()) return;
    if (!std::exchange(is_named_, true)) file_.write(names());
    file_.write(text);
  } catch (const std::exception& failure) {  // memory
    file_.outcome_ = {status_code::memory_limit, fmt::format("{}: {}", file_.path_, failure.what())};
  }
}

void feed_timeline::take(const trace_span& span) noexcept {
  write([&] { return span_event(process_, span); });
}

void feed_timeline::take(const trace_levels& levels) noexcept {
  write([&] { return level_events(process_, levels, std::exchange(last_levels_, levels)); });
}

void feed_timeline::read(std::chrono::steady_clock::time_point begin, std::chrono::steady_clock::time_point end,
                         std::uint64_t bytes) noexcept {
  write([&] {
    return span_event(process_, 0, "reading", seconds_between(feed_begin_, begin), seconds_between(feed_begin_, end),
                      bytes);
  });
}

// --- The file --------------------------------------------------------------------------------------------------------

result<std::unique_ptr<trace_file>> trace_file::open(const std::string& path) {
  if (path.empty()) return usage_error("--trace: needs the name of a file");
  CUTPOINT_TRY(auto out, output::open(path));
  return std::unique_ptr<trace_file>(new trace_file(path, std::move(out)));
}

feed_timeline& trace_file::add(std::string name) {
  const std::lock_guard lock(mutex_);
  return feeds_.emplace_back(*this, feeds_.size() + 1, std::move(name));
}

void trace_file::write(std::string_view event) {
  const std::string_view before = is_begun_ ? next_trace_event : first_trace_event;
  if (!std::exchange(is_begun_, true)) outcome_ = out_.begin();
  if (outcome_.ok()) outcome_ = out_.write(before);
  if (outcome_.ok()) outcome_ = out_.write(event);
}

status trace_file::finish() {
  const std::lock_guard lock(mutex_);
  is_finished_ = true;
  if (!is_begun_) outcome_ = out_.begin();
  if (!is_begun_ && outcome_.ok()) outcome_ = out_.write(first_trace_event);
  if (outcome_.ok()) outcome_ = out_.write(last_trace_event);
  if (outcome_.ok()) outcome_ = out_.finish();
  return outcome_;
}

// --- The option ------------------------------------------------------------------------------------------------------

void trace_option::add_to(option_list& options) {
  options.add_value("--trace", path_, "FILE",
                    "Write a timeline of the lanes, which Perfetto and Chrome's trace viewer open");
}

result<std::unique_ptr<trace_file>> trace_option::open() const {
  return path_ ? trace_file::open(*path_) : std::unique_ptr<trace_file>();
}

status check_different_files(const trace_file* trace, const output& out) {
  if (trace == nullptr || !out.is_same_file(trace->path())) return {};
  return usage_error(fmt::format("--trace {}: is also the output of the results", trace->path()));
}

bool finish(trace_file* trace, const console& say) {
  const status outcome = trace != nullptr ? trace->finish() : status();
  if (!outcome.ok()) say.error(outcome.message());
  return outcome.ok();
}

}  // namespace cutpoint::cli
