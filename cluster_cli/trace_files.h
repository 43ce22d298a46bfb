// Chunk traces in files, for functions that read or write them, and the line of progress of this.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <type_traits>

#include <cutpoint/cluster/chunk_trace.h>
#include <cutpoint/source.h>
#include <fmt/format.h>

#include "cli/common/console.h"
#include "cli/common/output.h"

namespace cutpoint::cli {

/// Opens a trace and calls a function with its reader. Errors: those of opening, and of the function.
template <class Function>
std::invoke_result_t<Function, cluster::chunk_trace_reader&> with_trace(const std::string& path, Function&& function) {
  CUTPOINT_TRY(auto file, file_source::open(path, &interruption()));
  CUTPOINT_TRY(auto reader, cluster::chunk_trace_reader::open(file, path));
  return function(reader);
}

/// Writes a trace to an output: the function gets the writer, and returns how that went. Prints what failed. Returns the exit code.
template <class Function>
[[nodiscard]] result<exit_code> write_trace(output& out, const console& say, Function&& function) {
  if (out.is_terminal()) return usage_error("a chunk trace is not written to a terminal: give -o FILE");
  cluster::chunk_trace_writer writer([&](std::string_view bytes) { return out.write(bytes); });
  status outcome = out.begin();
  if (outcome.ok()) outcome = function(writer);
  if (outcome.ok()) outcome = writer.finish();
  if (outcome.ok()) outcome = out.finish();
  if (outcome.ok()) return exit_code::done;
  say.error(outcome.message());
  return outcome.code() == status_code::cancelled ? exit_code::interrupted : exit_code::input_failed;
}

/// Draws the line at most ten times a second, if the console shows progress, and erases it in the end. Thread-safe.
class chunk_progress {
 public:
  /// `total` is the number of chunks of all the work, or 0 if it is not known.
  chunk_progress(const console& say, std::uint64_t total) : say_(say), total_(total) {}
  chunk_progress(const chunk_progress&) = delete;
  chunk_progress& operator=(const chunk_progress&) = delete;
  ~chunk_progress() { say_.progress({}); }

  void add(std::uint64_t chunk_count) {
    const std::uint64_t count = count_.fetch_add(chunk_count, std::memory_order_relaxed) + chunk_count;
    if (!is_shown_) return;
    const std::unique_lock lock(mutex_, std::try_to_lock);
    const auto now = clock::now();
    if (!lock.owns_lock() || now < next_) return;
    next_ = now + std::chrono::milliseconds(100);
    const std::string share = total_ == 0 ? "" : fmt::format("{} %, ", 100 * std::min(count, total_) / total_);
    say_.progress(fmt::format("{}{}, {:.1f} million a second", share, counted(count, "chunk"),
                              as_double(count) / std::chrono::duration<double>(now - begin_).count() / 1e6));
  }

 private:
  using clock = std::chrono::steady_clock;

  const console& say_;
  std::uint64_t total_;
  bool is_shown_ = say_.shows_progress();
  clock::time_point begin_ = clock::now();
  std::atomic<std::uint64_t> count_ = 0;
  std::mutex mutex_;
  clock::time_point next_ = begin_;  ///< when the line is drawn again
};

}  // namespace cutpoint::cli
