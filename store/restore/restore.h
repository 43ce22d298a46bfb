// Restores files of a snapshot into a folder.
#pragma once

#include <string>
#include <vector>

#include <cutpoint/path_pattern.h>
#include <cutpoint/source.h>

#include "store/files/store_reading.h"

namespace cutpoint::store {

struct restore_options {
  /// A path in the snapshot. The entries of a folder are put into the target, and any other file beside them under its
  /// own name. Empty: everything.
  std::string path = {};
  /// The folder to restore into. It is created if it does not exist.
  std::string target;
  /// If not empty, only files that match one of these patterns or lie in a folder that does are restored, and the
  /// folders above them. Paths are relative to the folder that is restored.
  std::vector<path_pattern> include = {};
  /// Whether files of the target that have the name of a restored one are changed or replaced. Otherwise such a file is a
  /// problem. No other file is removed.
  bool replaces_files = false;
  /// Whether the contents are brought to the disk, read back and compared with their digests.
  bool verifies = false;
  std::uint64_t threads = 0;  ///< that read and write contents; 0: one for each processor
  problem_function problem = {};
  const cancellation* cancel = nullptr;
};

struct restore_summary {
  std::uint64_t files = 0;    ///< that were begun, of all kinds except folders
  std::uint64_t folders = 0;  ///< that were created or entered
  std::uint64_t bytes = 0;    ///< of the regular files, with holes
  /// Of them, those that were written. Not those that were there already, and not zeros that became holes of new files.
  std::uint64_t written_bytes = 0;
  /// Containers that chunks were read from. One is counted again for each window of files, which reads it once.
  std::uint64_t read_containers = 0;
  std::uint64_t problems = 0;
};

/// Restores the tree of a snapshot's root. Files are read in windows of up to 65,536 chunks, ordered by containers.
///
/// With `replaces_files`, a regular file that exists is changed in place: its bytes are compared with the digests of its
/// chunks, and only what differs is read from the store and written. A file that has other names, extended attributes that
/// the restored one lacks or an ACL, or that belongs to somebody else, is removed and made anew.
///
/// Each content is compared with its digest when it is read from the store, also without `verifies`.
///
/// Nothing outside the target is written, whatever the store contains and whatever links the target has. A file that is
/// damaged or cannot be written is reported to `problem`, and the rest is restored: of a damaged regular file the bytes
/// that are lost are zeros, or stay as they are if the file existed before. A damaged file with several names is reported
/// under each of them. Metadata that this process may not set is
/// reported once for each kind. If a folder had existed before, its metadata is set too, but not that of the target.
///
/// Errors: the target cannot be opened or has no room; the path does not exist; cancelled. Problems are no errors.
[[nodiscard]] result<restore_summary> restore_files(const store_reading& store, const record_reference& root,
                                                    const restore_options& options);

}  // namespace cutpoint::store
