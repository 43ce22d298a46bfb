// The files that paths stand for: a file itself, or every file of a tree, in one fixed order.
#pragma once

#include <functional>
#include <string>

#include <cutpoint/source.h>
#include <cutpoint/status.h>

namespace cutpoint {

/// What a symbolic link inside a tree stands for. A path that is given is always followed.
enum class symlinks {
  skip,    ///< nothing
  follow,  ///< what it points to; a link to a directory that the walk is in is an error, and not entered
};

/// Where a walk goes. Each may be called many times; none may be empty.
struct walk_callbacks {
  /// A file to read: any kind but a directory when it was given by name, a regular one inside a tree. A failure stops
  /// the walk.
  std::function<status(const std::string& path)> file;
  /// Something inside a tree that is passed over, and why: "symbolic link", "socket", "FIFO", "device".
  std::function<void(const std::string& path, std::string_view why)> skipped;
  /// A path that cannot be looked at, or a directory that cannot be read or is its own ancestor. The walk goes on,
  /// unless this fails.
  std::function<status(const std::string& path, const status& why)> problem;
};

/// Visits what `path` stands for; the entries of a directory in the byte order of their names. Stops early only for a
/// failed `file` callback, with its status, or when `cancel` (which may be null) is requested, with
/// status_code::cancelled.
///
/// Holds the names of one directory for each level of the tree that it is in.
[[nodiscard]] status walk(const std::string& path, symlinks links, const walk_callbacks& callbacks,
                          const cancellation* cancel = nullptr);

}  // namespace cutpoint
