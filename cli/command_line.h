// The definition of a command line: every subcommand with its options. It parses the words of the user, and cli/pages describes it.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>

#include <cutpoint/status.h>

#include "cli/common/options.h"
#include "cli/common/subcommand.h"
#include "cli/program.h"

namespace cutpoint::cli {

/// A subcommand and its options, which refer to it.
struct defined_command {
  explicit defined_command(const command_row& row);

  std::string meaning;
  option_list options;
  std::unique_ptr<subcommand> command;
};

/// The library that parses is known to the source of this class alone.
class command_line {
 public:
  explicit command_line(const program& definition);

  [[nodiscard]] const std::string& meaning() const { return meaning_; }
  /// Returns the options that the program has besides those of its subcommands.
  [[nodiscard]] const option_list& options() const { return options_; }
  [[nodiscard]] const std::deque<defined_command>& commands() const { return commands_; }

  /// Parses the words after the program's name, and writes values to the targets of the options. Returns the text that is asked for
  /// instead of a run: help or the version; otherwise `chosen` is known. Errors: a wrong command line, with what helps.
  [[nodiscard]] result<std::optional<std::string>> parse(int argc, char** argv);

  /// Returns the subcommand that the parsed words name.
  [[nodiscard]] subcommand& chosen() const { return *chosen_; }

 private:
  std::string meaning_;
  option_list options_;
  std::deque<defined_command> commands_;
  subcommand* chosen_ = nullptr;
};

}  // namespace cutpoint::cli
