// Restores files of a snapshot into a folder.
#pragma once

#include "store/restore/restore_options.h"

namespace cutpoint::store {

struct restore_summary {
  std::uint64_t files = 0;    ///< that were begun, of all kinds except folders
  std::uint64_t folders = 0;  ///< that were created or entered
  std::uint64_t bytes = 0;    ///< of the regular files, with holes
  /// Of them, those that were written. Not those that were there already, and not zeros that became holes of new files.
  std::uint64_t written_bytes = 0;
  /// Containers that chunks were read from. One is counted again for each window of files, which reads it once.
  std::uint64_t read_containers = 0;
  std::uint64_t problems = 0;
  std::uint64_t removed = 0;  ///< files that the snapshot lacks; a folder with everything in it counts once
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
/// reported once for each kind. If a folder had existed before, its metadata is set too, and so is that of the target, if
/// `options.path` is a folder of which everything is restored.
///
/// Until its metadata is set, a file permits nothing that its entry does not: access control lists that a folder passes on
/// are removed, and those of folders that exist, before anything is written into them.
///
/// Errors: the target cannot be opened or has no room; the path does not exist, in which case no target is created;
/// invalid_argument, for files to be removed from the root of the file system without patterns; cancelled. Problems are no
/// errors.
[[nodiscard]] result<restore_summary> restore_files(const store_reading& store, const record_reference& root,
                                                    const restore_options& options);

}  // namespace cutpoint::store
