// Runs a program: parses the command line, runs the subcommand and returns its exit code.
#pragma once

#include "cli/command_line.h"

namespace cutpoint::cli {

/// Runs a program and reports exceptions. Returns what `main` returns.
[[nodiscard]] int run_program(int argc, char** argv, const program& definition);

}  // namespace cutpoint::cli
