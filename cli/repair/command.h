// `cutpoint repair`: makes a damaged store consistent for what is left.
#pragma once

#include "cli/common/store_options.h"
#include "cli/common/subcommand.h"

namespace cutpoint::cli {

class repair_command final : public subcommand {
 public:
  void add_options(CLI::App& app) override;
  exit_code run() override;

 private:
  store_options store_;
  bool is_json_ = false;
};

}  // namespace cutpoint::cli
