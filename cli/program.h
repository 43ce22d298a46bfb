// A program with subcommands: parses the command line, runs the subcommand and returns its exit code.
#pragma once

#include <memory>
#include <vector>

namespace cutpoint::cli {

class subcommand;

struct command_row {
  const char* name;
  const char* meaning;
  std::unique_ptr<subcommand> (*make)();
};

/// A program with subcommands.
struct program {
  const char* name;
  const char* meaning;
  std::vector<command_row> commands;  ///< in the order of the help text
};

/// Runs a program and reports exceptions. Returns what `main` returns.
[[nodiscard]] int run_program(int argc, char** argv, const program& definition);

}  // namespace cutpoint::cli
