// `cutpoint chunk`: the cut-points, and the fingerprints, of files, trees and standard input.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "cli/chunking_options.h"
#include "cli/console.h"
#include "cli/exit_code.h"

namespace cutpoint::cli {

class chunk_command {
 public:
  /// Adds the command; `run` is for when it was chosen.
  CLI::App* add_to(CLI::App& app);
  exit_code run();

 private:
  chunking_options chunking_;
  std::vector<std::string> paths_;
  std::string format_ = "text";
  std::string output_;
  bool follows_links_ = false;
  verbosity verbosity_ = verbosity::normal;
};

}  // namespace cutpoint::cli
