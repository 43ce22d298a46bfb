// Words to the person at the terminal, on standard error, as quiet or as talkative as asked.
#pragma once

#include <mutex>
#include <string>
#include <string_view>

#include <CLI/CLI.hpp>
#include <cutpoint/status.h>

#include "cli/common/exit_code.h"

namespace cutpoint::cli {

/// Text on one line that a terminal only shows: the bytes of control characters, C1 included, and of characters that
/// change the direction of text are written as \xHH.
[[nodiscard]] std::string printable(std::string_view text);

enum class verbosity { quiet, normal, verbose };

/// Adds -q and -v; together they contradict each other.
void add_verbosity(CLI::App& command, verbosity& level);

/// From any thread. A line of progress stands below what was said, until the next, and goes before more is said.
class console {
 public:
  explicit console(verbosity level) noexcept : level_(level) {}

  /// Something failed. Always said.
  void error(std::string_view sentence) const;
  /// As `error`, for a run that ends before it has read anything. Returns the exit code for it: wrong usage, unless the
  /// system or the user ended it.
  [[nodiscard]] exit_code refuse(const status& why) const;
  /// Something was not as the user may think. Not said when quiet.
  void warning(std::string_view sentence) const;
  /// What was done. Said when verbose.
  void note(std::string_view sentence) const;

  /// Whether somebody watches: standard error is a terminal that can erase a line, and not to be quiet.
  [[nodiscard]] bool shows_progress() const;
  /// Shows a line in place of the last such line, as much of it as the terminal is wide; an empty one shows nothing.
  void progress(std::string_view line) const;

 private:
  void say(std::string_view kind, std::string_view sentence) const;

  verbosity level_;
  mutable std::mutex mutex_;
  mutable bool has_line_ = false;
};

}  // namespace cutpoint::cli
