// `cutpoint init`: makes a store.
#pragma once

#include <string>

#include "cli/common/store_options.h"
#include "cli/common/subcommand.h"

namespace cutpoint::cli {

class init_command final : public subcommand {
 public:
  void add_options(CLI::App& app) override;
  exit_code run() override;

 private:
  store_options store_;
  std::string encryption_;
  std::string cuts_;
  std::string hash_ = "blake3";
  std::string compression_ = "zstd";
  std::string container_size_ = "32M";
  bool is_for_experiments_ = false;
};

}  // namespace cutpoint::cli
