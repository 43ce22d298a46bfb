// A filter that recognises the further names of a file, so that counts of bytes have each file once.
#pragma once

#include <string>
#include <vector>

#include <cutpoint/tree_entry.h>
#include <cutpoint/walk.h>

namespace cutpoint {

/// Recognises regular files that a series of walks reaches more than once: by hard links, by symbolic links that are
/// followed, and because one of the given paths leads to another or into it (`a ./a`, `a a/b`, `a link-to-a`).
///
/// It remembers only files that may be reached again: those with several hard links, those in a path that another given
/// path contains, and all files if symbolic links are followed. A second mount of a folder is not recognised. Not
/// thread-safe.
class repeated_file_filter {
 public:
  /// `paths` are all paths that will be walked, in any order. `cancel`, which may be null, ends comparisons of contents
  /// (`hard_links`).
  repeated_file_filter(const std::vector<std::string>& paths, symlinks links, const cancellation* cancel = nullptr);

  /// Returns whether another name of the entry's file was asked for before. Must be called for each entry of the walks,
  /// directories included, in their order. Returns false for directories, and for what is no regular file: such an entry
  /// is another stream each time.
  [[nodiscard]] bool is_repeated(const tree_entry& entry);

 private:
  bool remembers_all_;
  file_set contained_paths_;      ///< files and directories that another given path contains
  std::string contained_folder_;  ///< the one that the walk is in, with a slash at its end, or empty
  file_set known_files_;
  hard_links links_;
};

}  // namespace cutpoint
