// Decides which entries a walk leaves out.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <cutpoint/walk.h>

#include "host/io/folder_names.h"

namespace cutpoint {

/// Applies the options of one walk. Not thread-safe.
class entry_filter {
 public:
  /// The arguments but `given_path` must outlive the filter.
  entry_filter(const walk_options& options, const walk_callbacks& callbacks, const std::string& given_path);

  /// Returns whether the patterns to exclude leave out an entry. `path` is relative to the path that was given.
  [[nodiscard]] bool is_excluded(std::string_view path, bool is_directory);
  /// Returns whether the patterns to include match an entry, or there are none.
  [[nodiscard]] bool is_included(std::string_view path, bool is_directory);
  /// Returns why an entry is left out that the patterns do not leave out.
  [[nodiscard]] std::optional<omission> why_left_out(const tree_entry& entry) const;

  /// The tag by which an open directory asks to be left out but for this tag.
  struct tag_match {
    omission why;
    std::string name;
  };
  /// `names` are those in the directory, sorted.
  [[nodiscard]] std::optional<tag_match> find_tag(int directory, const std::vector<folder_name>& names) const;

 private:
  const walk_options& options_;
  const walk_callbacks& callbacks_;
  pattern_list exclude_;
  pattern_list include_;
};

}  // namespace cutpoint
