// `cutpoint stats`: shows what a store contains.
#pragma once

#include "cli/common/store_options.h"
#include "cli/common/subcommand.h"

namespace cutpoint::cli {

class stats_command final : public subcommand {
 public:
  void add_options(CLI::App& app) override;
  exit_code run() override;

 private:
  store_options store_;
  bool has_details_ = false;
  bool is_json_ = false;
};

}  // namespace cutpoint::cli
