// Messages and progress on standard error.
#pragma once

#include <mutex>
#include <string>
#include <string_view>

#include <cutpoint/status.h>

#include "cli/common/exit_code.h"

namespace cutpoint::cli {

/// Replaces the bytes of control characters (C1 included), and of characters that change the direction of text, by
/// \xHH.
[[nodiscard]] std::string printable(std::string_view text);

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
  /// Prints the error that ends a run before it reads anything. Returns its exit code: wrong usage, unless the system
  /// or the user ended the run.
  [[nodiscard]] exit_code refuse(const status& why) const;
  /// Prints a warning, unless quiet.
  void warning(std::string_view sentence) const;
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

}  // namespace cutpoint::cli
