#include "store/restore/restore_filter.h"

#include <algorithm>

namespace cutpoint::store {

restore_filter::restore_filter(const restore_options& options, std::string top)
    : options_(options), top_(std::move(top)) {
  top_.erase(0, std::min(top_.find_first_not_of('/'), top_.size()));
  while (top_.ends_with('/')) top_.pop_back();
  if (!top_.empty()) top_ += '/';
}

bool restore_filter::is_match(const std::vector<path_pattern>& patterns, std::string_view path, bool is_folder) const {
  const auto last = std::find_if(patterns.rbegin(), patterns.rend(), [&](const path_pattern& each) {
    return each.matches(path, is_folder) ||
           (!top_.empty() && each.matches_absolute(top_ + std::string(path), is_folder));
  });
  return last != patterns.rend() && !last->is_negated();
}

bool restore_filter::is_excluded(std::string_view path, bool is_folder) const {
  return is_match(options_.exclude, path, is_folder);
}

bool restore_filter::is_included(std::string_view path, bool is_folder) const {
  return options_.include.empty() || is_match(options_.include, path, is_folder);
}

bool restore_filter::is_complete(std::string_view path) const {
  const std::string folder = "/" + top_ + std::string(path) + "/";
  return std::ranges::any_of(options_.complete_paths,
                             [&](const std::string& each) { return each == "/" || folder.starts_with(each + "/"); });
}

}  // namespace cutpoint::store
