// Which files of a snapshot a restore restores, and which of the target it may remove.
#pragma once

#include <string>
#include <string_view>

#include "store/restore/restore_options.h"

namespace cutpoint::store {

/// Applies the patterns of a restore. The last pattern that matches decides.
class restore_filter {
 public:
  /// `options` must outlive the filter. `top` is the path in the snapshot of the folder whose entries are put into the target.
  restore_filter(const restore_options& options, std::string top);

  /// `path` is relative to that folder.
  [[nodiscard]] bool is_excluded(std::string_view path, bool is_folder) const;
  /// Returns whether the patterns to include match a path, or there are none.
  [[nodiscard]] bool is_included(std::string_view path, bool is_folder) const;
  /// Returns whether the snapshot has all that its source had in a folder: not above the paths that were backed up.
  [[nodiscard]] bool is_complete(std::string_view path) const;

 private:
  [[nodiscard]] bool is_match(const std::vector<path_pattern>& patterns, std::string_view path, bool is_folder) const;

  const restore_options& options_;
  std::string top_;  ///< without a slash at the beginning, and with one at its end unless it is empty
};

}  // namespace cutpoint::store
