// `cutpoint list`: shows algorithms, profiles, fingerprints and back ends, with parameters and bounds.
#pragma once

#include <string>

#include <CLI/CLI.hpp>

#include "cli/common/exit_code.h"
#include "cli/common/output.h"
#include "cli/common/subcommand.h"

namespace cutpoint::cli {

class list_command final : public subcommand {
 public:
  void add_options(CLI::App& app) override;
  exit_code run() override;

 private:
  std::string name_;
  output_option output_;
  bool is_json_ = false;
};

}  // namespace cutpoint::cli
