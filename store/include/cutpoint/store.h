// A deduplicating store of backups: snapshots of trees of files, in a folder.
//
// docs/store.md describes its use, docs/formats/store.md its files.
#pragma once

#include <cstdint>
#include <ctime>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <cutpoint/bytes.h>
#include <cutpoint/engine.h>
#include <cutpoint/file_reader.h>
#include <cutpoint/fingerprint.h>
#include <cutpoint/path_pattern.h>
#include <cutpoint/status.h>
#include <cutpoint/tree_entry.h>
#include <cutpoint/walk.h>

namespace cutpoint {

/// What opens an encrypted store: a password, or the content of a key file.
struct store_secret {
  enum class kind { none, password, key_file };
  kind which = kind::none;
  std::string bytes;
};

/// What is fixed when a store is made.
struct store_settings {
  /// The canonical string of the chunker, as `cutpoint list` shows it; empty for the default. In an encrypted store its
  /// algorithm must take a key, which the store sets: borg2-fastcdc does.
  std::string cuts;
  /// sha256 or blake3; an encrypted store has blake3, with a key. A store with another fingerprint is for experiments.
  fingerprint_kind fingerprint = fingerprint_kind::blake3;
  /// The level of zstd, 1 to 19, or 0 for no compression.
  int compression_level = 1;
  std::uint32_t container_bytes = 32 * MiB;  ///< 64 KiB to 128 MiB
  /// Whether the store accepts fingerprints whose collisions can be made on purpose, as the papers' experiments need.
  bool is_for_experiments = false;
};

/// A snapshot of a store.
struct store_snapshot {
  std::string id;  ///< 64 hexadecimal digits
  std::uint64_t sequence = 0;
  std::int64_t time = 0;      ///< nanoseconds since 1970, UTC
  std::int64_t duration = 0;  ///< nanoseconds
  bool is_incomplete = false;
  std::string parent;  ///< id, or empty
  std::string host;
  std::vector<std::string> paths;  ///< absolute
  std::vector<std::string> tags;
  std::uint64_t files = 0;  ///< of all kinds except folders
  std::uint64_t folders = 0;
  std::uint64_t bytes = 0;             ///< of the contents, with holes
  std::uint64_t new_raw_bytes = 0;     ///< of the chunks and nodes that the backup added
  std::uint64_t new_stored_bytes = 0;  ///< the same as stored
};

/// Receives the path of a file that could not be handled completely, and why. The calls do not overlap, and may be made
/// by several threads.
using store_problem = std::function<void(const std::string& path, const status& why)>;

struct store_backup_options {
  /// Files and folders; "-" is standard input. Symbolic links are stored as links, and block devices as files.
  std::vector<std::string> paths;
  std::string standard_input_name = "stdin";
  walk_options walking = {};
  file_access access = file_access::automatic;
  std::string host;
  std::int64_t time = 0;  ///< of the snapshot, in nanoseconds since 1970; 0: now
  std::vector<std::string> tags = {};
  /// The id of the snapshot whose unchanged files are not read. Empty: the newest with the same host and paths.
  std::string parent = {};
  bool reads_everything = false;  ///< no parent is used
  std::uint64_t memory_bytes = 256 * MiB;
  store_problem problem = {};
  const cancellation* cancel = nullptr;
};

struct store_restore_options {
  std::string path = {};  ///< in the snapshot; a folder's entries are put into the target; empty: everything
  std::string target;
  std::vector<path_pattern> include = {};  ///< if not empty, only what matches
  bool replaces_files = false;
  std::uint64_t threads = 0;  ///< 0: one for each processor
  store_problem problem = {};
  const cancellation* cancel = nullptr;
};

struct store_restore_summary {
  std::uint64_t files = 0;
  std::uint64_t folders = 0;
  std::uint64_t bytes = 0;
  std::uint64_t problems = 0;
};

/// A file of a snapshot.
struct stored_file {
  std::string path;
  file_kind kind = file_kind::regular_file;
  std::uint32_t permissions = 0;
  std::uint32_t user_id = 0;
  std::uint32_t group_id = 0;
  std::uint64_t size = 0;
  std::timespec modified = {};
  std::string target;  ///< of a symbolic link
};

struct store_check_options {
  bool reads_data = false;            ///< compares all bytes of all containers with their digests
  std::uint64_t threads = 0;          ///< 0: one for each processor
  store_problem object_problem = {};  ///< receives a damaged object, by its path in the store
  /// Receives a file of a snapshot that is lost in part or as a whole, or a folder that has lost entries.
  std::function<void(const std::string& snapshot, const std::string& path, const status& why)> file_problem = {};
  const cancellation* cancel = nullptr;
};

struct store_check_summary {
  std::uint64_t containers = 0;
  std::uint64_t records = 0;
  std::uint64_t snapshots = 0;
  std::uint64_t object_problems = 0;
  std::uint64_t file_problems = 0;
  /// References to chunks that the index finds in another container than their hints say. That is no damage: a restore
  /// reads such chunks in a worse order.
  std::uint64_t moved_chunks = 0;
};

struct store_repair_options {
  std::uint64_t threads = 0;  ///< 0: one for each processor
  /// Receives a damaged object, and how many of its chunks and nodes were saved.
  std::function<void(const std::string& object, const status& why, std::uint64_t saved_records)> damaged = {};
  /// Receives a file that is left out of a snapshot, or a folder that has lost entries.
  std::function<void(const std::string& snapshot, const std::string& path, const status& why)> lost = {};
  /// Receives the ids of a snapshot that lost files and of the one that replaces it.
  std::function<void(const std::string& old_id, const std::string& new_id)> replaced = {};
  const cancellation* cancel = nullptr;
};

struct store_repair_summary {
  std::uint64_t damaged_objects = 0;
  std::uint64_t saved_records = 0;
  std::uint64_t lost_files = 0;
  std::uint64_t replaced_snapshots = 0;
};

/// A key of an encrypted store: the store's secret key, sealed for a password or a key file.
struct store_key {
  std::string id;
  store_secret::kind kind = store_secret::kind::none;
  bool is_used = false;  ///< whether it opened the store
};

struct store_statistics {
  std::uint64_t snapshots = 0;
  std::uint64_t containers = 0;
  std::uint64_t container_bytes = 0;
  std::uint64_t records = 0;  ///< chunks and nodes, by the index
  std::uint64_t shards = 0;
  std::uint64_t shard_bytes = 0;
};

/// A store in a folder. Several processes may use it at once. An object of this class is used by one thread at a time.
class backup_store {
 public:
  /// Makes a store in a folder, which is created if it does not exist. With a secret the store is encrypted. Errors:
  /// io_error, also if a store is there already; invalid_argument, for settings that a store does not take.
  [[nodiscard]] static status create(const std::string& folder, const store_settings& settings,
                                     const store_secret& secret = {});

  /// Opens a store. Records of containers that the index lacks are indexed. Errors: io_error; invalid_argument, if the
  /// secret is wrong, missing or not needed; unavailable, if this is not a store or a newer version made it.
  [[nodiscard]] static result<backup_store> open(const std::string& folder, const store_secret& secret = {});

  backup_store(backup_store&&) noexcept;
  backup_store& operator=(backup_store&&) noexcept;
  ~backup_store();

  /// Returns what was fixed when the store was made.
  [[nodiscard]] const store_settings& settings() const noexcept;
  [[nodiscard]] bool is_encrypted() const noexcept;

  /// Backs up files, and returns the snapshot, which is durable. Errors: nothing was found; io_error; cancelled. No
  /// snapshot exists then; a later backup uses what was stored.
  [[nodiscard]] result<store_snapshot> back_up(engine& threads, const store_backup_options& options);

  /// Returns all snapshots, the oldest first. Snapshots that cannot be read are reported to `problem`. Errors: io_error.
  [[nodiscard]] result<std::vector<store_snapshot>> snapshots(const store_problem& problem = {});
  /// Finds a snapshot by its id, by the begin of its id, or by the word "latest". Errors: invalid_argument, if none or
  /// several have it.
  [[nodiscard]] result<store_snapshot> find_snapshot(std::string_view id);
  /// Removes a snapshot durably. What only it refers to stays in the store. Errors: io_error; invalid_argument, if no
  /// snapshot has the id, also of the functions below.
  [[nodiscard]] status remove_snapshot(const std::string& id);

  /// Restores files, as docs/store.md says. Errors: the target cannot be used; the path does not exist; cancelled.
  [[nodiscard]] result<store_restore_summary> restore(const std::string& id, const store_restore_options& options);
  /// Calls `visit` for each file of a snapshot at or below a path, in the order of a walk. Errors: those of `visit`;
  /// io_error, also for damage; the path does not exist.
  [[nodiscard]] status list_files(const std::string& id, std::string_view path,
                                  const std::function<status(const stored_file&)>& visit);
  /// Calls `take` with the bytes [begin, end) of a regular file, in order. Errors: those of `take`; as for `list_files`.
  [[nodiscard]] status read_file(const std::string& id, std::string_view path, std::uint64_t begin, std::uint64_t end,
                                 const std::function<status(byte_span)>& take);

  /// Checks everything and reports all damage. Changes nothing. Errors: io_error, except damage; cancelled.
  [[nodiscard]] result<store_check_summary> check(const store_check_options& options);
  /// Makes the store consistent for what is left, as docs/store.md says. No other process may use it meanwhile, and this
  /// object must not be used afterwards. Errors: unavailable, if a backup is running now; as for `check`.
  [[nodiscard]] result<store_repair_summary> repair(const store_repair_options& options);
  [[nodiscard]] result<store_statistics> statistics();

  /// Returns the keys of an encrypted store. Errors: io_error; invalid_argument, if the store is not encrypted.
  [[nodiscard]] result<std::vector<store_key>> keys();
  /// Adds a key for another password or key file, durably, and returns its id. What the store is encrypted with does not
  /// change. Errors: as for `keys`; invalid_argument, for an empty secret.
  [[nodiscard]] result<std::string> add_key(const store_secret& secret);
  /// Removes a key, durably. Whoever has read it before can still open the store. Errors: as for `keys`; invalid_argument,
  /// if no key has the id, or if it is the last one.
  [[nodiscard]] status remove_key(const std::string& id);

 private:
  struct implementation;
  explicit backup_store(std::unique_ptr<implementation> held) noexcept;

  std::unique_ptr<implementation> held_;
};

}  // namespace cutpoint
