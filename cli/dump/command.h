// `cutpoint dump`: writes a file of a snapshot to standard output.
#pragma once

#include <string>

#include "cli/common/output.h"
#include "cli/common/store_options.h"
#include "cli/common/subcommand.h"

namespace cutpoint::cli {

class dump_command final : public subcommand {
 public:
  void add_options(CLI::App& app) override;
  exit_code run() override;

 private:
  store_options store_;
  std::string what_;
  output_option output_;
};

}  // namespace cutpoint::cli
