// Messages and progress on standard error, the exit codes, and Ctrl-C.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

#include <cutpoint/report_text.h>
#include <cutpoint/source.h>
#include <cutpoint/status.h>

namespace cutpoint::cli {

enum class exit_code : int {
  done = 0,
  input_failed = 1,  ///< an input, the output or the system failed; all other work is done
  wrong_usage = 2,   ///< an option, a name or a bound is wrong; no input was read
  interrupted = 130,
};

// --- Ctrl-C ----------------------------------------------------------------------------------------------------------

/// Returns the cancellation that the first SIGINT or SIGTERM requests. The first call installs the handlers.
[[nodiscard]] const cancellation& interruption();
/// Returns whether it is requested, and installs nothing.
[[nodiscard]] bool is_interrupted() noexcept;

// --- Messages --------------------------------------------------------------------------------------------------------

enum class verbosity { quiet, normal, verbose };

/// Prints messages, from any thread. A line of progress stays below the messages and is erased before the next one.
class console {
 public:
  explicit console(verbosity level) noexcept : level_(level) {}
  console(const console&) = delete;
  console& operator=(const console&) = delete;
  /// Erases the line of progress.
  ~console() { progress({}); }

  /// Sets the name that the messages of all consoles begin with; "cutpoint" if it is not called. The text must outlive them.
  /// Called before the program has threads.
  static void name_program(std::string_view name) { program_name = name; }

  /// Prints that something failed, at every verbosity.
  void error(std::string_view sentence) const;
  /// Prints that there is no memory, and needs none.
  void report_no_memory() const noexcept;
  /// Prints the error that ends a run before it reads anything. Returns its exit code: wrong usage, unless the system
  /// or the user ended the run.
  [[nodiscard]] exit_code refuse(const status& why) const;
  /// Prints a warning, unless quiet.
  void warning(std::string_view sentence) const;
  /// Warns of a pattern to exclude that matched nothing, if verbose or in a dry run: a backup of each night would mail it each night.
  void unmatched_pattern(std::string_view sentence, bool is_dry_run) const {
    if (is_dry_run || level_ == verbosity::verbose) warning(sentence);
  }
  /// Prints what was done, if verbose.
  void note(std::string_view sentence) const;

  /// Prints what is about to be done.
  void announce(std::string_view sentence) const { say({}, sentence); }

  [[nodiscard]] bool is_quiet() const { return level_ == verbosity::quiet; }
  /// Returns whether progress is shown: not if quiet, and only on a terminal that can erase a line.
  [[nodiscard]] bool shows_progress() const;
  /// Replaces the line of progress, cut to the width of the terminal. An empty line erases it.
  void progress(std::string_view line) const;

 private:
  void say(std::string_view kind, std::string_view sentence) const;

  static inline std::string_view program_name = "cutpoint";

  verbosity level_;
  mutable std::mutex mutex_;
  mutable bool has_line_ = false;
};

// --- Problems of files -----------------------------------------------------------------------------------------------

/// Prints each problem as it comes, but of those with the same reason only the first ten, unless verbose. Not thread-safe.
class problem_log {
 public:
  /// `say` must outlive the log.
  problem_log(const console& say, verbosity level) : say_(say), prints_all_(level == verbosity::verbose) {}

  void add(const std::string& path, const status& why);
  /// Prints how many problems were not printed, for each reason.
  void finish();

  /// Returns the message of the first problem, or an empty string.
  [[nodiscard]] const std::string& first() const { return first_; }
  [[nodiscard]] std::uint64_t count() const { return count_; }

 private:
  const console& say_;
  bool prints_all_;
  std::string first_;
  std::uint64_t count_ = 0;
  std::map<std::string, std::uint64_t> counts_;  ///< by reason
};

/// Returns a message about a path in one line. It has the path once, also if the error begins with it.
[[nodiscard]] std::string problem_text(const std::string& path, const status& why);

}  // namespace cutpoint::cli
