// `cutpoint prune`: removes what no snapshot refers to.
#pragma once

#include <string>

#include "cli/common/json.h"
#include "cli/common/store_options.h"
#include "cli/common/subcommand.h"

namespace cutpoint::cli {

class prune_command final : public subcommand {
 public:
  void add_options(CLI::App& app) override;
  exit_code run() override;

 private:
  store_options store_;
  std::string most_unused_ = "5%";
  std::string most_rewritten_;
  bool is_rehearsal_ = false;
  bool is_json_ = false;
};

/// Returns what a prune did, or what a rehearsal says that one would do, in sentences.
[[nodiscard]] std::string prune_text(const store_prune_summary& done, const store_prune_options& options);
[[nodiscard]] ordered_json prune_json(const store_prune_summary& done);

}  // namespace cutpoint::cli
