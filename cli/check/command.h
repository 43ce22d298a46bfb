// `cutpoint check`: checks a store.
#pragma once

#include "cli/common/store_options.h"
#include "cli/common/subcommand.h"

namespace cutpoint::cli {

class check_command final : public subcommand {
 public:
  void add_options(CLI::App& app) override;
  exit_code run() override;

 private:
  store_options store_;
  bool reads_data_ = false;
  bool is_json_ = false;
};

}  // namespace cutpoint::cli
