// The paths that a backup is told to store.
#pragma once

#include <string>
#include <vector>

#include <cutpoint/status.h>
#include <cutpoint/store.h>

namespace cutpoint::store {

/// A path that a backup stores, whatever its options leave out.
struct named_path {
  std::string path;        ///< absolute, without "." and ".." and without a slash at its end
  bool is_folder = false;  ///< whether the path has a slash at its end, so that a link is followed
  bool is_standard_input = false;

  friend bool operator==(const named_path&, const named_path&) = default;
};

/// Returns whether a walk meets the path `a` before `b`: a folder comes before what is in it.
[[nodiscard]] bool is_before(const std::string& a, const std::string& b);
/// Returns whether a path is in a folder or below.
[[nodiscard]] bool is_below(const std::string& path, const std::string& folder);

/// Returns the paths that are named, in the order of a walk, each once. Errors: io_error, if the working folder is unknown;
/// invalid_argument, if a path lies below a link that is stored as a link.
[[nodiscard]] result<std::vector<named_path>> named_paths(const store_backup_options& options);
/// Returns those that do not lie below another one, which a snapshot lists.
[[nodiscard]] std::vector<std::string> outermost_paths(const std::vector<named_path>& named);

}  // namespace cutpoint::store
