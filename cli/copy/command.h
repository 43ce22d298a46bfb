// `cutpoint copy`: copies snapshots from another store.
#pragma once

#include <string>
#include <vector>

#include "cli/common/store_options.h"
#include "cli/common/subcommand.h"

namespace cutpoint::cli {

class copy_command final : public subcommand {
 public:
  void add_options(CLI::App& app) override;
  exit_code run() override;

 private:
  store_options source_;
  store_options target_;
  std::vector<std::string> snapshots_;
  std::string memory_ = "256M";
  bool is_json_ = false;
  verbosity level_ = verbosity::normal;
};

}  // namespace cutpoint::cli
