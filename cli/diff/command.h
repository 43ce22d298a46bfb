// `cutpoint diff`: shows what differs between two snapshots.
#pragma once

#include <string>

#include "cli/common/store_options.h"
#include "cli/common/subcommand.h"

namespace cutpoint::cli {

class diff_command final : public subcommand {
 public:
  void add_options(CLI::App& app) override;
  exit_code run() override;

 private:
  store_options store_;
  std::string before_;
  std::string after_;
  bool compares_metadata_ = false;
  bool is_json_ = false;
};

}  // namespace cutpoint::cli
