// The options that say which snapshots `cutpoint forget` keeps, looks at and puts into one group.
#pragma once

#include <array>
#include <string>
#include <vector>

#include <cutpoint/store_policy.h>

#include "cli/common/options.h"

namespace cutpoint::cli {

/// What the options say.
struct forget_rules {
  snapshot_policy policy;
  snapshot_grouping grouping;
  snapshot_filter filter;
};

class rule_options {
 public:
  void add_to(option_list& options);

  /// Returns whether an option was given that does not go together with named snapshots.
  [[nodiscard]] bool is_any_given() const;
  /// Errors: invalid_argument, with the option and its bounds.
  [[nodiscard]] result<forget_rules> read() const;

 private:
  std::array<std::string, keep_period_count> counts_;
  std::array<std::string, keep_period_count> spans_;
  std::vector<std::string> keep_tags_;
  std::string group_by_ = "host,paths";
  std::vector<std::string> hosts_;
  std::vector<std::string> paths_;
  std::vector<std::string> tags_;
  std::vector<const option*> options_;
};

}  // namespace cutpoint::cli
