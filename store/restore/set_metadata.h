// Sets the metadata of a restored file: owner, extended attributes, permissions and times.
#pragma once

#include <string>
#include <vector>

#include "store/tree/node.h"

namespace cutpoint::store {

/// Something that could not be set.
struct metadata_failure {
  std::string what;  ///< such as "owner"
  int error = 0;     ///< errno
};

/// Sets what `entry` says of an open regular file or folder. The rest is set if a part fails. Set-ID bits are left out
/// unless the owner is right. Thread-safe.
[[nodiscard]] std::vector<metadata_failure> set_metadata(int file, const folder_entry& entry);
/// Returns whether an open regular file has the owner, the permissions and the time of modification of an entry without
/// extended attributes. Attributes are not compared: false if the entry has any. Thread-safe.
[[nodiscard]] bool has_metadata(int file, const folder_entry& entry);
/// The same for the file called `entry.name` in a folder, which may be of any kind. Symbolic links are not followed.
[[nodiscard]] std::vector<metadata_failure> set_metadata_in(int folder, const folder_entry& entry);

}  // namespace cutpoint::store
