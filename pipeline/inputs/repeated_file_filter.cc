// The filter finds overlapping paths by their canonical names before the first walk.
#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include <cutpoint/repeated_file_filter.h>

namespace cutpoint {

namespace {

std::string with_slash(std::string path) {
  if (!path.ends_with('/')) path += '/';
  return path;
}

}  // namespace

repeated_file_filter::repeated_file_filter(const std::vector<std::string>& paths, symlinks links)
    : remembers_all_(links == symlinks::follow) {
  if (paths.size() < 2 || remembers_all_) return;
  std::vector<std::string> names;
  for (const std::string& path : paths) {
    std::error_code error;
    const auto name = std::filesystem::canonical(path, error);
    if (error == std::errc::no_such_file_or_directory) continue;
    if (error) {
      remembers_all_ = true;  // for example because the canonical name is too long
      return;
    }
    names.push_back(with_slash(name));
  }
  std::sort(names.begin(), names.end());
  const std::string* container = nullptr;  // in this order, whatever a path contains follows it
  for (const std::string& name : names) {
    if (container == nullptr || !name.starts_with(*container)) {
      container = &name;
      continue;
    }
    const auto contained = describe_file(name.substr(0, std::max<std::size_t>(name.size() - 1, 1)), symlinks::skip);
    if (contained) contained_paths_.insert(*contained);
  }
}

bool repeated_file_filter::is_repeated(const tree_entry& entry) {
  if (entry.is_given) contained_folder_.clear();
  const bool is_below = !contained_folder_.empty() && entry.path.starts_with(contained_folder_);
  const bool is_contained = is_below || contained_paths_.contains(entry);
  if (entry.kind == file_kind::directory && is_contained && !is_below) contained_folder_ = with_slash(entry.path);
  if (entry.kind != file_kind::regular_file) return false;
  const bool may_be_repeated = remembers_all_ || is_contained || entry.link_count > 1;
  return may_be_repeated && !known_files_.insert(entry);
}

}  // namespace cutpoint
