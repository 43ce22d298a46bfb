// The interface for C to stores: deduplicated backups of files in a folder. docs/store.md describes what a store promises.
//
// What cutpoint.h says of errors, structures, text and the binary interface holds here too. Paths are bytes as the system
// has them. Times are nanoseconds since 1970, UTC, unless their names say otherwise. `error` may be null everywhere.
//
// Callbacks run on any thread, one at a time for each handle. If a callback returns a value other than 0, the work ends,
// and the function returns CUTPOINT_CALLBACK_FAILED. A callback may call only `cutpoint_store_cancel` on its handle. The
// pointers that a callback receives are valid only during the callback.
#pragma once

#include <cutpoint/cutpoint.h>

#ifdef __cplusplus
extern "C" {
#endif

// ---- Making and opening

/// A store in a folder. Several processes and several handles may use the same folder at once.
///
/// One thread at a time may use a handle; a second one gets CUTPOINT_BUSY, and a callback of the same handle
/// CUTPOINT_WRONG_STATE. Any thread may call `cutpoint_store_cancel`. After CUTPOINT_OUT_OF_MEMORY the
/// handle can only be destroyed; other calls return CUTPOINT_WRONG_STATE.
typedef struct cutpoint_store cutpoint_store;

enum { CUTPOINT_SECRET_NONE = 0, CUTPOINT_SECRET_PASSWORD = 1, CUTPOINT_SECRET_KEY_FILE = 2 };

/// What opens an encrypted store: the bytes of a password or of a key file.
typedef struct cutpoint_store_secret {
  uint64_t struct_bytes;
  int32_t kind;       ///< CUTPOINT_SECRET_...
  uint32_t reserved;  ///< 0
  const void* bytes;
  uint64_t byte_count;
} cutpoint_store_secret;

/// An encrypted store may cut by "borg2-fastcdc" and "borg1", whose key can be computed from lengths of chunks, which then tell
/// which known contents are stored (docs/secure-cuts.md).
enum { CUTPOINT_STORE_INSECURE_CUTS = 1 };

/// What is fixed when a store is made.
typedef struct cutpoint_store_settings {
  uint64_t struct_bytes;
  const char* cuts;           ///< as for `cutpoint_describe_cuts`, without a key; null: chunks of about 64 KiB
  const char* fingerprint;    ///< "blake3" or, without a secret, "sha256"; null: "blake3"
  int32_t compression_level;  ///< of zstd, 1 to 19; 0: 1; -1: no compression
  uint32_t container_bytes;   ///< the size of its files, 64 KiB to 128 MiB; 0: 32 MiB
  /// Rules for files of some kinds (docs/contexts.md): "prune", or the text of a context file, whose warnings are lost; null: none.
  const char* context;
  uint64_t flags;  ///< CUTPOINT_STORE_...
} cutpoint_store_settings;

/// Makes a store in a folder, which is created if it does not exist. With a secret the store is encrypted. `settings` and
/// `secret` may be null. Errors: CUTPOINT_IO_ERROR, also if a store is there already; CUTPOINT_UNKNOWN_NAME.
CUTPOINT_API cutpoint_status cutpoint_store_create(const char* folder, const cutpoint_store_settings* settings,
                                                   const cutpoint_store_secret* secret, cutpoint_error* error);

/// Opens a store. `secret` may be null. On failure `*store` becomes null. Errors: CUTPOINT_IO_ERROR;
/// CUTPOINT_INVALID_ARGUMENT, if the secret is wrong, missing or not needed; CUTPOINT_UNAVAILABLE, if this is not a store
/// or a newer version made it.
CUTPOINT_API cutpoint_status cutpoint_store_open(const char* folder, const cutpoint_store_secret* secret,
                                                 cutpoint_store** store, cutpoint_error* error);

/// Calls `visit` with a warning for each chunker of an encrypted store whose key can be computed from lengths of chunks: with none
/// unless the store was made with CUTPOINT_STORE_INSECURE_CUTS, or before there was that flag.
CUTPOINT_API cutpoint_status cutpoint_store_insecure_cuts(cutpoint_store* store,
                                                          int (*visit)(void* context, const char* warning),
                                                          void* context, cutpoint_error* error);

/// Sets `*survives` to 1 if what was stored survives a power cut, as it survives the end of any process, and to 0 if the file system
/// cannot sync folders (docs/store.md). It syncs a folder, which is for those who write. Errors: CUTPOINT_IO_ERROR.
CUTPOINT_API cutpoint_status cutpoint_store_survives_power_cuts(cutpoint_store* store, int* survives,
                                                                cutpoint_error* error);

/// Destroys a handle. Has no effect if `store` is null. Errors: CUTPOINT_BUSY; CUTPOINT_WRONG_STATE, also if a push session on it
/// was not destroyed. After an error the handle still exists.
CUTPOINT_API cutpoint_status cutpoint_store_destroy(cutpoint_store* store);

/// Ends the call that is running, and every later one, with CUTPOINT_CANCELLED. Async-signal-safe.
CUTPOINT_API cutpoint_status cutpoint_store_cancel(cutpoint_store* store);

// ---- Snapshots

enum { CUTPOINT_SNAPSHOT_INCOMPLETE = 1 };  ///< a file could not be handled completely

/// A snapshot. The library sets `struct_bytes`; fields that lie behind it do not exist.
typedef struct cutpoint_store_snapshot {
  uint64_t struct_bytes;
  const char* id;  ///< 64 hexadecimal digits
  uint64_t sequence;
  int64_t time;
  int64_t duration;    ///< in nanoseconds
  uint64_t flags;      ///< CUTPOINT_SNAPSHOT_...
  const char* parent;  ///< an id, or ""
  const char* host;
  const char* const* paths;  ///< absolute
  uint64_t path_count;
  const char* const* tags;
  uint64_t tag_count;
  uint64_t files;  ///< of all kinds except folders
  uint64_t folders;
  uint64_t bytes;             ///< of the contents, with holes
  uint64_t new_raw_bytes;     ///< of the chunks and nodes that the backup added
  uint64_t new_stored_bytes;  ///< the same as stored
  const char* original;       ///< of one that was made from another one: the id of the backup's snapshot; else ""
  uint64_t healed_chunks;     ///< that a backup stored again, because all copies are damaged; 0 if it was looked up
} cutpoint_store_snapshot;

/// Receives what could not be handled completely, by its path, and why. `message` is one sentence.
typedef int (*cutpoint_store_problem)(void* context, const char* path, cutpoint_status code, const char* message);

enum {
  CUTPOINT_BACKUP_ONE_FILE_SYSTEM = 1,  ///< folders on other file systems are stored but not entered
  CUTPOINT_BACKUP_EXCLUDE_CACHES = 2,   ///< of folders with a CACHEDIR.TAG only this tag is stored
  CUTPOINT_BACKUP_READ_EVERYTHING = 4,  ///< unchanged files are read too
  CUTPOINT_BACKUP_DRY_RUN = 8,  ///< nothing is written, and the snapshot, whose id is "", says what would be added
  CUTPOINT_BACKUP_SKIP_UNCHANGED = 16,    ///< without a change since the parent no snapshot is made, and its id is ""
  CUTPOINT_BACKUP_TRUST_CHANGE_TIME = 32  ///< as `store_backup_options::trusts_change_time`
};

/// What a restore, a check, a prune or a copy has done of its present activity. The library sets `struct_bytes`; fields that lie
/// behind it do not exist.
typedef struct cutpoint_store_progress {
  uint64_t struct_bytes;
  const char* activity;  ///< such as "restoring files"
  uint64_t items;        ///< that were done: what the activity names, such as files or containers
  uint64_t total_items;  ///< 0: unknown
  uint64_t bytes;        ///< that were done; 0 if the activity counts none
  uint64_t total_bytes;  ///< 0: unknown
  const char* name;      ///< of the present item: a path, or the id of an object
} cutpoint_store_progress;

/// What a backup has done so far. The library sets `struct_bytes`; fields that lie behind it do not exist.
typedef struct cutpoint_store_backup_progress {
  uint64_t struct_bytes;
  uint64_t new_files;  ///< that the parent does not have, or all without a parent; of all kinds except folders
  uint64_t changed_files;
  uint64_t unchanged_files;
  uint64_t new_folders;
  uint64_t changed_folders;
  uint64_t unchanged_folders;
  uint64_t bytes;       ///< of the contents, with holes, that were read or found unchanged
  uint64_t read_bytes;  ///< of these, the bytes that were read
  uint64_t problems;
  uint64_t parent_files;  ///< that the parent has, which are as many as may be expected; 0 without a parent
  uint64_t parent_bytes;  ///< of the contents of the parent
  const char* path;       ///< of the present file or folder; "" with the totals, which come last
} cutpoint_store_backup_progress;

enum {
  /// The rates of this machine are measured first, once for each handle, engine size and list of devices. It takes about a second,
  /// and no time if no GPU can be used. Without rates "auto" uses no GPU, and "hybrid" learns them while it works.
  CUTPOINT_LANES_MEASURE = 1
};

/// Which lanes cut and fingerprint what a store takes, and how much at a time. Nothing of it changes what is stored.
typedef struct cutpoint_store_lanes {
  uint64_t struct_bytes;
  const char* back_end;          ///< a name; null: "auto"
  const int32_t* devices;        ///< numbers of the GPUs that may be used; null: the first
  uint64_t device_count;         ///< the number of `devices`
  uint64_t device_memory_bytes;  ///< the most memory that is used on each GPU; 0: 1 GiB
  uint64_t segment_bytes;        ///< the size of the segments that threads take; 0: chosen by the engine
  uint64_t flags;                ///< CUTPOINT_LANES_...
} cutpoint_store_lanes;

/// Receives once, when everything is durable, what the engine has done; `device_warning` says whether a GPU has failed.
typedef void (*cutpoint_store_work)(void* context, const cutpoint_statistics* work);

typedef struct cutpoint_store_backup_options {
  uint64_t struct_bytes;
  const char* const* paths;  ///< files and folders; "-" is standard input
  uint64_t path_count;       ///< at least 1
  const char* host;          ///< null: ""
  const char* const* tags;
  uint64_t tag_count;
  /// Id of the snapshot whose unchanged files are not read; null: the newest with this host and these paths.
  const char* parent;
  int64_t time;                     ///< of the snapshot; 0: now
  const char* standard_input_name;  ///< null: "stdin"
  const char* const* exclude;       ///< patterns of what is left out, as for the command
  uint64_t exclude_count;
  const char* const* include;  ///< if there are any, only what matches is stored
  uint64_t include_count;
  uint64_t flags;         ///< CUTPOINT_BACKUP_...
  uint64_t memory_bytes;  ///< 0: 256 MiB
  void* context;
  cutpoint_store_problem problem;  ///< may be null
  /// At most so many containers of earlier backups are referred to for each 100 MiB that are read, and what only others
  /// have is stored again, so that a restore reads few containers. 0: no bound.
  uint64_t most_old_containers;
  uint64_t most_bytes_per_second;  ///< that are read of contents; 0: no bound
  /// Called for each entry and each time that something was read; may be null.
  int (*progress)(void* context, const cutpoint_store_backup_progress* progress);
  const cutpoint_store_lanes* lanes;  ///< null: the defaults
  cutpoint_store_work work;           ///< may be null
  /// Receives what nobody may expect although it is no failure: a folder, that the store in it is left out; standard input,
  /// that it was empty; a pattern of `exclude`, that nothing matched it. May be null.
  cutpoint_store_problem warning;
} cutpoint_store_backup_options;

/// Backs up files with the threads of an engine. `*snapshot` is durable then; `snapshot` may be null. It stays valid until
/// the next `cutpoint_store_back_up` or `cutpoint_store_find_snapshot` on this handle. After an error there is no
/// snapshot, except after CUTPOINT_OUT_OF_MEMORY, when there may be one; a later backup uses what was stored. A file that
/// cannot be read is a problem, no error. Errors: CUTPOINT_UNAVAILABLE, for a back end that does not run here;
/// CUTPOINT_INVALID_ARGUMENT, also for a GPU that does not exist.
CUTPOINT_API cutpoint_status cutpoint_store_back_up(cutpoint_store* store, cutpoint_engine* engine,
                                                    const cutpoint_store_backup_options* options,
                                                    const cutpoint_store_snapshot** snapshot, cutpoint_error* error);

typedef int (*cutpoint_store_visit)(void* context, const cutpoint_store_snapshot* snapshot);

/// Calls `visit` for each snapshot, the oldest first. `problem` receives those that cannot be read, and may be null.
CUTPOINT_API cutpoint_status cutpoint_store_snapshots(cutpoint_store* store, cutpoint_store_visit visit,
                                                      cutpoint_store_problem problem, void* context,
                                                      cutpoint_error* error);

/// Finds a snapshot by its id, by the beginning of its id, or by the word "latest". `*snapshot` stays valid as for
/// `cutpoint_store_back_up`. Errors: CUTPOINT_INVALID_ARGUMENT, if none or several have it.
CUTPOINT_API cutpoint_status cutpoint_store_find_snapshot(cutpoint_store* store, const char* id,
                                                          const cutpoint_store_snapshot** snapshot,
                                                          cutpoint_error* error);

/// Removes a snapshot durably, but not its data. `id` is whole, here and below. Errors: CUTPOINT_INVALID_ARGUMENT, if no
/// snapshot has it.
CUTPOINT_API cutpoint_status cutpoint_store_remove_snapshot(cutpoint_store* store, const char* id,
                                                            cutpoint_error* error);

/// Removes snapshots, and makes that durable at once for all. `problem` receives the ids of those that cannot be removed, and may
/// be null. After another error some of them may be removed.
CUTPOINT_API cutpoint_status cutpoint_store_remove_snapshots(cutpoint_store* store, const char* const* ids,
                                                             uint64_t id_count, cutpoint_store_problem problem,
                                                             void* context, cutpoint_error* error);

/// Receives the ids of a snapshot and of the one that replaces it or was made from it.
typedef int (*cutpoint_store_edited)(void* context, const char* old_id, const char* new_id);

enum { CUTPOINT_TAGS_SET = 1 };  ///< `tags` take the place of those that a snapshot has, also if there are none

/// First tags are set, then those of `added` are added behind them, then those of `removed` are removed.
typedef struct cutpoint_store_tag_options {
  uint64_t struct_bytes;
  const char* const* snapshots;  ///< ids
  uint64_t snapshot_count;
  const char* const* tags;
  uint64_t tag_count;
  const char* const* added;  ///< unless a snapshot has them
  uint64_t added_count;
  const char* const* removed;
  uint64_t removed_count;
  uint64_t flags;  ///< CUTPOINT_TAGS_...
  void* context;
  cutpoint_store_edited edited;    ///< may be null, as the one below
  cutpoint_store_problem problem;  ///< receives a snapshot that cannot be changed, by its id
} cutpoint_store_tag_options;

typedef struct cutpoint_store_edit_summary {
  uint64_t struct_bytes;
  uint64_t edited;     ///< snapshots of which there is a new version, or would be
  uint64_t unchanged;  ///< for which there was nothing to do
  uint64_t problems;
} cutpoint_store_edit_summary;

/// Replaces snapshots by others with other tags, other ids and everything else of the old ones. `summary` may be null. Errors:
/// CUTPOINT_INVALID_ARGUMENT, for a tag. Those that `edited` has received before an error are replaced.
CUTPOINT_API cutpoint_status cutpoint_store_change_tags(cutpoint_store* store,
                                                        const cutpoint_store_tag_options* options,
                                                        cutpoint_store_edit_summary* summary, cutpoint_error* error);

enum {
  /// The new snapshots take the places of the old ones. Otherwise both stay, and the new ones get the tag "rewrite".
  CUTPOINT_REWRITE_REPLACE = 1,
  CUTPOINT_REWRITE_DRY_RUN = 2  ///< nothing is changed, and `edited` receives "" for the new ids
};

typedef struct cutpoint_store_rewrite_options {
  uint64_t struct_bytes;
  const char* const* snapshots;  ///< ids
  uint64_t snapshot_count;
  const char* const* exclude;  ///< patterns of what is left out, as for a backup
  uint64_t exclude_count;
  uint64_t flags;  ///< CUTPOINT_REWRITE_...
  void* context;
  /// Receives what is left out of a snapshot; a folder with everything in it once, with a slash at its end. May be null, as
  /// those below.
  int (*left_out)(void* context, const char* snapshot_id, const char* path);
  cutpoint_store_edited edited;
  cutpoint_store_problem problem;  ///< receives a snapshot that cannot be rewritten, by its id
  cutpoint_store_problem warning;  ///< receives a pattern that matched nothing
} cutpoint_store_rewrite_options;

/// Writes snapshots without files that match patterns. Their data stay until the old snapshots are removed and the store is
/// pruned. `summary` may be null. Errors: as for `cutpoint_store_change_tags`.
CUTPOINT_API cutpoint_status cutpoint_store_rewrite(cutpoint_store* store,
                                                    const cutpoint_store_rewrite_options* options,
                                                    cutpoint_store_edit_summary* summary, cutpoint_error* error);

enum {
  CUTPOINT_FORGET_REHEARSE = 1,   ///< nothing is removed
  CUTPOINT_FORGET_ANY_HOST = 2,   ///< snapshots of several hosts may be in one group
  CUTPOINT_FORGET_ANY_PATHS = 4,  ///< snapshots of several lists of paths may be in one group
  CUTPOINT_FORGET_BY_TAGS = 8,    ///< snapshots of one group have the same tags
  /// Snapshots count at the times when they were put, and those whose times plus durations differ from that by more than an hour are
  /// kept and take no place. Their only reason begins with "distrusted time".
  CUTPOINT_FORGET_DISTRUST_TIMES = 16
};

/// The rules by which snapshots are kept, as `cutpoint forget` has them. A snapshot is kept if one of them keeps it. They
/// are applied to each group of snapshots with the same host and paths on its own.
typedef struct cutpoint_store_forget_options {
  uint64_t struct_bytes;
  uint64_t keep_last;    ///< so many of the newest snapshots; 0: no rule, UINT64_MAX: no bound, here and below
  uint64_t keep_hourly;  ///< the newest snapshot of each of the last so many hours that have one, and so on
  uint64_t keep_daily;
  uint64_t keep_weekly;
  uint64_t keep_monthly;
  uint64_t keep_yearly;
  /// Those that are less than a span, such as "1y2m3d4h", older than the newest one. Null: no rule, here and below.
  const char* keep_within;
  const char* keep_within_hourly;  ///< of those in a span the newest of each hour, and so on
  const char* keep_within_daily;
  const char* keep_within_weekly;
  const char* keep_within_monthly;
  const char* keep_within_yearly;
  const char* const* keep_tags;  ///< those that have one of the tags; "" stands for no tags, here and below
  uint64_t keep_tag_count;
  const char* const* hosts;  ///< if there are any, only snapshots of one of the hosts are looked at
  uint64_t host_count;
  const char* const* paths;  ///< only those that have all of the paths
  uint64_t path_count;
  const char* const* tags;  ///< if there are any, only those that have one of the tags
  uint64_t tag_count;
  uint64_t flags;  ///< CUTPOINT_FORGET_...
  void* context;
  /// Receives each snapshot that is looked at, and why it is kept. It is removed if there is no reason. May be null.
  int (*decided)(void* context, const cutpoint_store_snapshot* snapshot, const char* const* reasons,
                 uint64_t reason_count);
  cutpoint_store_problem problem;  ///< receives snapshots that cannot be read, which are kept; may be null
} cutpoint_store_forget_options;

/// Removes the snapshots that no rule keeps, durably, but not their data. All decisions are passed to `decided` before the
/// first snapshot is removed; nothing is removed if it fails. After another error some of the snapshots may be removed.
/// Hours to years are those of the process's local time zone. Errors: CUTPOINT_INVALID_ARGUMENT, if there is no rule, or if
/// the rules keep no snapshot of a group; CUTPOINT_UNAVAILABLE, if times are distrusted and it is not known when snapshots were put.
CUTPOINT_API cutpoint_status cutpoint_store_forget(cutpoint_store* store, const cutpoint_store_forget_options* options,
                                                   cutpoint_error* error);

/// Receives a snapshot of the source, and its copy.
typedef int (*cutpoint_store_copied)(void* context, const cutpoint_store_snapshot* original,
                                     const cutpoint_store_snapshot* copy);

typedef struct cutpoint_store_copy_options {
  uint64_t struct_bytes;
  const char* const* snapshots;  ///< ids in the source; if there are none, all are copied
  uint64_t snapshot_count;
  uint64_t threads;       ///< that read; 0: one for each processor
  uint64_t memory_bytes;  ///< 0: 256 MiB
  void* context;
  cutpoint_store_copied copied;    ///< the copy is durable; may be null, as those below
  cutpoint_store_copied skipped;   ///< the copy was there before
  cutpoint_store_problem problem;  ///< receives a snapshot that cannot be copied, by its id or its path in the source
  /// Called often with what was done; may be null.
  int (*progress)(void* context, const cutpoint_store_progress* progress);
  const cutpoint_store_lanes* lanes;  ///< for contents that are cut again; null: the defaults
  cutpoint_store_work work;           ///< may be null
} cutpoint_store_copy_options;

typedef struct cutpoint_store_copy_summary {
  uint64_t struct_bytes;
  uint64_t copied;
  uint64_t skipped;           ///< that were copied before
  uint64_t problems;          ///< snapshots that cannot be copied
  uint64_t new_raw_bytes;     ///< of the chunks and nodes that were added
  uint64_t new_stored_bytes;  ///< the same as stored
} cutpoint_store_copy_summary;

/// Copies snapshots of another store into this one, the oldest first. Each copy is durable on its own. The call uses both
/// handles; its callbacks are those of `store`, and `cutpoint_store_cancel` on `store` ends it. `options` and `summary` may
/// be null. Errors: CUTPOINT_INVALID_ARGUMENT, if the source has no snapshot with an id, or if the handles are the same.
CUTPOINT_API cutpoint_status cutpoint_store_copy_snapshots(cutpoint_store* store, cutpoint_engine* engine,
                                                           cutpoint_store* source,
                                                           const cutpoint_store_copy_options* options,
                                                           cutpoint_store_copy_summary* summary, cutpoint_error* error);

// ---- Pushing streams

/// A session that stores streams of bytes as the files of one snapshot. They are cut, deduplicated and stored as a backup does
/// with files of the same content. Nothing is visible before the commit. A session that was destroyed before, or whose process
/// died, has abandoned everything; what it stored is used by later backups, or removed by the next prune.
///
/// Any threads may call `cutpoint_push_begin_stream`, `cutpoint_push_add` and `cutpoint_push_cancel`, and use different streams,
/// at once. `cutpoint_push_begin`, `cutpoint_push_commit` and `cutpoint_push_destroy` use the store's handle, which may be used
/// for anything else in between, and no other call on the session may run meanwhile. After CUTPOINT_OUT_OF_MEMORY a session can
/// only be destroyed; other calls return CUTPOINT_WRONG_STATE.
typedef struct cutpoint_push cutpoint_push;

/// A file that is being pushed. One thread at a time may use it; a second one gets CUTPOINT_BUSY.
typedef struct cutpoint_push_stream cutpoint_push_stream;

typedef struct cutpoint_push_options {
  uint64_t struct_bytes;
  const char* host;  ///< null: ""
  const char* const*
      paths;  ///< what the snapshot is of: everything lies at or below one of them; if there are none, "/"
  uint64_t path_count;
  const char* const* tags;
  uint64_t tag_count;
  int64_t time;           ///< of the snapshot; 0: when the session begins
  uint64_t most_streams;  ///< that are open at once and share the memory, the engine's too if that is bounded; 0: 4
  uint64_t memory_bytes;  ///< half of it for streams, and half for what is known of the files; 0: 256 MiB
  uint64_t most_bytes_per_second;  ///< that all streams together take; 0: no bound
  void* context;
  cutpoint_store_problem problem;  ///< receives a stream that failed; may be null
  /// Each stream may use its share of a GPU's memory. Null: the defaults.
  const cutpoint_store_lanes* lanes;
  cutpoint_store_work work;  ///< may be null
} cutpoint_push_options;

/// An extended attribute, such as "user.comment".
typedef struct cutpoint_attribute {
  const char* name;
  const void* value;
  uint64_t byte_count;
} cutpoint_attribute;

/// Which fields of a `cutpoint_pushed_file` count.
enum { CUTPOINT_PUSHED_PERMISSIONS = 1, CUTPOINT_PUSHED_OWNER = 2, CUTPOINT_PUSHED_MODIFIED = 4 };

typedef struct cutpoint_pushed_file {
  uint64_t struct_bytes;
  const char* path;      ///< in the snapshot, such as "/vm/disk.img"; no name in it is empty, "." or ".."
  const char* target;    ///< of a symbolic link; null for other files
  int32_t kind;          ///< CUTPOINT_DIRECTORY and so on; of a stream it does not count
  uint32_t flags;        ///< CUTPOINT_PUSHED_...
  uint32_t permissions;  ///< mode bits without the kind; by default 0600, and of a folder 0700
  uint32_t user_id;      ///< by default that of the process, and so is the group
  uint32_t group_id;
  uint32_t reserved;         ///< 0
  int64_t modified_seconds;  ///< since 1970, UTC; by default now
  int64_t modified_nanoseconds;
  uint64_t device_number;  ///< of a character or block device
  const cutpoint_attribute* attributes;
  uint64_t attribute_count;
} cutpoint_pushed_file;

/// Begins a session with the threads of an engine. `options` may be null. On failure `*push` becomes null. As long as the session
/// is not destroyed, the store cannot be. If the engine's memory is bounded, what `most_streams` streams need is reserved until the session
/// ends. Errors: CUTPOINT_MEMORY_LIMIT, with the `memory_bytes` of the engine or of the session that would do.
CUTPOINT_API cutpoint_status cutpoint_push_begin(cutpoint_store* store, cutpoint_engine* engine,
                                                 const cutpoint_push_options* options, cutpoint_push** push,
                                                 cutpoint_error* error);

/// Begins a stream, which becomes a regular file. Folders above it that were not added are made. On failure `*stream` becomes
/// null. Errors: CUTPOINT_INVALID_ARGUMENT, for a path that is there already, that leads through a file, that lies below no path
/// of the snapshot, or that no snapshot can have, or if `most_streams` are open; CUTPOINT_MEMORY_LIMIT; as for
/// `cutpoint_push_write`.
CUTPOINT_API cutpoint_status cutpoint_push_begin_stream(cutpoint_push* push, const cutpoint_pushed_file* file,
                                                        cutpoint_push_stream** stream, cutpoint_error* error);

/// Takes the next bytes of a stream. Waits as long as there is no memory for them, or by `most_bytes_per_second`. After an error
/// other than CUTPOINT_BUSY and CUTPOINT_INVALID_ARGUMENT no stream can go on, and nothing can be committed.
CUTPOINT_API cutpoint_status cutpoint_push_write(cutpoint_push_stream* stream, const void* bytes, size_t byte_count,
                                                 cutpoint_error* error);
/// Takes a hole: zeros that are not stored. Errors: as for `cutpoint_push_write`.
CUTPOINT_API cutpoint_status cutpoint_push_write_hole(cutpoint_push_stream* stream, uint64_t byte_count,
                                                      cutpoint_error* error);

/// Ends a stream, which is whole, and destroys its handle, also after an error other than CUTPOINT_BUSY. Errors: as for
/// `cutpoint_push_write`.
CUTPOINT_API cutpoint_status cutpoint_push_end(cutpoint_push_stream* stream, cutpoint_error* error);
/// Ends a stream, which has failed, and destroys its handle. The snapshot lacks the file and is incomplete, and `problem` gets
/// the reason, which may be null. The path may be pushed again. Has no effect if `stream` is null. Errors: CUTPOINT_BUSY.
CUTPOINT_API cutpoint_status cutpoint_push_fail(cutpoint_push_stream* stream, const char* reason);

/// Adds a file without content, such as a folder or a symbolic link. Errors: as for `cutpoint_push_begin_stream`.
CUTPOINT_API cutpoint_status cutpoint_push_add(cutpoint_push* push, const cutpoint_pushed_file* file,
                                               cutpoint_error* error);

/// Commits the snapshot, which is durable then, and ends the session. `snapshot` may be null; `*snapshot` stays valid until the
/// session is destroyed. Errors: CUTPOINT_INVALID_ARGUMENT, if a stream has not ended, after which the session goes on, or if
/// there is nothing to commit; CUTPOINT_BUSY, if another call uses the store; CUTPOINT_CANCELLED. No snapshot exists then.
CUTPOINT_API cutpoint_status cutpoint_push_commit(cutpoint_push* push, const cutpoint_store_snapshot** snapshot,
                                                  cutpoint_error* error);

/// Ends the calls that are running, and every later one, with CUTPOINT_CANCELLED. Async-signal-safe.
CUTPOINT_API cutpoint_status cutpoint_push_cancel(cutpoint_push* push);

/// Destroys a session, and abandons it unless it was committed. Streams that have not ended must still be ended, and fail. Has no
/// effect if `push` is null. Errors: CUTPOINT_BUSY, CUTPOINT_WRONG_STATE, as for the store, which is used. After an error the
/// session still exists.
CUTPOINT_API cutpoint_status cutpoint_push_destroy(cutpoint_push* push);

// ---- Files of a snapshot

enum {
  CUTPOINT_RESTORE_REPLACE_FILES = 1,  ///< files that exist are changed or replaced; otherwise they are problems
  CUTPOINT_RESTORE_VERIFY = 2,         ///< contents are read back from the disk and compared with their digests
  /// Files of the target that the snapshot lacks are removed, unless a pattern leaves them out.
  CUTPOINT_RESTORE_REMOVE_OTHERS = 4,
  CUTPOINT_RESTORE_DRY_RUN = 8  ///< nothing is changed, and the summary says what would be done
};

/// What a restore does with a file of its target, or would do.
enum { CUTPOINT_FILE_RESTORED = 0, CUTPOINT_FILE_REMOVED = 1 };

typedef struct cutpoint_store_restore_options {
  uint64_t struct_bytes;
  const char* target;          ///< a folder
  const char* path;            ///< a folder's entries are put into the target; null: everything
  const char* const* include;  ///< patterns; if there are any, only what matches is restored
  uint64_t include_count;
  uint64_t flags;    ///< CUTPOINT_RESTORE_...
  uint64_t threads;  ///< 0: one for each processor
  void* context;
  /// Receives paths in the target, and patterns of `include` that matched nothing; may be null.
  cutpoint_store_problem problem;
  const char* const* exclude;  ///< patterns; what matches is left out
  uint64_t exclude_count;
  uint64_t most_bytes_per_second;  ///< that are written of contents; 0: no bound
  /// Called often with what was done; may be null.
  int (*progress)(void* context, const cutpoint_store_progress* progress);
  /// Receives each file and folder by its path in the target, before its content is written. `action` is CUTPOINT_FILE_....
  /// May be null.
  int (*visit)(void* context, const char* path, int action);
  cutpoint_store_problem warning;  ///< receives patterns of `exclude` that matched nothing; may be null
} cutpoint_store_restore_options;

typedef struct cutpoint_store_restore_summary {
  uint64_t struct_bytes;
  uint64_t files;
  uint64_t folders;
  uint64_t bytes;  ///< of the contents, with holes
  uint64_t problems;
  uint64_t written_bytes;    ///< of the contents, without those that were there already and without holes
  uint64_t read_containers;  ///< that chunks were read from; counted anew for each 65,536 chunks or 1,024 files
  uint64_t removed;          ///< files that the snapshot lacks; a folder with everything in it counts once
  uint64_t copied_links;     ///< names of a file with several that became copies, since the target permits no hard link
} cutpoint_store_restore_summary;

/// Restores files. The caller must set the `struct_bytes` of `summary`, which may be null. Errors: the target cannot be
/// used; the path does not exist.
CUTPOINT_API cutpoint_status cutpoint_store_restore(cutpoint_store* store, const char* id,
                                                    const cutpoint_store_restore_options* options,
                                                    cutpoint_store_restore_summary* summary, cutpoint_error* error);

enum {
  CUTPOINT_DIRECTORY = 0,
  CUTPOINT_REGULAR_FILE = 1,
  CUTPOINT_SYMBOLIC_LINK = 2,
  CUTPOINT_FIFO = 3,
  CUTPOINT_SOCKET = 4,
  CUTPOINT_CHARACTER_DEVICE = 5,
  CUTPOINT_BLOCK_DEVICE = 6
};

/// A file of a snapshot. The library sets `struct_bytes`; fields that lie behind it do not exist.
typedef struct cutpoint_stored_file {
  uint64_t struct_bytes;
  const char* path;
  const char* target;    ///< of a symbolic link, or ""
  int32_t kind;          ///< CUTPOINT_DIRECTORY and so on
  uint32_t permissions;  ///< mode bits without the kind
  uint32_t user_id;
  uint32_t group_id;
  uint64_t size;
  int64_t modified_seconds;  ///< since 1970, UTC
  int64_t modified_nanoseconds;
  int64_t changed_seconds;  ///< ctime; 0 if the file was so young that this does not tell later changes
  int64_t changed_nanoseconds;
  uint64_t link_count;
  uint64_t
      device;  ///< 0, or of a file with several names the ordinal of its file system; older snapshots have the system's number
  uint64_t inode;
  uint64_t device_number;  ///< of a character or block device
  uint64_t file_flags;     ///< as FS_IOC_GETFLAGS numbers them: 0x10 immutable, 0x20 append only, 0x40 no dump
} cutpoint_stored_file;

/// Calls `visit` for each file of a snapshot at or below a path, in the order of a walk. `path` may be null: "/".
CUTPOINT_API cutpoint_status cutpoint_store_list_files(cutpoint_store* store, const char* id, const char* path,
                                                       int (*visit)(void* context, const cutpoint_stored_file* file),
                                                       void* context, cutpoint_error* error);

/// Calls `take` with the bytes of a regular file from `begin` up to `end`, in order and in blocks of any size. What lies
/// behind the end of the file is left out.
CUTPOINT_API cutpoint_status cutpoint_store_read_file(cutpoint_store* store, const char* id, const char* path,
                                                      uint64_t begin, uint64_t end,
                                                      int (*take)(void* context, const void* bytes, size_t byte_count),
                                                      void* context, cutpoint_error* error);

enum {
  CUTPOINT_CHANGE_ADDED = 0,
  CUTPOINT_CHANGE_REMOVED = 1,
  CUTPOINT_CHANGE_MODIFIED = 2,  ///< a file has other content, or a symbolic link another target
  CUTPOINT_CHANGE_RETYPED = 3,   ///< a name is a file of another kind
  CUTPOINT_CHANGE_METADATA = 4   ///< nothing but metadata differs
};

enum { CUTPOINT_DIFF_METADATA = 1 };  ///< files are reported of which only metadata differs

typedef struct cutpoint_store_diff_options {
  uint64_t struct_bytes;
  const char* before;       ///< id of a snapshot
  const char* before_path;  ///< a folder in it; null: everything
  const char* after;        ///< as those of `before`
  const char* after_path;
  uint64_t flags;  ///< CUTPOINT_DIFF_...
  void* context;
  /// Receives each change; may be null. The path is one in the compared folders; it begins with a slash, and that of a folder ends with
  /// one. `change` is CUTPOINT_CHANGE_...; `kind` is CUTPOINT_DIRECTORY and so on, of the newer file, if there is one.
  int (*visit)(void* context, const char* path, int change, int kind);
  cutpoint_store_problem problem;  ///< receives what cannot be compared; may be null
} cutpoint_store_diff_options;

typedef struct cutpoint_store_diff_summary {
  uint64_t struct_bytes;
  uint64_t modified;  ///< files and links
  uint64_t added_files;
  uint64_t added_folders;
  uint64_t added_others;  ///< such as links and devices
  uint64_t added_bytes;   ///< the sizes of the files, and what only the newer version of modified ones has
  uint64_t removed_files;
  uint64_t removed_folders;
  uint64_t removed_others;
  uint64_t removed_bytes;
  uint64_t problems;
} cutpoint_store_diff_summary;

/// Compares two snapshots, or two folders of snapshots. What is equal is not read. `summary` may be null. Errors:
/// CUTPOINT_IO_ERROR, if a folder does not exist.
CUTPOINT_API cutpoint_status cutpoint_store_diff(cutpoint_store* store, const cutpoint_store_diff_options* options,
                                                 cutpoint_store_diff_summary* summary, cutpoint_error* error);

// ---- The whole store

enum { CUTPOINT_PRUNE_REHEARSE = 1 };  ///< nothing is changed

typedef struct cutpoint_store_prune_options {
  uint64_t struct_bytes;
  /// The share of the containers' bytes that may stay unused, up to 1. Containers are rewritten until it is reached. 0:
  /// 0.05; -1: none.
  double most_unused;
  uint64_t most_rewritten_bytes;  ///< so many bytes are copied at most; 0: no bound
  uint64_t flags;                 ///< CUTPOINT_PRUNE_...
  uint64_t threads;               ///< 0: one for each processor
  void* context;
  /// Receives the host, process and user of a session for which containers wait. May be null.
  int (*awaited)(void* context, const char* session);
  /// Called often with what was done; may be null.
  int (*progress)(void* context, const cutpoint_store_progress* progress);
  const char* const* forgotten;  ///< ids of snapshots that a rehearsal counts as removed
  uint64_t forgotten_count;
  /// Receives a container that was to stay in the place of another and has a damaged record. May be null.
  cutpoint_store_problem damaged;
} cutpoint_store_prune_options;

/// Unused bytes are those of records that no snapshot refers to.
typedef struct cutpoint_store_prune_summary {
  uint64_t struct_bytes;
  uint64_t containers;       ///< before
  uint64_t container_bytes;  ///< before
  uint64_t unused_bytes;     ///< before
  uint64_t removed_containers;
  uint64_t removed_bytes;
  uint64_t rewritten_containers;  ///< whose used records were copied
  uint64_t rewritten_bytes;       ///< of the copied records
  uint64_t left_unused_bytes;
  uint64_t kept_containers;     ///< that stay, because a snapshot that was committed meanwhile refers to them
  uint64_t waiting_containers;  ///< that a later prune removes, when the sessions that may refer to them have ended
  /// Copies of records that were to stay in the place of others and are damaged, so that the others stay too. Repair the store.
  uint64_t damaged_copies;
  uint64_t missing_bytes;  ///< that must be free before the next container can be rewritten; 0 if there was room
} cutpoint_store_prune_summary;

/// Removes what no snapshot refers to. Backups may run meanwhile. `options` and `summary` may be null. Errors:
/// CUTPOINT_IO_ERROR, also if a snapshot or a folder of it cannot be read; CUTPOINT_UNAVAILABLE, if another prune was
/// faster. Nothing that a snapshot refers to is lost then, and the next prune goes on.
CUTPOINT_API cutpoint_status cutpoint_store_prune(cutpoint_store* store, const cutpoint_store_prune_options* options,
                                                  cutpoint_store_prune_summary* summary, cutpoint_error* error);

/// Receives a file of a snapshot that is lost in part or as a whole, or a folder that has lost entries, and why.
typedef int (*cutpoint_store_lost_file)(void* context, const char* snapshot_id, const char* path, cutpoint_status code,
                                        const char* message);

enum { CUTPOINT_CHECK_READ_DATA = 1 };  ///< all bytes are compared with their digests

typedef struct cutpoint_store_check_options {
  uint64_t struct_bytes;
  uint64_t flags;    ///< CUTPOINT_CHECK_...
  uint64_t threads;  ///< 0: one for each processor
  void* context;
  cutpoint_store_problem object_problem;  ///< receives a damaged object, by its path in the store; may be null
  cutpoint_store_lost_file file_problem;  ///< may be null
  /// Called often with what was done; may be null.
  int (*progress)(void* context, const cutpoint_store_progress* progress);
  /// With CUTPOINT_CHECK_READ_DATA only some containers are read: subset `subset_number`, from 1 on, of `subset_count`, which are
  /// always the same. Both 0: all.
  uint64_t subset_number;
  uint64_t subset_count;
  double subset_share;         ///< of these, so many, drawn at random, up to 1; 0: all
  uint64_t subset_most_bytes;  ///< and so many bytes at most, but one container at least; 0: no bound
} cutpoint_store_check_options;

typedef struct cutpoint_store_check_summary {
  uint64_t struct_bytes;
  uint64_t containers;
  uint64_t records;
  uint64_t snapshots;
  uint64_t object_problems;
  uint64_t file_problems;
  uint64_t moved_chunks;     ///< references whose hints name other containers than the index, which is no damage
  uint64_t read_containers;  ///< whose data were read
} cutpoint_store_check_summary;

/// Checks everything and reports all damage, which is no error. Changes nothing. `options` and `summary` may be null.
CUTPOINT_API cutpoint_status cutpoint_store_check(cutpoint_store* store, const cutpoint_store_check_options* options,
                                                  cutpoint_store_check_summary* summary, cutpoint_error* error);

typedef struct cutpoint_store_repair_options {
  uint64_t struct_bytes;
  uint64_t threads;  ///< 0: one for each processor
  void* context;
  /// Receives a damaged object, and how many of its chunks and nodes were saved. May be null, as those below.
  int (*damaged)(void* context, const char* object, cutpoint_status code, const char* message, uint64_t saved_records);
  cutpoint_store_lost_file lost;
  /// Receives the ids of a snapshot that lost files and of the one that replaces it.
  int (*replaced)(void* context, const char* old_id, const char* new_id);
} cutpoint_store_repair_options;

typedef struct cutpoint_store_repair_summary {
  uint64_t struct_bytes;
  uint64_t damaged_objects;
  uint64_t saved_records;
  uint64_t lost_files;
  uint64_t replaced_snapshots;
} cutpoint_store_repair_summary;

/// Makes the store consistent for what is left. Backups may run meanwhile. `options` and `summary` may be null.
CUTPOINT_API cutpoint_status cutpoint_store_repair(cutpoint_store* store, const cutpoint_store_repair_options* options,
                                                   cutpoint_store_repair_summary* summary, cutpoint_error* error);

typedef struct cutpoint_store_counts {
  uint64_t struct_bytes;
  uint64_t snapshots;
  uint64_t containers;
  uint64_t container_bytes;
  uint64_t records;  ///< chunks and nodes
  uint64_t shards;
  uint64_t shard_bytes;
} cutpoint_store_counts;

/// Fills `counts`. The caller must set its `struct_bytes`.
CUTPOINT_API cutpoint_status cutpoint_store_statistics(cutpoint_store* store, cutpoint_store_counts* counts,
                                                       cutpoint_error* error);

enum { CUTPOINT_DESCRIPTION_ENCRYPTED = 1 };  ///< the store is encrypted

/// What was fixed when a store was made, and how old it is. The library sets `struct_bytes`; fields that lie behind it do not
/// exist.
typedef struct cutpoint_store_description {
  uint64_t struct_bytes;
  const char* cuts;           ///< a canonical string, without a key
  const char* fingerprint;    ///< a name
  int32_t compression_level;  ///< of zstd; 0: no compression
  uint32_t container_bytes;
  const char* context;   ///< a line for each rule for files of some kinds (docs/contexts.md), or ""
  uint64_t flags;        ///< CUTPOINT_DESCRIPTION_...
  const char* identity;  ///< drawn at random, 64 hexadecimal digits
  /// Of the newest entry of the store's log. A store that has a smaller number than before was replaced by an older copy.
  uint64_t log_number;
} cutpoint_store_description;

/// Calls `visit` once.
CUTPOINT_API cutpoint_status cutpoint_store_describe(cutpoint_store* store,
                                                     int (*visit)(void* context,
                                                                  const cutpoint_store_description* description),
                                                     void* context, cutpoint_error* error);

/// Calls `visit` for each session that uses the store. `owner` is its host, process and user. Its lease lasts for `time_left`
/// nanoseconds if it is not renewed; less than 0: the next session that begins ends it.
CUTPOINT_API cutpoint_status cutpoint_store_sessions(cutpoint_store* store,
                                                     int (*visit)(void* context, const char* id, const char* owner,
                                                                  int64_t time_left),
                                                     void* context, cutpoint_error* error);

/// Ends a session that you declare dead, durably, so that prunes do not wait for it any more. If it lives after all, nothing is
/// lost: it commits if nothing that it refers to was removed meanwhile, and otherwise fails. Errors: CUTPOINT_INVALID_ARGUMENT, if
/// no session has the id.
CUTPOINT_API cutpoint_status cutpoint_store_end_session(cutpoint_store* store, const char* id, cutpoint_error* error);

// ---- Keys of an encrypted store
//
// Errors: CUTPOINT_INVALID_ARGUMENT, if the store is not encrypted.

/// Calls `visit` for each key. `kind` is CUTPOINT_SECRET_...; `is_used` is 1 for the key that opened the store, else 0.
CUTPOINT_API cutpoint_status cutpoint_store_keys(cutpoint_store* store,
                                                 int (*visit)(void* context, const char* id, int kind, int is_used),
                                                 void* context, cutpoint_error* error);

/// Adds a key for another password or key file, durably, and writes its id as `cutpoint_describe_cuts` writes text. Errors:
/// CUTPOINT_BUFFER_TOO_SMALL, but the key was added; 33 bytes are enough.
CUTPOINT_API cutpoint_status cutpoint_store_add_key(cutpoint_store* store, const cutpoint_store_secret* secret,
                                                    char* id, size_t capacity, size_t* length, cutpoint_error* error);

/// Removes a key, durably. Whoever has read it before can still open the store. Errors: CUTPOINT_INVALID_ARGUMENT, if no
/// key has the id, or if it is the last one.
CUTPOINT_API cutpoint_status cutpoint_store_remove_key(cutpoint_store* store, const char* id, cutpoint_error* error);

#ifdef __cplusplus
}
#endif
