// A program with subcommands: the interface of these, the definition of the command line, and its run.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <cutpoint/status.h>

#include "cli/common/console.h"
#include "cli/common/options.h"

namespace cutpoint::cli {

/// A subcommand. Parsed options are written to its members, so the object must not move.
class subcommand {
 public:
  subcommand() = default;
  subcommand(const subcommand&) = delete;
  subcommand& operator=(const subcommand&) = delete;
  virtual ~subcommand() = default;

  virtual void add_options(option_list& options) = 0;
  /// Does what the parsed options ask for. Errors: what ends the run, which is not printed yet; it decides the exit code
  /// (`console::refuse`).
  virtual result<exit_code> run() = 0;

  /// How many words the command line has after '--', none of which is an option; nullopt without '--'. Known before `run`.
  std::optional<std::size_t> words_after_options;
};

struct command_row {
  const char* name;
  const char* meaning;
  std::unique_ptr<subcommand> (*make)();
};

struct program {
  const char* name;
  const char* meaning;
  std::vector<command_row> commands;  ///< in the order of the help text
};

/// Runs a program and reports exceptions. Returns what `main` returns.
[[nodiscard]] int run_program(int argc, char** argv, const program& definition);

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
