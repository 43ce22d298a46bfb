// `cutpoint info`: shows processors, caches, memory nodes, devices, instruction sets, GPUs and costs.
#pragma once

#include <string>

#include <CLI/CLI.hpp>

#include "cli/common/cut_options.h"
#include "cli/common/exit_code.h"
#include "cli/common/hash_options.h"
#include "cli/common/output.h"
#include "cli/common/subcommand.h"

namespace cutpoint::cli {

class info_command final : public subcommand {
 public:
  void add_options(CLI::App& app) override;
  exit_code run() override;

 private:
  cut_options cuts_;
  hash_options hash_;
  output_option output_;
  bool is_json_ = false;
  bool calibrates_ = false;
};

}  // namespace cutpoint::cli
