// The walk: yields the entries of a tree, with metadata, in one fixed order.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <cutpoint/path_pattern.h>
#include <cutpoint/source.h>
#include <cutpoint/status.h>
#include <cutpoint/tree_entry.h>

namespace cutpoint {

/// How symbolic links inside a tree are treated. A path that is given is always followed.
enum class symlinks {
  skip,    ///< a link is an entry of its own
  follow,  ///< a link stands for what it leads to; a link to a directory that the walk is in is an error
};

/// What a walk yields of a tree. The entry that is given is yielded whatever the options say.
struct walk_options {
  symlinks links = symlinks::skip;
  /// Entries that match one of these are left out, directories with everything in them, which is not looked at.
  std::vector<path_pattern> exclude = {};
  /// Where there are any: entries are left out that match none of these and lie in no directory that matches one. A
  /// directory that matches none is yielded and entered, since an entry in it may match.
  std::vector<path_pattern> include = {};
  /// A directory on another file system than the given one is yielded, but not entered.
  bool one_file_system = false;
  /// Of a directory that has a CACHEDIR.TAG with the signature of caches (https://bford.info/cachedir/), only this tag
  /// is yielded.
  bool exclude_caches = false;
};

/// Why a walk leaves something out: the patterns say so, or the directory is not entered.
enum class omission { pattern, other_file_system, cache };

/// Receives what a walk yields. Each function is called many times; only `left_out` may be empty.
struct walk_callbacks {
  /// An entry; a directory comes before the entries in it. The entry is valid during the call. A failure stops the walk.
  std::function<status(const tree_entry& entry)> entry;
  /// A path whose metadata cannot be read, or a directory whose names cannot be read or that is its own ancestor. The
  /// walk goes on, unless this fails.
  std::function<status(const std::string& path, const status& why)> problem;
  /// A path that is left out, or a directory of which the entries are.
  std::function<void(const std::string& path, omission why)> left_out = {};
};

/// Visits the entry that `path` names, and below a directory all entries, those of one directory in the byte order of
/// their names. Stops early only for a failed callback, with its status, or when `cancel` (which may be null) is
/// requested, with status_code::cancelled.
///
/// Directories are read through their descriptors, so that a tree may be deeper than PATH_MAX, and names that are
/// replaced during the walk lead nowhere else. Holds the names of one directory for each level of the tree that it is
/// in, and 16 descriptors at most.
[[nodiscard]] status walk(const std::string& path, const walk_options& options, const walk_callbacks& callbacks,
                          const cancellation* cancel = nullptr);

}  // namespace cutpoint
