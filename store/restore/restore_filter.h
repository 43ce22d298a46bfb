// Which files of a snapshot a restore restores, and which of the target it may remove.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <cutpoint/store.h>

namespace cutpoint::store {

/// Applies the patterns of a restore. The last pattern that matches decides. Not thread-safe.
class restore_filter {
 public:
  /// `top` is the path in the snapshot of the folder whose entries are put into the target. `complete_paths` are those of the
  /// snapshot at and below which it has all that there was.
  restore_filter(const store_restore_options& options, std::string top, std::vector<std::string> complete_paths);

  /// `path` is relative to that folder.
  [[nodiscard]] bool is_excluded(std::string_view path, bool is_folder);
  /// Returns whether the patterns to include match a path, or there are none.
  [[nodiscard]] bool is_included(std::string_view path, bool is_folder);
  /// Returns whether the snapshot has all that its source had in a folder: not above the paths that were backed up.
  [[nodiscard]] bool is_complete(std::string_view path) const;
  [[nodiscard]] const pattern_list& include() const noexcept { return include_; }
  [[nodiscard]] const pattern_list& exclude() const noexcept { return exclude_; }

 private:
  std::string top_;  ///< without a slash at the beginning, and with one at its end unless it is empty
  std::vector<std::string> complete_paths_;
  pattern_list include_;
  pattern_list exclude_;
};

}  // namespace cutpoint::store
