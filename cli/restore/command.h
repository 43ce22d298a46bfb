// `cutpoint restore`: restores files of a snapshot.
#pragma once

#include <string>
#include <vector>

#include "cli/common/store_options.h"
#include "cli/common/subcommand.h"

namespace cutpoint::cli {

class restore_command final : public subcommand {
 public:
  void add_options(CLI::App& app) override;
  exit_code run() override;

 private:
  store_options store_;
  std::string what_;
  std::string target_;
  std::vector<std::string> included_;
  bool overwrites_ = false;
  bool verifies_ = false;
  bool is_json_ = false;
};

}  // namespace cutpoint::cli
