// The whole command line: every subcommand with its options. What runs it, what describes it (cli/pages) and the tests
// of both start from here.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "cli/common/exit_code.h"
#include "cli/common/subcommand.h"

namespace cutpoint::cli {

/// The parsed words write to the commands, so that it stays where it is.
class command_line {
 public:
  command_line();

  [[nodiscard]] CLI::App& app() { return app_; }
  [[nodiscard]] const CLI::App& app() const { return app_; }

  /// Runs the command that the parsed words have chosen.
  [[nodiscard]] exit_code run_chosen();

 private:
  CLI::App app_;
  std::vector<std::pair<CLI::App*, std::unique_ptr<subcommand>>> commands_;
};

}  // namespace cutpoint::cli
