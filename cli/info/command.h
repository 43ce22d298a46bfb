// `cutpoint info`: processors, caches, memory nodes, devices, instruction sets, GPUs, costs.
#pragma once

#include <string>

#include <CLI/CLI.hpp>

#include "cli/common/exit_code.h"
#include "cli/common/output.h"

namespace cutpoint::cli {

class info_command {
 public:
  CLI::App* add_to(CLI::App& app);
  exit_code run();

 private:
  output_option output_;
  bool is_json_ = false;
  bool calibrates_ = false;
};

}  // namespace cutpoint::cli
