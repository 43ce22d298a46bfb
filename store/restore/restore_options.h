// What a restore into a folder does.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <cutpoint/path_pattern.h>
#include <cutpoint/source.h>
#include <cutpoint/store.h>

#include "store/files/store_reading.h"

namespace cutpoint::store {

struct restore_options {
  /// A path in the snapshot. The entries of a folder are put into the target, and any other file beside them under its
  /// own name. Empty: everything.
  std::string path = {};
  /// The folder to restore into. It is created if it does not exist.
  std::string target;
  /// The folder of the store, which is never entered: nothing is restored into it and nothing removed from it. Empty: none.
  std::string store_folder = {};
  /// If not empty, only files that match these patterns or lie in a folder that does are restored, and the
  /// folders above them. Paths are relative to the folder that is restored.
  std::vector<path_pattern> include = {};
  /// Files that match are not restored, with everything in them if they are folders.
  std::vector<path_pattern> exclude = {};
  /// Whether files of the target that have the name of a restored one are changed or replaced. Otherwise such a file is a
  /// problem. No other file is removed.
  bool replaces_files = false;
  /// Whether files of the target are removed that the snapshot lacks, unless a pattern leaves them out.
  bool removes_others = false;
  /// Paths of the snapshot at and below which it has all that there was. Above them nothing is removed.
  std::vector<std::string> complete_paths = {};
  /// Whether nothing is changed, and only said what would be done.
  bool is_dry_run = false;
  /// Whether the contents are brought to the disk, read back and compared with their digests.
  bool verifies = false;
  std::uint64_t threads = 0;                ///< that read and write contents; 0: one for each processor
  std::uint64_t most_bytes_per_second = 0;  ///< that are written of contents; 0: no bound
  /// Receives each file by its path in the target, before its content is written.
  std::function<void(const std::string& path, store_restore_action action)> visit = {};
  problem_function problem = {};  ///< as `store_restore_options::problem`
  problem_function warning = {};  ///< as `store_restore_options::warning`
  store_progress_function progress = {};
  std::uint64_t total_files = 0;  ///< for the progress; 0: unknown
  std::uint64_t total_bytes = 0;
  const cancellation* cancel = nullptr;
};

}  // namespace cutpoint::store
