// `cutpoint backup`: backs up files and folders into a store.
#pragma once

#include <string>
#include <vector>

#include "cli/common/store_options.h"
#include "cli/common/subcommand.h"
#include "cli/common/walk_filter.h"

namespace cutpoint::cli {

class backup_command final : public subcommand {
 public:
  void add_options(CLI::App& app) override;
  exit_code run() override;

 private:
  store_options store_;
  std::vector<std::string> paths_;
  walk_filter filter_;
  std::string standard_input_name_ = "stdin";
  std::vector<std::string> tags_;
  std::string host_;
  std::string time_;
  std::string parent_;
  std::string memory_ = "256M";
  std::string cap_;
  bool reads_everything_ = false;
  bool is_json_ = false;
  verbosity verbosity_ = verbosity::normal;
};

}  // namespace cutpoint::cli
