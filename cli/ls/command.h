// `cutpoint ls`: lists the files of a snapshot.
#pragma once

#include <string>

#include "cli/common/store_options.h"
#include "cli/common/subcommand.h"

namespace cutpoint::cli {

class ls_command final : public subcommand {
 public:
  void add_options(CLI::App& app) override;
  exit_code run() override;

 private:
  store_options store_;
  std::string what_;
  bool is_json_ = false;
};

}  // namespace cutpoint::cli
