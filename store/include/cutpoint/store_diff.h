// What differs between two stored trees: `backup_store::diff`.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include <cutpoint/store.h>

namespace cutpoint {

enum class store_change_kind : std::uint8_t {
  added,
  removed,
  modified,  ///< a file has other content, or a symbolic link another target
  retyped,   ///< a name is a file of another kind, such as a folder that was a file
  metadata,  ///< nothing but metadata differs
};

struct store_change {
  /// In the folders that are compared; begins with a slash, and that of a folder ends with one.
  std::string path;
  store_change_kind which = store_change_kind::added;
  file_kind kind = file_kind::regular_file;  ///< that of the newer tree, if it has the file
};

struct store_diff_options {
  std::string before = {};       ///< id of a snapshot
  std::string before_path = {};  ///< a folder in it; empty: everything
  std::string after = {};
  std::string after_path = {};
  /// Whether files are reported of which only metadata differs: modes, owners, times, extended attributes, and which
  /// inode and device they were.
  bool compares_metadata = false;
  /// Receives each change. What was added or removed with its folder is reported too, as is what is below a folder that
  /// was a file or became one. Folders come before what is in them, and names in the order of their bytes.
  std::function<status(const store_change&)> visit = {};
  /// Receives a folder whose entries cannot be compared any further, or a file whose content cannot be.
  store_problem problem = {};
  const cancellation* cancel = nullptr;
};

/// What only one of the trees has.
struct store_diff_side {
  std::uint64_t files = 0;
  std::uint64_t folders = 0;
  std::uint64_t others = 0;  ///< such as links and devices
  /// The sizes of these files and, for each modified file, the bytes in chunks that its other version does not have.
  std::uint64_t bytes = 0;
};

struct store_diff_summary {
  std::uint64_t modified = 0;  ///< files and links
  store_diff_side added;
  store_diff_side removed;
  std::uint64_t problems = 0;
};

}  // namespace cutpoint
