// The whole command line: every command with its options. What runs it and what describes it (cli/pages) start from here.
#pragma once

#include <CLI/CLI.hpp>

#include "cli/bench/command.h"
#include "cli/chunk/command.h"
#include "cli/common/exit_code.h"
#include "cli/dedup/command.h"
#include "cli/info/command.h"
#include "cli/list/command.h"
#include "cli/tune/command.h"

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
