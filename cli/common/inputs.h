// The inputs of the commands that cut: options that say what is read, and a feeder that tells the person at the terminal
// what it does.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>
#include <cutpoint/engine.h>
#include <cutpoint/file_reader.h>
#include <cutpoint/inputs.h>
#include <cutpoint/status.h>
#include <cutpoint/walk.h>

#include "cli/common/chunking_options.h"
#include "cli/common/console.h"
#include "cli/common/output.h"
#include "cli/dedup/trace_file.h"

namespace cutpoint::cli {

inline constexpr std::string_view standard_input_path = "-";

/// The options that say what is read.
class input_options {
 public:
  void add_to(CLI::App& command);

  [[nodiscard]] const std::vector<std::string>& paths() const { return paths_; }

  /// What of a directory is read. Errors: invalid_argument, for a pattern that is none.
  [[nodiscard]] result<walk_options> walk() const;

  /// Errors: a pattern is none; standard input is given twice, or an input is what results or the trace, if any, are
  /// written to; or these are one file.
  [[nodiscard]] status check(const output& out, const trace_file* trace) const;

  /// Reads files as asked for, in memory that is taken from the feed of `job`. Errors: a name that is none; an access
  /// that cannot be had here, or in so little memory.
  [[nodiscard]] result<file_reader> make_reader(chunking& job) const;

 private:
  std::vector<std::string> paths_;
  std::string access_ = "auto";
  bool follows_links_ = false;
  std::vector<std::string> excluded_;
  std::vector<std::string> included_;
  bool is_on_one_file_system_ = false;
  bool excludes_caches_ = false;
};

/// The names that --input takes.
[[nodiscard]] std::vector<std::string_view> input_names();

/// Feeds inputs, and a second feed with the same streams where there is one. Of the feeding thread.
class console_feeder : private input_observer {
 public:
  /// All must outlive it. `copy` may be null.
  console_feeder(feed& destination, feed* copy, file_reader& reader, input_receiver& receiver, const output& out,
                 const console& say);

  /// `timeline` is that of the first feed, in which reading is told too; the file is not read.
  void trace(const trace_file& file, feed_timeline& timeline) {
    trace_ = &file.file();
    timeline_ = &timeline;
  }
  /// Is called now and then while there is something to read.
  void watch(std::function<void(const reading_record&)> watcher) { watcher_ = std::move(watcher); }

  /// Feeds what the paths stand for and waits until all has come out. Errors: what ended the feed; cancelled, when the
  /// person at the terminal asked to stop: what was read by then has come out all the same.
  [[nodiscard]] status feed_all(const input_options& inputs);

  [[nodiscard]] const reading_record& record() const { return feeder_.record(); }

 private:
  bool takes(const tree_entry& entry) override;
  void passed_over(const std::string& path, file_kind kind) override;
  void left_out(const std::string& path, omission why) override;
  void read(std::chrono::steady_clock::time_point begin, std::chrono::steady_clock::time_point end,
            std::uint64_t bytes) override;
  void progressed(const reading_record& record) override;

  feed& destination_;
  file_reader& reader_;
  const output& out_;
  const console& say_;
  std::function<void(const reading_record&)> watcher_;
  const output* trace_ = nullptr;
  feed_timeline* timeline_ = nullptr;
  input_feeder feeder_;
};

}  // namespace cutpoint::cli
