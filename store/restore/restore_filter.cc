#include "store/restore/restore_filter.h"

#include <algorithm>

namespace cutpoint::store {

namespace {

/// Returns a folder's path without slashes at its beginning, and with one at its end unless it is empty.
std::string folder_of(std::string path) {
  path.erase(0, std::min(path.find_first_not_of('/'), path.size()));
  while (path.ends_with('/')) path.pop_back();
  if (!path.empty()) path += '/';
  return path;
}

}  // namespace

restore_filter::restore_filter(const store_restore_options& options, std::string top,
                               std::vector<std::string> complete_paths)
    : top_(folder_of(std::move(top))),
      complete_paths_(std::move(complete_paths)),
      include_(options.include, top_),
      exclude_(options.exclude, top_) {}

bool restore_filter::is_excluded(std::string_view path, bool is_folder) { return exclude_.matches(path, is_folder); }

bool restore_filter::is_included(std::string_view path, bool is_folder) {
  return include_.is_empty() || include_.matches(path, is_folder);
}

bool restore_filter::is_complete(std::string_view path) const {
  const std::string folder = "/" + top_ + std::string(path) + "/";
  return std::ranges::any_of(complete_paths_,
                             [&](const std::string& each) { return each == "/" || folder.starts_with(each + "/"); });
}

}  // namespace cutpoint::store
