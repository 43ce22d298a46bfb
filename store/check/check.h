// Checks a store: its objects, and the trees of its snapshots.
#pragma once

#include <functional>
#include <string>

#include <cutpoint/source.h>
#include <cutpoint/store.h>

#include "store/files/store_reading.h"

namespace cutpoint::store {

struct check_options {
  /// Whether all bytes of all containers are read and compared with their digests. Otherwise only tables and nodes are.
  bool reads_data = false;
  store_data_subset subset = {};  ///< whose data are read; of the others only tables are
  std::uint64_t threads = 0;      ///< that read containers; 0: one for each processor
  /// Receives an object that is damaged, such as "containers/00ff...".
  problem_function object_problem = {};
  /// Receives a file of a snapshot that is lost in part or as a whole, or a folder that has lost entries.
  std::function<void(const std::string& snapshot, const std::string& path, const status& why)> file_problem = {};
  store_progress_function progress = {};
  const cancellation* cancel = nullptr;
};

struct check_summary {
  std::uint64_t containers = 0;
  std::uint64_t records = 0;  ///< in the containers that could be read
  std::uint64_t snapshots = 0;
  std::uint64_t object_problems = 0;
  std::uint64_t file_problems = 0;
  /// References to chunks that the index finds in another container than their hints say. That is no damage: a restore
  /// reads such chunks in a worse order.
  std::uint64_t moved_chunks = 0;
  std::uint64_t read_containers = 0;  ///< whose data were read

  [[nodiscard]] bool is_clean() const noexcept { return object_problems == 0 && file_problems == 0; }
};

/// Checks everything and reports all damage. Changes nothing. Memory: with `reads_data` a container for each thread; 100
/// bytes for each folder and each record that is lost. Errors: those of the storage, except damage; cancelled.
[[nodiscard]] result<check_summary> check_store(const store_reading& store, const check_options& options);

}  // namespace cutpoint::store
