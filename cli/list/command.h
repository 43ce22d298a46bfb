// `cutpoint list`: algorithms, profiles, fingerprints and back ends, with their parameters and bounds.
#pragma once

#include <string>

#include <CLI/CLI.hpp>

#include "cli/common/exit_code.h"
#include "cli/common/output.h"

namespace cutpoint::cli {

class list_command {
 public:
  CLI::App* add_to(CLI::App& app);
  exit_code run();

 private:
  std::string name_;
  output_option output_;
  bool is_json_ = false;
};

}  // namespace cutpoint::cli
