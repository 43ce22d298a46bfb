// The walk, which yields the entries of a tree with their metadata in one fixed order.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <cutpoint/path_pattern.h>
#include <cutpoint/source.h>
#include <cutpoint/status.h>
#include <cutpoint/tree_entry.h>

namespace cutpoint {

/// How the walk treats symbolic links inside a tree. It always follows the path that it was given.
enum class symlinks {
  skip,    ///< yield the link as an entry of its own
  follow,  ///< yield the link's target in its place; a link to a directory that the walk is in is reported as a problem
};

/// Returns the metadata of the file at a path as the walk would yield it. A symbolic link is described itself unless
/// `links` says `follow`. Errors: io_error.
[[nodiscard]] result<tree_entry> describe_file(const std::string& path, symlinks links);
/// Returns the metadata of the file that has the name of an entry now. Call it during the walk's call, if a function has
/// failed with ESTALE because the file was replaced. Errors: io_error.
[[nodiscard]] result<tree_entry> describe_again(const tree_entry& entry);

/// A file by which a directory says that its content is not worth reading.
struct directory_tag {
  std::string name;
  std::string header = {};  ///< how the content of a regular file begins; empty: the name suffices, whatever it is
};

/// Selects the entries that a walk yields. The entry that was given is yielded whatever the options are.
struct walk_options {
  symlinks links = symlinks::skip;
  /// Whether the path that was given is followed if it is a symbolic link.
  symlinks given_link = symlinks::follow;
  /// Entries that these patterns match are left out. A directory that is left out is not entered. Of several patterns that
  /// match an entry the last one decides, and a negated one yields it. An entry is left out before it is opened, and before
  /// its metadata is read if its directory says what kind it is.
  std::vector<path_pattern> exclude = {};
  /// If this list is not empty, an entry is left out unless these patterns match it or a directory that it lies in. A
  /// directory that does not match is still yielded and entered, because an entry in it may match.
  std::vector<path_pattern> include = {};
  /// Files and directories that are left out, wherever a walk finds them.
  file_set exclude_files = {};
  /// Regular files of more bytes are left out.
  std::uint64_t largest_file_bytes = UINT64_MAX;
  /// Whether directories on another file system than that of the given entry are yielded but not entered.
  bool one_file_system = false;
  /// Whether a directory with a CACHEDIR.TAG that has the signature of caches (https://bford.info/cachedir/) yields
  /// only this tag.
  bool exclude_caches = false;
  /// A directory with one of these files yields only this file.
  std::vector<directory_tag> exclude_tagged = {};
};

/// Why a walk leaves something out: because of a pattern, because the directory is on another file system, is a cache or
/// has a tag, because the file is too large, or because it is one of `exclude_files`.
enum class omission { pattern, other_file_system, cache, tag, size, file };

/// The functions that a walk calls, each any number of times. Only those after `problem` may be empty.
struct walk_callbacks {
  /// Receives an entry, which is valid only during the call. A directory comes before the entries in it. If this
  /// returns an error, the walk stops.
  std::function<status(const tree_entry& entry)> entry;
  /// Receives the path of an entry whose metadata cannot be read, or of a directory whose names cannot be read, that is its
  /// own ancestor, or that was replaced by another one. The walk continues unless this returns an error.
  std::function<status(const std::string& path, const status& why)> problem;
  /// Receives a path that is left out, or a directory whose entries are left out.
  std::function<void(const std::string& path, omission why)> left_out = {};
  /// Receives the index of a pattern of `exclude` at its first match in this walk.
  std::function<void(std::size_t pattern)> matched = {};
};

/// Visits the entry called `path` and, if it is a directory, all entries below it. Entries of one directory come in the
/// byte order of their names. The walk stops early only if a callback returns an error, which it then returns, or if
/// `cancel`, which may be null, is requested; then it returns status_code::cancelled.
///
/// Directories are opened in the directory above, and are those whose metadata was yielded. Therefore a tree may be deeper
/// than PATH_MAX, and names that are replaced during the walk cannot lead it elsewhere. `file_source::open` opens the files
/// in the same way. The walk holds the names of one directory for each level of the
/// tree that it is in, and at most 16 descriptors.
[[nodiscard]] status walk(const std::string& path, const walk_options& options, const walk_callbacks& callbacks,
                          const cancellation* cancel = nullptr);

}  // namespace cutpoint
