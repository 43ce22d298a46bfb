// The options that choose the segments of streams and how they are joined.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <cutpoint/engine.h>
#include <cutpoint/status.h>

#include "cli/common/options.h"

namespace cutpoint::cli {

class segment_options {
 public:
  void add_to(option_list& options);
  /// Adds no option for the join, which stays exact.
  void add_size_to(option_list& options);

  /// Sets the size of segments if it changes the cuts or is given. Errors: unknown_name; invalid_argument.
  [[nodiscard]] status set(feed_options& feed) const;

 private:
  std::optional<std::string> segment_;
  std::string join_ = "exact";
};

/// Returns the names that --join takes.
[[nodiscard]] std::vector<std::string_view> join_names();
[[nodiscard]] std::string_view name_of(join_kind kind);
/// Returns the canonical string. If the join changes the cuts, the join and the size of segments follow, which no
/// canonical string has.
[[nodiscard]] std::string name_of_cuts(const feed_options& options);

}  // namespace cutpoint::cli
