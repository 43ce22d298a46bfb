// `--trace FILE`: the timelines of feeds in Chrome's trace event format (JSON), which chrome://tracing and Perfetto open.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <cutpoint/status.h>
#include <cutpoint/trace.h>

#include "cli/common/options.h"
#include "cli/common/output.h"

namespace cutpoint::cli {

// --- Events ----------------------------------------------------------------------------------------------------------

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

// --- Files -----------------------------------------------------------------------------------------------------------

class trace_file;

/// The timeline of one feed. Called from any thread.
class feed_timeline final : public trace_receiver {
 public:
  feed_timeline(trace_file& file, std::uint64_t number, std::string name);

  void begin(std::chrono::steady_clock::time_point feed_begin, std::span<const lane_record> lanes) noexcept override;
  void take(const trace_span& span) noexcept override;
  void take(const trace_levels& levels) noexcept override;

  /// Adds a time in which the feeding thread read and did nothing for the feed.
  void read(std::chrono::steady_clock::time_point begin, std::chrono::steady_clock::time_point end,
            std::uint64_t bytes) noexcept;

 private:
  template <class Event>
  void write(Event&& event) noexcept;
  [[nodiscard]] std::string names() const;

  trace_file& file_;
  trace_process process_;
  std::string name_;
  std::vector<std::string> lane_names_;
  std::chrono::steady_clock::time_point feed_begin_ = {};
  bool is_named_ = false;
  std::optional<trace_levels> last_levels_;
};

/// The file. Memory does not grow with the trace. An existing file stays as it is until the first event or `finish`.
class trace_file {
 public:
  /// Opens the file. Errors: invalid_argument, for an empty path; io_error.
  [[nodiscard]] static result<std::unique_ptr<trace_file>> open(const std::string& path);

  trace_file(const trace_file&) = delete;
  trace_file& operator=(const trace_file&) = delete;

  /// Adds the timeline of the next feed. It lives as long as the file.
  [[nodiscard]] feed_timeline& add(std::string name);

  [[nodiscard]] const output& file() const { return out_; }
  [[nodiscard]] const std::string& path() const { return path_; }

  /// Writes the end and closes the file; later events are dropped. Errors: the first error of this file.
  [[nodiscard]] status finish();

 private:
  friend class feed_timeline;
  trace_file(std::string path, output out) : path_(std::move(path)), out_(std::move(out)) {}
  void write(std::string_view event);

  std::string path_;
  std::mutex mutex_;
  output out_;
  status outcome_;
  bool is_begun_ = false;
  bool is_finished_ = false;
  std::deque<feed_timeline> feeds_;
  std::optional<std::chrono::steady_clock::time_point> first_opened_;
};

/// The option `--trace`.
class trace_option {
 public:
  void add_to(option_list& options);
  [[nodiscard]] bool is_given() const { return path_.has_value(); }
  /// Opens the file. Returns null if the option is not given. Errors: as `trace_file::open`.
  [[nodiscard]] result<std::unique_ptr<trace_file>> open() const;

 private:
  std::optional<std::string> path_;
};

/// Checks that the trace and the results have different files. Errors: invalid_argument.
[[nodiscard]] status check_different_files(const trace_file* trace, const output& out);

/// Finishes the trace, if there is one. Prints errors, and returns false if there was one.
[[nodiscard]] bool finish(trace_file* trace, const console& say);

}  // namespace cutpoint::cli
