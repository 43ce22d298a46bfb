// Small objects: a header, a sealed body, and its tag. The config and the snapshots are such objects.
#pragma once

#include <array>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include <cutpoint/batch_fingerprinter.h>
#include <cutpoint/context.h>
#include <cutpoint/fingerprint.h>
#include <cutpoint/storage.h>

#include "store/format/object_header.h"
#include "store/format/record.h"
#include "store/format/sealer.h"
#include "store/tree/node.h"

namespace cutpoint::store {

/// Returns the bytes of a small object. The id of one that is named by its bytes may be empty.
[[nodiscard]] std::vector<std::uint8_t> encode_small_object(const object_name& name, std::vector<std::uint8_t> body,
                                                            const seal_key& key, const object_salt& salt);

/// Returns the body of a small object. Errors: those of `decode_header`; damage;
/// invalid_argument, if the object is sealed otherwise than `key` seals.
[[nodiscard]] result<std::vector<std::uint8_t>> decode_small_object(byte_span bytes, const object_name& name,
                                                                    const seal_key& key);

// The config: what is fixed when a store is made.

inline constexpr std::uint32_t least_container_bytes = 64 * KiB;
inline constexpr std::uint32_t most_container_bytes = largest_container_bytes / 2;

struct store_config {
  /// Random. Makes the keys of this store differ from those of any other.
  std::array<std::uint8_t, 32> identity = {};
  seal_kind encryption = seal_kind::checksum;
  /// The fingerprint of chunks and nodes. An encrypted store has BLAKE3, with a key.
  fingerprint_kind fingerprint = fingerprint_kind::sha256;
  record_codec codec = record_codec::zstd;
  std::uint8_t level = 1;  ///< of the codec
  std::uint32_t container_bytes = 32 * MiB;
  /// The canonical string of the chunker. In an encrypted store it lacks the key.
  std::string cuts;
  /// The rules by which files of some kinds are cut and compressed. In an encrypted store a key in them is zero.
  chunking_context context = {};

  friend bool operator==(const store_config&, const store_config&) = default;
};

[[nodiscard]] object_name config_name();
/// A second object with the same bytes, for when the first is damaged or missing.
[[nodiscard]] object_name config_copy_name();

/// Returns the bytes of a new config object.
[[nodiscard]] std::vector<std::uint8_t> encode_config(const store_config& config);
/// Makes a config durable, and then its copy. Errors: those of the storage; `is_presence` recognizes that a store is there already.
[[nodiscard]] status put_config(storage& objects, const std::vector<std::uint8_t>& bytes);

/// A config and the bytes of its object.
struct read_config_object {
  store_config config;
  std::vector<std::uint8_t> bytes;
};
/// Reads a config, or its copy if that is missing or damaged. Errors: those of the storage; `is_absence` recognizes that this is not a
/// store; damage; unavailable, if another version wrote it.
[[nodiscard]] result<read_config_object> read_config(storage& objects);

/// Receives objects that are damaged or missing.
using damaged_object_function = std::function<void(const object_name& name, const status& why)>;
/// Passes the config or its copy to `damaged` if it is not `right`. Errors: those of the storage.
[[nodiscard]] status compare_configs(storage& objects, const std::vector<std::uint8_t>& right,
                                     const damaged_object_function& damaged);

// Snapshots: the root of a tree, and facts about the backup.

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
  std::uint64_t entry = 0;    ///< number of the log's entry that was to commit it when it was put
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

/// Reads snapshots as `read_snapshot` does, many at once, and passes each to `take`, in any order. The calls do not overlap. Errors:
/// those of `take`, after which no other is read.
[[nodiscard]] status read_snapshots(storage& objects, std::span<const std::string> ids, std::uint8_t digest_bytes,
                                    const seal_key& key,
                                    const std::function<status(const std::string& id, result<snapshot> facts)>& take);

}  // namespace cutpoint::store
