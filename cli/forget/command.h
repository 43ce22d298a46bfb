// `cutpoint forget`: removes snapshots that are named, or that no rule keeps.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "cli/common/store_options.h"
#include "cli/common/subcommand.h"
#include "cli/forget/rules.h"

namespace cutpoint::cli {

class forget_command final : public subcommand {
 public:
  void add_options(CLI::App& app) override;
  exit_code run() override;

 private:
  /// What is kept and removed, and whether something was left out that could not be found or read.
  struct plan {
    std::vector<snapshot_group> groups;
    bool is_whole = true;
  };
  [[nodiscard]] plan plan_named(const console& say, backup_store& opened) const;
  [[nodiscard]] result<plan> plan_by_rules(const console& say, backup_store& opened, const forget_rules& rules) const;
  [[nodiscard]] std::string text_of(const plan& made) const;
  /// Prunes, or says what that would do when the snapshots `forgotten` are removed.
  [[nodiscard]] exit_code prune(const console& say, backup_store& opened, std::set<std::string> forgotten) const;

  store_options store_;
  std::vector<std::string> ids_;
  rule_options rules_;
  bool is_dry_run_ = false;
  bool prunes_ = false;
  bool is_json_ = false;
};

}  // namespace cutpoint::cli
