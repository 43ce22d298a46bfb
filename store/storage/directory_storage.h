// A storage in a folder: one file for each object.
#pragma once

#include <memory>
#include <string>

#include "store/storage/file_system.h"

namespace cutpoint::store {

struct directory_storage_options {
  /// Names the temporary files: a valid id of at most 64 characters that no other open storage has. A lease's session id
  /// lets others remove the temporary files of a session that has ended.
  std::string writer_id;
  /// The number of objects that may wait for the helper thread. Each keeps its bytes in memory. 0 means that there is no
  /// helper thread: `put` writes the object itself and waits for the disk.
  std::size_t pending_objects = 2;
};

/// Makes the folders of an empty storage, durably. Succeeds if they exist. Errors: io_error.
[[nodiscard]] status make_storage_folders(file_system& files);

/// Opens the storage in `files`. An object is written to a temporary file, made durable, and then renamed to its final
/// name. `sync` waits for that and then makes the names durable, once for each folder that has changed.
[[nodiscard]] std::unique_ptr<storage> open_directory_storage(std::shared_ptr<file_system> files,
                                                              directory_storage_options options);

}  // namespace cutpoint::store
