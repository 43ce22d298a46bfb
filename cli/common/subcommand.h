// What every subcommand is.
#pragma once

#include <CLI/CLI.hpp>

#include "cli/common/exit_code.h"

namespace cutpoint::cli {

/// A subcommand. Its options write to the object, which stays where it is.
class subcommand {
 public:
  subcommand() = default;
  subcommand(const subcommand&) = delete;
  subcommand& operator=(const subcommand&) = delete;
  virtual ~subcommand() = default;

  virtual void add_options(CLI::App& app) = 0;
  /// What the parsed options ask for.
  virtual exit_code run() = 0;
};

}  // namespace cutpoint::cli
