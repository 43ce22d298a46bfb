// What several subcommands on a store print: the line of progress, settings, changed snapshots, prunes.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include <cutpoint/store.h>

#include "cli/common/console.h"
#include "cli/common/json.h"
#include "cli/common/output.h"

namespace cutpoint::cli {

/// Formats the line: the activity, the share and the time left if a total is known, the rate, the items, and the present one.
[[nodiscard]] std::string activity_text(const store_progress& progress, double seconds);

/// Draws the line at most ten times a second, if the console shows progress. For one operation.
class activity_line {
 public:
  /// `say` must outlive the line.
  explicit activity_line(const console& say) : say_(say), is_shown_(say.shows_progress()) {}

  /// Returns what draws the line, which must outlive it; an empty function if nothing is shown.
  [[nodiscard]] store_progress_function drawer();
  void erase() const { say_.progress({}); }
  /// Says `summary` and how long all took, if progress is shown.
  void finish(std::string_view summary) const;

 private:
  using clock = std::chrono::steady_clock;

  void draw(const store_progress& progress);

  const console& say_;
  bool is_shown_;
  std::string_view activity_;
  clock::time_point begin_ = clock::now();
  clock::time_point activity_begin_ = begin_;
  clock::time_point next_ = begin_ + std::chrono::milliseconds(100);
};

/// Returns a count of what containers have, which is chunks and nodes.
[[nodiscard]] std::string counted_records(std::uint64_t count);

/// Returns a line for each setting, and for each rule of the context.
[[nodiscard]] std::string settings_lines(const store_settings& settings);

/// Returns a list of the rules of a context.
[[nodiscard]] json context_json(const chunking_context& context);

/// Lines as soon as there is something to say, for people or in JSON, with restic's keys where they mean the same; no text if quiet. Not
/// thread-safe.
class edit_report {
 public:
  enum class format { text, json };

  /// The arguments must outlive the report.
  edit_report(const console& say, output& out, format chosen) : say_(say), out_(out), format_(chosen) {}

  void add_edited(const std::string& old_id, const std::string& new_id);
  void add_left_out(const std::string& snapshot, const std::string& path);
  void add_problem(const std::string& snapshot, const status& why);

  /// Prints the sum, and returns the exit code of the command. `is_whole` says whether all snapshots were found.
  [[nodiscard]] result<exit_code> finish(const result<store_edit_summary>& done, std::string_view sum, bool is_whole);

 private:
  void write(const std::string& line) {
    if (say_.is_quiet() && format_ == format::text) return;
    if (written_.ok()) written_ = out_.write(line);
  }

  const console& say_;
  output& out_;
  format format_;
  status written_;
};

/// Returns what a prune did, or what it would do if `options` ask for a dry run, in sentences.
[[nodiscard]] std::string prune_text(const store_prune_summary& done, const store_prune_options& options);
inline constexpr std::string_view interrupted_prune = "all snapshots are whole; the next prune goes on";
[[nodiscard]] json prune_json(const store_prune_summary& done);
/// Returns how a command ends after a prune whose report ended with `written`.
[[nodiscard]] exit_code exit_code_of(const store_prune_summary& done, exit_code written);

}  // namespace cutpoint::cli
