// Snapshots: the root of a tree, and facts about the backup.
#pragma once

#include <array>
#include <string>
#include <vector>

#include <cutpoint/batch_fingerprinter.h>
#include <cutpoint/storage.h>

#include "store/crypto/sealer.h"
#include "store/tree/node.h"

namespace cutpoint::store {

struct snapshot_statistics {
  std::uint64_t files = 0;
  std::uint64_t folders = 0;
  std::uint64_t bytes = 0;             ///< of all files
  std::uint64_t new_raw_bytes = 0;     ///< of the records that the backup added
  std::uint64_t new_stored_bytes = 0;  ///< of their payloads

  friend bool operator==(const snapshot_statistics&, const snapshot_statistics&) = default;
};

struct snapshot {
  record_reference root;
  /// One more than the largest when the backup was committed. The latest snapshot has the largest, whatever the clock
  /// says.
  std::uint64_t sequence = 0;
  std::int64_t time = 0;      ///< nanoseconds since 1970, UTC
  std::int64_t duration = 0;  ///< nanoseconds
  bool is_incomplete = false;
  std::string parent;  ///< id, or empty
  std::array<std::uint8_t, 16> session = {};
  snapshot_statistics statistics;
  std::string host;
  std::vector<std::string> paths;
  std::vector<std::string> tags;
  std::string original;     ///< id of the snapshot of the backup that this one is a version of, or empty
  std::int64_t edited = 0;  ///< when this version was made, in nanoseconds since 1970; 0 without an original

  friend bool operator==(const snapshot&, const snapshot&) = default;
};

/// Returns invalid_argument if a string is longer than 64 KiB, if there are more than 65,535 paths or tags, or if the snapshot would
/// be longer than 16 MiB.
[[nodiscard]] status check_texts(const snapshot& facts);

/// Puts a snapshot, and returns its id. Does not sync. Errors: those of the storage; as for `check_texts`.
[[nodiscard]] result<std::string> put_snapshot(storage& objects, const snapshot& facts, const seal_key& key);

/// Errors: those of the storage; damage, also if the bytes do not have the name; invalid_argument, as for small objects.
[[nodiscard]] result<snapshot> read_snapshot(storage& objects, const std::string& id, std::uint8_t digest_bytes,
                                             const seal_key& key);

}  // namespace cutpoint::store
