// The whole command line: every command with its options. What runs it and what describes it (cli/pages) start from here.
#pragma once

#include <CLI/CLI.hpp>

#include "cli/bench_command.h"
#include "cli/chunk_command.h"
#include "cli/dedup_command.h"
#include "cli/exit_code.h"
#include "cli/info_command.h"
#include "cli/list_command.h"
#include "cli/tune_command.h"

namespace cutpoint::cli {

/// Options write to the commands beside them, so that it stays where it is.
struct command_line {
  command_line();
  command_line(const command_line&) = delete;
  command_line& operator=(const command_line&) = delete;

  /// The command that the parsed words have chosen.
  exit_code run_chosen();

  CLI::App app;
  chunk_command chunk;
  dedup_command dedup;
  tune_command tune;
  bench_command bench;
  list_command list;
  info_command info;
};

}  // namespace cutpoint::cli
