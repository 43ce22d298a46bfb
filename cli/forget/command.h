// `cutpoint forget`: removes snapshots.
#pragma once

#include <string>
#include <vector>

#include "cli/common/store_options.h"
#include "cli/common/subcommand.h"

namespace cutpoint::cli {

class forget_command final : public subcommand {
 public:
  void add_options(CLI::App& app) override;
  exit_code run() override;

 private:
  store_options store_;
  std::vector<std::string> ids_;
};

}  // namespace cutpoint::cli
