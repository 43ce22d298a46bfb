// What the containers of a store have, and how its oldest and newest snapshots lie in them: `backup_store::report`.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include <cutpoint/store.h>

namespace cutpoint {

struct store_report_options {
  std::uint64_t threads = 0;  ///< 0: one for each processor
  /// Receives a snapshot or a container that cannot be read. What only it tells is left out.
  store_problem problem = {};
  const cancellation* cancel = nullptr;
};

/// Records of a kind, in all containers. A record is live if a snapshot refers to it.
struct record_totals {
  std::uint64_t count = 0;
  std::uint64_t raw_bytes = 0;     ///< of the contents
  std::uint64_t stored_bytes = 0;  ///< of the contents as they are stored: compressed, without what surrounds them
  std::uint64_t live_count = 0;
  std::uint64_t live_stored_bytes = 0;
};

/// Containers whose live share is above that of the bin before and at most `at_most`. The live share is the bytes of live
/// records over those of all records, with what surrounds them.
struct live_share_bin {
  double at_most = 0;  ///< 0 to 1; the first bin is 0, for containers without live records
  std::uint64_t containers = 0;
  std::uint64_t bytes = 0;  ///< of the containers' files
};

/// How the contents of a snapshot's files lie in containers.
struct snapshot_layout {
  std::string id;
  std::uint64_t bytes = 0;         ///< of the contents, without holes: what a restore writes
  std::uint64_t stored_bytes = 0;  ///< of the chunks as they are stored, each once: what a restore reads at least
  std::uint64_t containers = 0;    ///< which have chunks of it

  /// Returns the number of containers for each MiB that a restore writes.
  [[nodiscard]] double containers_per_mib() const noexcept {
    return bytes == 0 ? 0 : static_cast<double>(containers) * static_cast<double>(MiB) / static_cast<double>(bytes);
  }
};

/// Regular files of a kind (`kind_of_file`) and a class of the store's context.
struct kind_totals {
  std::string kind;
  std::string class_name;
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;         ///< of the contents, with holes
  std::uint64_t stored_bytes = 0;  ///< of the chunks as they are stored; each counts for the first file that has it
};

inline constexpr std::size_t live_share_bin_count = 11;

struct store_report {
  record_totals chunks;
  record_totals nodes;
  std::array<live_share_bin, live_share_bin_count> live_shares;
  /// The snapshots that were committed first and last; the same twice if there is one.
  snapshot_layout oldest;
  snapshot_layout newest;
  std::vector<kind_totals> kinds;  ///< of the newest snapshot, those with most bytes first
};

}  // namespace cutpoint
