// `cutpoint mount`: shows the snapshots of a store as folders.
#pragma once

#include <string>

#include "cli/common/store_options.h"
#include "cli/common/subcommand.h"

namespace cutpoint::cli {

class mount_command final : public subcommand {
 public:
  void add_options(CLI::App& app) override;
  exit_code run() override;

 private:
  store_options store_;
  std::string folder_;
  std::string memory_ = "256M";
  bool allows_others_ = false;
};

}  // namespace cutpoint::cli
