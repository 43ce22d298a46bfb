// The definition of the command line: every subcommand with its options. program.cc runs it and cli/pages describes it.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "cli/common/exit_code.h"
#include "cli/common/subcommand.h"
#include "cli/program.h"

namespace cutpoint::cli {

/// Parsing writes to the commands, so the object must not move.
class command_line {
 public:
  explicit command_line(const program& definition);

  [[nodiscard]] CLI::App& app() { return app_; }
  [[nodiscard]] const CLI::App& app() const { return app_; }

  /// Runs the command that the parsed words name. `words_after_options` is that of `subcommand`.
  [[nodiscard]] exit_code run_chosen(std::optional<std::size_t> words_after_options);

 private:
  CLI::App app_;
  std::vector<std::pair<CLI::App*, std::unique_ptr<subcommand>>> commands_;
};

}  // namespace cutpoint::cli
