// A deduplicating store of backups: snapshots of trees of files, in a folder.
//
// docs/store.md describes its use, docs/formats/store.md its files.
#pragma once

#include <cstdint>
#include <ctime>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <cutpoint/bytes.h>
#include <cutpoint/context_file.h>
#include <cutpoint/engine.h>
#include <cutpoint/file_reader.h>
#include <cutpoint/fingerprint.h>
#include <cutpoint/path_pattern.h>
#include <cutpoint/stage_costs.h>
#include <cutpoint/status.h>
#include <cutpoint/storage.h>
#include <cutpoint/store_index.h>
#include <cutpoint/tree_entry.h>
#include <cutpoint/walk.h>

namespace cutpoint::store {
class open_store;
}

namespace cutpoint {

struct snapshot_filter;     // cutpoint/store_policy.h
struct store_diff_options;  // cutpoint/store_diff.h
struct store_diff_summary;
struct store_report_options;  // cutpoint/store_report.h
struct store_report;

/// What opens an encrypted store: a password, or the content of a key file.
struct store_secret {
  enum class kind { none, password, key_file };
  kind which = kind::none;
  std::string bytes;
};

/// What is fixed when a store is made.
struct store_settings {
  /// The canonical string of the chunker, as `cutpoint list` shows it; empty for the default. In an encrypted store its
  /// algorithm must take a key, which the store derives from its own: `toeplitz128-aes` does, the default.
  /// docs/secure-cuts.md says what each algorithm hides. A store without encryption takes no algorithm with a `secret_key`.
  std::string cuts;
  /// sha256 or blake3; an encrypted store has blake3, with a key. A store with another fingerprint is for experiments.
  fingerprint_kind fingerprint = fingerprint_kind::blake3;
  /// The level of zstd, 1 to 19, or 0 for no compression.
  int compression_level = usual_compression_level;
  std::uint32_t container_bytes = 32 * MiB;  ///< 64 KiB to 128 MiB
  /// Whether the store accepts fingerprints whose collisions can be made on purpose, as the papers' experiments need.
  bool is_for_experiments = false;
  /// Whether an encrypted store accepts keyed gear and buzhash, `borg2-fastcdc` and `borg1`, in `cuts` and in rules. Whoever sees
  /// lengths of chunks can compute the key of such cuts, and then tell which known contents are stored.
  bool accepts_insecure_cuts = false;
  /// Rules for files of some kinds, which decide by a file's name how it is cut and compressed. In an encrypted store each chunker
  /// takes a key, which the store sets, or cuts at fixed lengths. Those of long files tell where a file ends, but not what it has.
  chunking_context context = {};

  /// Sets `context`, and `cuts` if the file names the chunker of the other files. Errors: invalid_argument, if `cuts` names one, too.
  [[nodiscard]] status use(const context_file& file);
};

/// A storage that the caller provides.
struct store_storage {
  store::storage_opener open;
  std::string name = "the store";  ///< begins messages, as the path of a folder does
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
  /// Of a snapshot that was made from another one, such as with other tags: the id of the snapshot of the backup. Otherwise empty.
  std::string original;
  std::uint64_t files = 0;  ///< of all kinds except folders
  std::uint64_t folders = 0;
  std::uint64_t bytes = 0;             ///< of the contents, with holes; of a file with several names once
  std::uint64_t new_raw_bytes = 0;     ///< of the chunks and nodes that the backup added
  std::uint64_t new_stored_bytes = 0;  ///< the same as stored
  /// Of the backup that has returned this: how many chunks it stored again, because all stored copies are damaged. Otherwise 0.
  std::uint64_t healed_chunks = 0;
};

/// Which lanes cut and fingerprint what a store takes, and how much at a time. Nothing of it changes what is stored. A field means
/// what the field of `feed_options` with its name means.
struct store_lane_options {
  /// `automatic` uses devices only with rates that promise at least a tenth more speed with them.
  backend where = backend::automatic;
  std::vector<int> devices = {0};
  /// What all feeds of a call or a push session together use of each device.
  std::uint64_t device_memory_bytes = 1 * GiB;
  std::uint64_t segment_bytes = 0;  ///< 0 with `most_old_containers`, which needs segments of 20 MiB
  std::uint64_t batch_bytes = 0;
  /// The rates of `backup_store::job`, from `rates_for` or `measure_rates`, or null.
  std::shared_ptr<const job_rates> rates = nullptr;
  /// Whether `rates` that are null are measured first, once for each engine size and each list of devices that an object of the
  /// store is used with. It takes about a second, and no time if no GPU can be used.
  bool measures_rates = false;
};

/// What a backup, a copy or a push session has done with the files of one class of the store's context.
struct store_class_work {
  std::string name;                    ///< of the class
  std::uint64_t bytes = 0;             ///< that were cut
  std::uint64_t new_raw_bytes = 0;     ///< of the chunks that were added
  std::uint64_t new_stored_bytes = 0;  ///< the same as stored

  /// Adds all but the name.
  store_class_work& operator+=(const store_class_work& other) noexcept;
};

/// Where the time of a backup, a copy or a push session went. Of what was not cut, such as files that have not changed, it has
/// nothing.
struct store_work {
  double wall_seconds = 0;         ///< until everything was durable
  std::uint64_t thread_count = 1;  ///< as `engine::thread_count`
  std::uint64_t chunk_count = 0;   ///< that were looked up; those of a run count once
  stage_work reading = {};      ///< of contents, by the thread that feeds (by others in `feed`); none of a push session
  stage_work indexing = {};     ///< looks digests up, by one lane at a time
  stage_work compression = {};  ///< of new chunks, by any lanes at once
  stage_work writing = {};      ///< puts new chunks into containers, by one lane at a time
  feed_statistics feed = {};    ///< of the engine, all feeds together
  /// The classes of the store's context, files without a rule first; empty without rules.
  std::vector<store_class_work> classes = {};

  /// Returns reading, the engine's stages and, in the place of delivery, the store's, in the order in which bytes pass them.
  [[nodiscard]] std::vector<stage_cost> stages() const;
  [[nodiscard]] std::vector<device_cost> devices() const { return costs_of_devices(feed.lanes); }
  /// Returns the name of the stage or device that bounded the speed, or nullopt if nothing was cut.
  [[nodiscard]] std::optional<std::string> bottleneck() const;
  /// Returns `feed.predictions` with the limits that the store was measured to set instead of "delivery": "indexing", "writing",
  /// and the compression that processors do besides. They are in the order of the speeds that follow. Empty without rates.
  [[nodiscard]] std::vector<plan_prediction> predictions() const;
};
using store_work_function = std::function<void(const store_work&)>;

/// Receives the path of a file that could not be handled completely, and why. The calls do not overlap, and may be made
/// by several threads.
using store_problem = std::function<void(const std::string& path, const status& why)>;

/// How many files or folders a backup has met, by what the parent snapshot has of them.
struct store_backup_counts {
  std::uint64_t added = 0;    ///< that the parent does not have, or all without a parent
  std::uint64_t changed = 0;  ///< whose content or metadata differ; of folders the metadata alone
  std::uint64_t unchanged = 0;

  friend bool operator==(const store_backup_counts&, const store_backup_counts&) = default;
};

/// What a backup has done so far.
struct store_backup_progress {
  store_backup_counts files = {};    ///< of all kinds except folders; a file that waits to be stored is not counted
  store_backup_counts folders = {};  ///< at the named paths and below
  std::uint64_t bytes = 0;           ///< of the contents, with holes, that were read or found unchanged
  std::uint64_t read_bytes = 0;      ///< of these, the bytes that were read
  std::uint64_t problems = 0;
  std::uint64_t parent_files = 0;  ///< that the parent has, which are as many as may be expected; 0 without a parent
  std::uint64_t parent_bytes = 0;  ///< of the contents of the parent
  std::string path = {};           ///< of the present file or folder; empty with the totals
};

struct store_backup_options {
  /// Files and folders, which are stored whatever `walking` leaves out; "-" is standard input. Symbolic links are stored as
  /// links, or with a slash at the end of the path as the folders that they lead to; block devices are stored as files.
  std::vector<std::string> paths;
  std::string standard_input_name = "stdin";
  walk_options walking = {};
  file_access access = file_access::automatic;
  std::string host = {};
  std::int64_t time = 0;               ///< of the snapshot, in nanoseconds since 1970; 0: now
  std::vector<std::string> tags = {};  ///< none is empty or has a comma
  /// The id of the snapshot whose unchanged files are not read. Empty: the newest with the same host and paths.
  std::string parent = {};
  bool reads_everything = false;  ///< no parent is used
  /// Whether a file with the size, times and inode number that the parent has counts as unchanged on each file system. False:
  /// not on those that keep no ctime, and on FUSE, SMB, 9p, overlayfs above such a one and unknown ones only if it differs from the mtime.
  /// For sources whose files are never replaced by others with equal times.
  bool trusts_change_time = false;
  /// At most so many containers of earlier backups are referred to for each 100 MiB that are read: those that have the most
  /// of it. What only others have is stored again, so that a restore reads few containers. 0: no bound.
  std::uint64_t most_old_containers = 0;
  std::uint64_t memory_bytes = 256 * MiB;
  store_lane_options lanes = {};
  std::uint64_t most_bytes_per_second = 0;  ///< that are read of contents; 0: no bound
  store_problem problem = {};
  /// Receives what nobody may expect although it is no failure: by its path, that the store lies in a folder and is left out,
  /// or that standard input was empty; by its text, a pattern of `walking.exclude` that matched nothing.
  store_problem warning = {};
  /// Called when everything has been read, before the commit. If it returns an error, no snapshot is made.
  std::function<status()> before_commit = {};
  /// Called for each entry of a walk and each time that something was read, and with the totals at the end.
  std::function<void(const store_backup_progress&)> progress = {};
  /// Whether everything is done but writing to the store, so that the result says what a backup would add. The id is empty.
  /// About 100 bytes of memory are used for each chunk that would be new.
  bool is_dry_run = false;
  /// Whether no snapshot is made if nothing has changed since the parent at the named paths and below. A file that was so
  /// young in the parent that it is read again does not count as changed if its content is the same.
  bool skips_unchanged = false;
  store_work_function work = {};  ///< called once, when the snapshot is durable or not needed
  const cancellation* cancel = nullptr;
};

/// What a restore, a check, a prune or a copy has done of its present activity.
struct store_progress {
  std::string_view activity = {};  ///< such as "restoring files"; valid for ever
  std::uint64_t items = 0;         ///< that were done: what the activity names, such as files or containers
  std::uint64_t total_items = 0;   ///< 0: unknown
  std::uint64_t bytes = 0;         ///< that were done; 0 if the activity counts none
  std::uint64_t total_bytes = 0;   ///< 0: unknown
  std::string name = {};           ///< of the present item: a path, or the id of an object
};

/// Receives progress, often. The calls do not overlap, and may be made by several threads.
using store_progress_function = std::function<void(const store_progress&)>;

/// What a restore does with a file of its target, or would do.
enum class store_restore_action : std::uint8_t { restored, removed };

struct store_restore_options {
  std::string path = {};  ///< in the snapshot; a folder's entries are put into the target; empty: everything
  std::string target;     ///< a folder; the folder of a store is never entered
  std::vector<path_pattern> include = {};  ///< if not empty, only what matches
  std::vector<path_pattern> exclude = {};  ///< what matches is left out, also from what `include` matches
  /// Whether files that exist are changed or replaced. Otherwise they are problems. Of a regular file only what differs is
  /// written, unless it has other names or somebody else's owner.
  bool replaces_files = false;
  /// Whether files of the target are removed that the snapshot lacks. Nothing is removed that a pattern leaves out, on other
  /// file systems, in folders above the snapshot's paths, or in folders whose entries are lost. An incomplete snapshot is refused.
  bool removes_others = false;
  bool is_dry_run = false;  ///< whether nothing is changed, and only said what would be done
  /// Whether the contents are brought to the disk, read back and compared with their digests.
  bool verifies = false;
  std::uint64_t threads = 0;                ///< 0: one for each processor
  std::uint64_t most_bytes_per_second = 0;  ///< that are written of contents; 0: no bound
  /// Receives each file and folder by its path in the target, before its content is written.
  std::function<void(const std::string& path, store_restore_action action)> visit = {};
  /// Receives paths in the target, and patterns of `include` that matched nothing, by their texts.
  store_problem problem = {};
  store_problem warning = {};  ///< receives other patterns that matched nothing, by their texts
  store_progress_function progress = {};
  const cancellation* cancel = nullptr;
};

struct store_restore_summary {
  std::uint64_t files = 0;
  std::uint64_t folders = 0;
  std::uint64_t bytes = 0;  ///< of the contents, with holes
  std::uint64_t problems = 0;
  std::uint64_t written_bytes = 0;  ///< of the contents, without those that were there already and without holes
  /// Containers that chunks were read from. A large restore reads up to 65,536 chunks together, and counts anew for each
  /// time. The fewer for each MiB, the less the data are scattered.
  std::uint64_t read_containers = 0;
  std::uint64_t removed = 0;  ///< files that the snapshot lacks; a folder with everything in it counts once
  /// Names of a file with several that became files of their own, since the target permits no (further) hard link. They are a
  /// problem, which is reported once.
  std::uint64_t copied_links = 0;
};

/// A file of a snapshot, with the metadata that it had at the time.
struct stored_file : file_metadata {
  std::string path;
};

/// The containers whose data a check reads. All of the conditions hold.
struct store_data_subset {
  /// Subset `number` of `subset_count`: each container is in one of them, always the same. 1 of 1: all.
  std::uint64_t number = 1;
  std::uint64_t subset_count = 1;
  double share = 1;                       ///< of these, so many, drawn at random
  std::uint64_t most_bytes = UINT64_MAX;  ///< and so many bytes at most, but one container at least
};

struct store_check_options {
  bool reads_data = false;  ///< compares all bytes of the containers of `subset` with their digests
  store_data_subset subset = {};
  /// That read data: one container at a time, which is in memory with a record for each of them. 0: one for each processor.
  std::uint64_t threads = 0;
  store_problem object_problem = {};  ///< receives a damaged object, by its path in the store
  /// Receives a file of a snapshot that is lost in part or as a whole, or a folder that has lost entries.
  std::function<void(const std::string& snapshot, const std::string& path, const status& why)> file_problem = {};
  store_progress_function progress = {};
  const cancellation* cancel = nullptr;
};

struct store_check_summary {
  std::uint64_t containers = 0;
  std::uint64_t records = 0;  ///< in the containers that could be read
  std::uint64_t snapshots = 0;
  std::uint64_t object_problems = 0;
  std::uint64_t file_problems = 0;
  /// References to chunks that the index finds in another container than their hints say. That is no damage: a restore
  /// reads such chunks in a worse order.
  std::uint64_t moved_chunks = 0;
  std::uint64_t read_containers = 0;  ///< whose data were read

  /// Returns whether no damage was found.
  [[nodiscard]] bool is_clean() const noexcept { return object_problems == 0 && file_problems == 0; }
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

/// How tags are changed: first `tags` are set, then `added` are added behind them, then `removed` are removed.
struct store_tag_options {
  std::set<std::string> snapshots = {};               ///< ids
  std::optional<std::vector<std::string>> tags = {};  ///< instead of the tags that a snapshot has
  std::vector<std::string> added = {};                ///< unless a snapshot has them
  std::vector<std::string> removed = {};
  /// Receives the ids of a snapshot and of the one that has replaced it.
  std::function<void(const std::string& old_id, const std::string& new_id)> edited = {};
  store_problem problem = {};  ///< receives a snapshot that cannot be changed, by its id
  const cancellation* cancel = nullptr;
};

struct store_rewrite_options {
  std::set<std::string> snapshots = {};  ///< ids
  /// What matches is left out, with everything in it. Paths are relative to the path of the snapshot that they are below, as in
  /// a backup.
  std::vector<path_pattern> exclude = {};
  /// Whether the new snapshots take the places of the old ones. Otherwise both stay, and the new ones get the tag "rewrite".
  bool replaces_originals = false;
  bool is_dry_run = false;  ///< whether nothing is changed, and only said what would be left out
  /// Receives what is left out of a snapshot; a folder with everything in it once, with a slash at its end.
  std::function<void(const std::string& snapshot, const std::string& path)> left_out = {};
  /// Receives the ids of a snapshot and of its version without these files; the second is empty in a dry run.
  std::function<void(const std::string& old_id, const std::string& new_id)> edited = {};
  store_problem problem = {};  ///< receives a snapshot that cannot be rewritten, by its id
  store_problem warning = {};  ///< receives a pattern that matched nothing, by its text
  const cancellation* cancel = nullptr;
};

struct store_edit_summary {
  std::uint64_t edited = 0;     ///< snapshots of which there is a new version, or would be
  std::uint64_t unchanged = 0;  ///< for which there was nothing to do
  std::uint64_t problems = 0;
};

struct store_prune_options {
  /// The share of the containers' bytes, 0 to 1, that may stay unused. Containers with the smallest shares of used records
  /// are rewritten until it is reached, and eight or more that are small, below an eighth of a full one, are merged. A
  /// smaller share saves room and costs time; 1 rewrites nothing.
  double most_unused = 0.05;
  /// How many bytes of records are copied into new containers at most.
  std::uint64_t most_rewritten_bytes = UINT64_MAX;
  bool is_dry_run = false;  ///< says what would be removed, and changes nothing
  /// Ids of snapshots that a dry run counts as removed. Any other prune ignores them.
  std::set<std::string> forgotten = {};
  /// Receives a container that was to stay in the place of another and has a damaged record. The other stays too.
  store_problem damaged = {};
  store_progress_function progress = {};
  std::uint64_t threads = 0;  ///< 0: one for each processor
  const cancellation* cancel = nullptr;
};

/// Bytes of containers are those of their files. Unused bytes are those of records that no snapshot refers to.
struct store_prune_summary {
  std::uint64_t containers = 0;       ///< before
  std::uint64_t container_bytes = 0;  ///< before
  std::uint64_t unused_bytes = 0;     ///< before
  std::uint64_t removed_containers = 0;
  std::uint64_t removed_bytes = 0;
  std::uint64_t rewritten_containers = 0;  ///< whose used records were copied
  std::uint64_t rewritten_bytes = 0;       ///< of the copied records
  std::uint64_t left_unused_bytes = 0;
  /// Containers that were to be removed and stay, because a snapshot that was committed meanwhile refers to them.
  std::uint64_t kept_containers = 0;
  /// How many bytes more must be free before the next container can be rewritten; 0 if nothing was left for lack of room.
  std::uint64_t missing_bytes = 0;
  /// Copies of records that were to stay in the place of others and are damaged. Repair the store, and prune again.
  std::uint64_t damaged_copies = 0;
  /// Containers that are not removed yet, because sessions that began before them may refer to them. When these have ended,
  /// the next prune removes them.
  std::uint64_t waiting_containers = 0;
  std::vector<std::string> awaited;  ///< host, process and user of these sessions
};

struct store_copy_options {
  std::vector<std::string> snapshots = {};  ///< ids in the source; empty: all
  std::uint64_t threads = 0;                ///< that read chunks; 0: one for each processor
  std::uint64_t memory_bytes = 256 * MiB;
  store_lane_options lanes = {};  ///< for contents that are cut again
  /// Receives a snapshot of the source and its copy, which is durable.
  std::function<void(const store_snapshot& original, const store_snapshot& copy)> copied = {};
  /// Receives a snapshot of the source and the copy that was there before.
  std::function<void(const store_snapshot& original, const store_snapshot& copy)> skipped = {};
  store_problem problem = {};     ///< receives a snapshot that cannot be copied, by its id or its path in the source
  store_work_function work = {};  ///< called once at the end, with all copies together
  store_progress_function progress = {};
  const cancellation* cancel = nullptr;
};

struct store_copy_summary {
  std::uint64_t copied = 0;
  std::uint64_t skipped = 0;           ///< that were copied before
  std::uint64_t problems = 0;          ///< snapshots that cannot be copied
  std::uint64_t new_raw_bytes = 0;     ///< of the chunks and nodes that were added
  std::uint64_t new_stored_bytes = 0;  ///< the same as stored
};

/// A key of an encrypted store: the store's secret key, sealed for a password or a key file.
struct store_key {
  std::string id;
  store_secret::kind kind = store_secret::kind::none;
  bool is_used = false;  ///< whether it opened the store
};

/// A process that writes to a store, or one that has died and left its lease.
struct store_session {
  std::string id;
  std::string owner;  ///< host, process and user
  /// How long its lease lasts if it is not renewed, in nanoseconds. Less than 0: the next session that begins ends it.
  std::int64_t time_left = 0;
};

struct store_statistics {
  std::uint64_t snapshots = 0;
  std::uint64_t containers = 0;
  std::uint64_t container_bytes = 0;
  std::uint64_t records = 0;  ///< chunks and nodes, by the index
  std::uint64_t shards = 0;
  std::uint64_t shard_bytes = 0;
};

/// A store in a folder, or in another storage. Several processes may use it at once. An object of this class is used by one thread at a time.
class backup_store {
 public:
  /// Makes a store in a folder, which is created if it does not exist. With a secret the store is encrypted. Errors:
  /// io_error, also if a store is there already; invalid_argument, for settings that a store does not take.
  [[nodiscard]] static status create(const std::string& folder, const store_settings& settings,
                                     const store_secret& secret = {});

  /// Makes a store in a storage that has none. Errors: as above, and those of the storage.
  [[nodiscard]] static status create(const store_storage& where, const store_settings& settings,
                                     const store_secret& secret = {});

  /// Opens a store. Records of containers that the index lacks are indexed. Errors: io_error; invalid_argument, if the
  /// secret is wrong, missing (ENOKEY as the system error) or not needed; unavailable, if this is not a store (ENOENT) or a newer
  /// version made it.
  [[nodiscard]] static result<backup_store> open(const std::string& folder, const store_secret& secret = {});
  /// The same in a storage of the caller.
  [[nodiscard]] static result<backup_store> open(const store_storage& where, const store_secret& secret = {});

  backup_store(backup_store&&) noexcept;
  backup_store& operator=(backup_store&&) noexcept;
  ~backup_store();

  /// Returns what was fixed when the store was made.
  [[nodiscard]] const store_settings& settings() const noexcept;
  [[nodiscard]] bool is_encrypted() const noexcept;
  /// Returns a warning for each chunker of an encrypted store whose key lengths of chunks give away. Empty for most stores.
  [[nodiscard]] std::vector<std::string> insecure_cuts() const;
  /// Returns what the store's contents cost, for `calibrate`, `rates_for` and `measure_rates`: the cuts and the fingerprint, without
  /// the keys of an encrypted store, which change no cost and may be stored nowhere, and with these lanes.
  [[nodiscard]] feed_options job(const store_lane_options& lanes = {}) const;
  /// Returns the random identity that the store was made with, as 64 hexadecimal digits.
  [[nodiscard]] std::string identity() const;
  /// Returns whether what was stored survives a power cut, as it survives the end of any process; docs/store.md says what may be
  /// lost otherwise. A folder is asked by a sync of it, which is for those who write. Errors: io_error.
  [[nodiscard]] result<bool> survives_power_cuts();
  /// Returns the number of the newest entry of the store's log, which only grows: a store that has a smaller number than before
  /// was replaced by an older copy. Errors: io_error.
  [[nodiscard]] result<std::uint64_t> log_number();

  /// From now on backups, push sessions and copies into this store look chunks up in an index of the caller, and give it the
  /// places of the new ones; null takes that back. With `most_old_containers` the store's own index is asked for chunks that the
  /// caller's has. Not while a session is open.
  void use_index(std::shared_ptr<store_index> index);
  /// Gives that index the places of all chunks that the store has. Errors: invalid_argument, without such an index; io_error;
  /// those of the index; cancelled.
  [[nodiscard]] status fill_index(const cancellation* cancel = nullptr);

  /// Backs up files, and returns the snapshot, which is durable; its id is empty if none was made, in a dry run or because
  /// nothing has changed. Errors: nothing could be read; invalid_argument,
  /// for a path below a link that is stored as a link, for the store itself as a path, for a tag or for a device; unavailable, if no
  /// device can be used and `lanes` needs one; io_error; that of
  /// `before_commit`; cancelled. No
  /// snapshot exists then; a later backup uses what was stored.
  [[nodiscard]] result<store_snapshot> back_up(engine& threads, const store_backup_options& options);

  /// Copies snapshots of another store into this one, the oldest first, each with everything that it says of its backup.
  /// A snapshot that was copied before is skipped, and data that this store has are not stored again. If both stores have
  /// the same cuts and fingerprint and neither is encrypted, chunks are copied as they are; otherwise contents are cut
  /// again, except those of files that have not changed since an earlier snapshot that was copied. A snapshot of which the
  /// source has lost data is not copied, and the others are. Errors: invalid_argument, if the source has no snapshot with
  /// an id, or for a device; unavailable, as for `back_up`; io_error; cancelled. Each copy is a commit of its own: those that were reported stay, and a later copy uses
  /// what was stored. All are of one session, for which a prune waits.
  [[nodiscard]] result<store_copy_summary> copy_snapshots(engine& threads, backup_store& source,
                                                          const store_copy_options& options);

  /// Returns all snapshots, the oldest first. Snapshots that cannot be read are reported to `problem`. Errors: io_error.
  [[nodiscard]] result<std::vector<store_snapshot>> snapshots(const store_problem& problem = {});
  /// Returns when each snapshot was put, by its id, in nanoseconds since 1970 (UTC) by the clock of the storage: what
  /// `apply_policy` needs to distrust the times that snapshots have. The times of a folder are those of the last changes (ctime) of
  /// its files, which nobody can set. Errors: io_error; unavailable, if the storage does not know when objects were put.
  [[nodiscard]] result<std::map<std::string, std::int64_t>> put_times();
  /// Finds a snapshot by its id, by the beginning of its id, or by the word "latest". Errors: invalid_argument, if none or
  /// several have it; io_error, if one that may be meant cannot be read: no older snapshot stands in for the latest.
  [[nodiscard]] result<store_snapshot> find_snapshot(std::string_view id);
  /// The same among the snapshots that a filter matches: "latest" is the newest of them.
  [[nodiscard]] result<store_snapshot> find_snapshot(std::string_view id, const snapshot_filter& filter);
  /// The same for several snapshots, which are listed once: the outcome for each id, in their order. Errors: those of `snapshots`.
  [[nodiscard]] result<std::vector<result<store_snapshot>>> find_snapshots(std::span<const std::string> ids,
                                                                           const snapshot_filter& filter);
  /// Removes a snapshot durably. What only it refers to stays in the store until it is pruned. Errors: io_error;
  /// invalid_argument, if no snapshot has the id, also of the functions below.
  [[nodiscard]] status remove_snapshot(const std::string& id);
  /// Removes snapshots, and then makes that durable at once for all. Those that cannot be removed are reported to `problem`,
  /// by their ids, and the others are removed. Returns how many were removed. Errors: io_error, after which nobody knows
  /// which of them are removed durably; cancelled, after which those that were removed before are.
  [[nodiscard]] result<std::size_t> remove_snapshots(const std::set<std::string>& ids,
                                                     const store_problem& problem = {},
                                                     const cancellation* cancel = nullptr);

  /// Replaces snapshots by others with other tags. A snapshot never changes: the new one has another id, the same place in the
  /// order, and everything else of the old one. Errors: io_error; invalid_argument, for a tag; cancelled. Those that were
  /// reported before are replaced.
  [[nodiscard]] result<store_edit_summary> change_tags(const store_tag_options& options);
  /// Writes snapshots without files that match patterns. Their data stay in the store until the old snapshots are removed and
  /// the store is pruned. Errors: as for `change_tags`.
  [[nodiscard]] result<store_edit_summary> rewrite(const store_rewrite_options& options);

  /// Removes what no snapshot refers to. Backups may run meanwhile, in this process and in others; neither waits for the
  /// other. Wherever it stops, nothing that a snapshot refers to is lost, and the next prune goes on. Errors: io_error, also
  /// if a snapshot or a node of a tree cannot be read; unavailable, if another prune was faster; cancelled.
  [[nodiscard]] result<store_prune_summary> prune(const store_prune_options& options);

  /// Restores files, as docs/store.md says. Errors: the target cannot be used; the path does not exist; cancelled.
  [[nodiscard]] result<store_restore_summary> restore(const std::string& id, const store_restore_options& options);
  /// Calls `visit` for each file of a snapshot at or below a path, in the order of a walk. Errors: those of `visit`;
  /// io_error, also for damage; the path does not exist.
  [[nodiscard]] status list_files(const std::string& id, std::string_view path,
                                  const std::function<status(const stored_file&)>& visit);
  /// Calls `take` with the bytes [begin, end) of a regular file, in order. Errors: those of `take`; as for `list_files`.
  [[nodiscard]] status read_file(const std::string& id, std::string_view path, std::uint64_t begin, std::uint64_t end,
                                 const std::function<status(byte_span)>& take);

  /// Compares two folders of snapshots. Folders and parts of folders that are equal are not read. Errors: those of `visit`;
  /// io_error, if a folder does not exist; cancelled.
  [[nodiscard]] result<store_diff_summary> diff(const store_diff_options& options);

  /// Checks everything and reports all damage. Changes nothing. Errors: io_error, except damage; invalid_argument, for a subset
  /// that there cannot be; cancelled.
  [[nodiscard]] result<store_check_summary> check(const store_check_options& options);
  /// Makes the store consistent for what is left, as docs/store.md says. Others may use it meanwhile. Nothing but damaged parts
  /// of the index is removed: damaged containers are condemned, and the next prune removes them. Errors: unavailable, if a prune
  /// has removed what was saved, because it took the repair for dead; as for `check`.
  [[nodiscard]] result<store_repair_summary> repair(const store_repair_options& options);
  [[nodiscard]] result<store_statistics> statistics();

  /// Returns the sessions that use the store. Errors: io_error.
  [[nodiscard]] result<std::vector<store_session>> sessions();
  /// Ends a session that you declare dead, durably: its lease and temporary files are removed, and prunes do not wait for it any
  /// more. If it lives after all, nothing is lost: it commits if nothing that it refers to was removed meanwhile, and otherwise
  /// fails. Errors: io_error; invalid_argument, if no session has the id.
  [[nodiscard]] status end_session(const std::string& id);
  /// Reads the tables of all containers and all nodes of trees, and no chunk. Memory: as `prune`. Errors: io_error, also if
  /// a node of a tree cannot be read; cancelled.
  [[nodiscard]] result<store_report> report(const store_report_options& options);

  /// Returns the keys of an encrypted store. Errors: io_error; invalid_argument, if the store is not encrypted.
  [[nodiscard]] result<std::vector<store_key>> keys();
  /// Adds a key for another password or key file, durably, and returns its id. What the store is encrypted with does not
  /// change. Errors: as for `keys`; invalid_argument, for an empty secret.
  [[nodiscard]] result<std::string> add_key(const store_secret& secret);
  /// Removes a key, durably. Whoever has read it before can still open the store. Errors: as for `keys`; invalid_argument,
  /// if no key has the id, or if it is the last one.
  [[nodiscard]] status remove_key(const std::string& id);

 private:
  friend class push_session;
  friend class store_view;
  struct named_store;
  [[nodiscard]] store::open_store& internals() noexcept;
  explicit backup_store(std::unique_ptr<named_store> inside) noexcept;

  std::unique_ptr<named_store> implementation_;
};

}  // namespace cutpoint
