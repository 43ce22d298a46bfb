// The inputs of the commands that cut: options, a feeder that prints what it does, and the line of progress.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <cutpoint/engine.h>
#include <cutpoint/file_reader.h>
#include <cutpoint/inputs.h>
#include <cutpoint/status.h>
#include <cutpoint/walk.h>

#include "cli/common/console.h"
#include "cli/common/options.h"
#include "cli/common/output.h"
#include "cli/inputs/trace_file.h"
#include "cli/options/chunking_options.h"
#include "cli/options/path_options.h"

namespace cutpoint::cli {

// --- Inputs ----------------------------------------------------------------------------------------------------------

/// What happens to a file that is reached under a second name.
enum class further_names { read, skip };

/// The options that choose what is read, and how.
class input_options {
 public:
  explicit input_options(further_names repeats) : repeats_(repeats) {}

  void add_to(option_list& options);

  /// Reads lists of paths. Must be called before the functions below. Errors: as for `path_options::load`.
  [[nodiscard]] status load() { return paths_.load(); }
  /// Sets the inputs, of which only those are read that are no folders.
  void set_files(std::vector<std::string> paths);

  [[nodiscard]] bool is_given() const { return paths_.is_given(); }
  [[nodiscard]] const std::vector<std::string>& paths() const { return paths_.paths(); }
  [[nodiscard]] further_names repeats() const { return repeats_; }

  [[nodiscard]] bool reads_folders() const { return reads_folders_; }
  [[nodiscard]] symlinks links() const { return follows_links_ ? symlinks::follow : symlinks::skip; }
  /// Returns what to read of a folder. Errors: invalid_argument, for a malformed pattern.
  [[nodiscard]] result<walk_options> walk() const;

  /// Checks the inputs. Errors: a malformed pattern; an input that is also the output or the trace; an output that is
  /// also the trace.
  [[nodiscard]] status check(const output& out, const trace_file* trace) const;

  /// Makes a reader, whose memory is taken from the feed of `job`. Errors: an unknown name; an access that the system
  /// or the memory does not allow.
  [[nodiscard]] result<file_reader> make_reader(chunking& job) const;

 private:
  further_names repeats_;
  path_options paths_;
  bool reads_folders_ = true;
  std::string access_ = "auto";
  bool follows_links_ = false;
  walk_filter filter_;
};

[[nodiscard]] std::vector<std::string_view> input_names();

/// Feeds inputs to one feed or to two. Belongs to the feeding thread.
class console_feeder : private input_observer {
 public:
  /// All arguments must outlive the feeder. `copy` is the second feed, or null. `context` may be null.
  console_feeder(feed& destination, feed* copy, file_reader& reader, input_receiver& receiver,
                 const input_options& inputs, const output& out, const console& say,
                 const chunking_context* context = nullptr);

  /// Adds the times of reading to `timeline`, the first feed's, and skips `file` among the inputs.
  void trace(const trace_file& file, feed_timeline& timeline) {
    trace_ = &file.file();
    timeline_ = &timeline;
  }
  /// Sets a function that is called repeatedly during reading.
  void watch(std::function<void(const reading_record&)> watcher) { watcher_ = std::move(watcher); }

  /// Feeds all inputs and waits until all chunks are delivered. Errors: what ended the feed; cancelled, if the user
  /// asked to stop: the chunks of what was read are delivered then too.
  [[nodiscard]] status feed_all();

  [[nodiscard]] const reading_record& record() const { return feeder_.record(); }
  /// Returns how many links, devices and other files were skipped.
  [[nodiscard]] std::uint64_t other_kind_count() const { return other_kind_count_; }

 private:
  bool takes(const tree_entry& entry) override;
  void passed_over(const std::string& path, file_kind kind) override;
  void repeated(const std::string& path) override;
  void left_out(const std::string& path, omission why) override;
  void matched(std::size_t pattern) override { exclude_->set_matched(pattern); }
  void read(std::chrono::steady_clock::time_point begin, std::chrono::steady_clock::time_point end,
            std::uint64_t bytes) override;
  void progressed(const reading_record& record) override;

  feed& destination_;
  file_reader& reader_;
  const input_options& inputs_;
  const output& out_;
  const console& say_;
  std::function<void(const reading_record&)> watcher_;
  std::optional<pattern_list> exclude_;  ///< during `feed_all`
  const output* trace_ = nullptr;
  feed_timeline* timeline_ = nullptr;
  repeated_file_filter repeats_;
  std::uint64_t other_kind_count_ = 0;
  input_feeder feeder_;
};

// --- Progress --------------------------------------------------------------------------------------------------------

/// The contents of a line of progress.
struct progress_facts {
  std::uint64_t bytes = 0;
  std::optional<std::uint64_t> total_bytes = {};
  double seconds = 0;  ///< since the start
  std::optional<double> savings = {};
};

/// Formats the line in at most 40 columns. It shows the share and the time left if the total is known, else the bytes;
/// then the rate, and the savings if they are known.
[[nodiscard]] std::string progress_text(const progress_facts& facts);

/// Draws the line at most ten times a second, if the console shows progress. For one thread.
class progress_line {
 public:
  /// `total_bytes` is the size of all inputs.
  progress_line(const console& say, std::optional<std::uint64_t> total_bytes);

  void update(const reading_record& read, std::optional<double> savings);
  void clear() const { say_.progress({}); }

 private:
  using clock = std::chrono::steady_clock;

  const console& say_;
  bool is_shown_;
  std::optional<std::uint64_t> total_bytes_;
  clock::time_point begin_ = clock::now();
  clock::time_point next_ = begin_;
};

/// Returns the total size of the inputs. Returns nullopt if an input is no regular file, or if all are empty.
[[nodiscard]] std::optional<std::uint64_t> known_total(const input_options& inputs);

}  // namespace cutpoint::cli
