// Restores files of a snapshot into a folder.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <cutpoint/store.h>

#include "store/session/store_reading.h"

namespace cutpoint::store {

struct restored_snapshot {
  record_reference root;
  /// Paths at and below which it has all that there was. Above them nothing is removed from the target.
  std::vector<std::string> complete_paths = {};
  std::uint64_t files = 0;  ///< for the progress; 0: unknown
  std::uint64_t bytes = 0;
  /// The folder of its store, which is never entered: nothing is restored into it and nothing removed from it. Empty: none.
  std::string store_folder = {};
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
[[nodiscard]] result<store_restore_summary> restore_files(const store_reading& store, const restored_snapshot& snapshot,
                                                          const store_restore_options& options);

}  // namespace cutpoint::store
