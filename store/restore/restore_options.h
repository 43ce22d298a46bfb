// What a restore into a folder does.
#pragma once

#include <cstdint>
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

}  // namespace cutpoint::store
