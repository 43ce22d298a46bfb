// The interface of subcommands.
#pragma once

#include <cstddef>
#include <optional>

#include "cli/common/exit_code.h"
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

}  // namespace cutpoint::cli
