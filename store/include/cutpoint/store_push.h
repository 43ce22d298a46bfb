// A push session: a backup of streams whose bytes the caller has, such as an appliance's images and dumps.
//
// docs/store.md describes the store.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <cutpoint/bytes.h>
#include <cutpoint/engine.h>
#include <cutpoint/status.h>
#include <cutpoint/store.h>
#include <cutpoint/tree_entry.h>

namespace cutpoint {

/// What a snapshot of pushed streams has, and what the session may use.
struct store_push_options {
  std::string host = {};
  /// What the snapshot is of: paths in it, at or below which everything lies that is pushed. Snapshots with the same host and
  /// paths are a group of `forget`.
  std::vector<std::string> paths = {"/"};
  std::vector<std::string> tags = {};  ///< none is empty or has a comma
  std::int64_t time = 0;               ///< of the snapshot, in nanoseconds since 1970; 0: when the session begins
  /// How many streams may be open at once, at least 1. Each may use its share of half of the memory: with few streams each is
  /// worked on by more threads at once. Where the engine's memory is bounded (`engine_options::memory_bytes`), `begin` reserves what all
  /// of them need, until the session ends: twice most_streams times `least_memory_bytes` of a feed with the store's cuts.
  std::uint64_t most_streams = 4;
  /// Half of it is for streams. `push_stream::write` waits as long as that is used up. The other half is for what is known of the
  /// files until the commit: up to 2 KiB for each, and less than 1 KiB if it is short.
  std::uint64_t memory_bytes = 256 * MiB;
  store_lane_options lanes = {};            ///< each stream may use its share of a device's memory
  std::uint64_t most_bytes_per_second = 0;  ///< that all streams together take; 0: no bound
  store_problem problem = {};               ///< receives a stream that failed, by its path, and why
  store_work_function work = {};            ///< called once, when the snapshot is durable
  /// Ends all writes, and the commit, with the status cancelled. No snapshot is made then.
  const cancellation* cancel = nullptr;
};

/// A file that is pushed. Its size, ctime, number of links, inode and file system are not used.
struct pushed_file : file_metadata {
  std::string path;  ///< in the snapshot, such as "/vm/disk.img"; no name in it is empty, "." or ".."
  std::vector<extended_attribute> attributes = {};
};

/// Returns a file that belongs to this process's user and group, with the permissions 0600, or 0700 for a folder, and with the
/// present time as its mtime.
[[nodiscard]] pushed_file describe_pushed_file(std::string path, file_kind kind = file_kind::regular_file);

class push_session;

/// A regular file that is being pushed. A stream that is destroyed before it has ended has failed. One thread at a time may use a
/// stream, and different threads may use different streams of a session at once. The session must outlive the calls.
class push_stream {
 public:
  push_stream(push_stream&&) noexcept;
  push_stream& operator=(push_stream&&) = delete;
  ~push_stream();

  /// Takes the next bytes. Waits as long as there is no memory for them, or by `most_bytes_per_second`. Errors: io_error, if the
  /// store fails; memory_limit; cancelled; invalid_argument, if the stream has ended. After an error that is not the last, no
  /// stream of the session can go on and nothing can be committed.
  [[nodiscard]] status write(byte_span bytes);
  /// Takes a hole: zeros that are neither stored nor, where the file system has holes, restored. Errors: as for `write`.
  [[nodiscard]] status write_hole(std::uint64_t bytes);
  /// Ends the stream, which is whole. Errors: as for `write`.
  [[nodiscard]] status end();
  /// Ends the stream, which has failed for a reason that the caller knows, such as that its producer died. It is reported, and
  /// the snapshot lacks it and is incomplete, as if a backup could not read a file. The path may be pushed again, and counts as
  /// whole if that succeeds. Has no effect on a stream that has ended.
  void fail(const status& why);

 private:
  friend class push_session;
  struct state;
  explicit push_stream(std::unique_ptr<state> begun) noexcept;

  std::unique_ptr<state> state_;
};

/// Stores streams of bytes as the files of one snapshot. They are cut, deduplicated and stored exactly as a backup does with
/// files of the same content. Nothing is visible before the commit. A session that is destroyed before it has abandoned
/// everything; so has one whose process died. What it stored is used by later backups, or removed by the next prune.
///
/// Thread-safe: `begin_stream` and `add`. `begin`, `commit` and the destructor use the store, like members of `backup_store`, and
/// nothing else of the session may run meanwhile. In between the store may be used for anything else; it must outlive the
/// session and not be moved.
class push_session {
 public:
  /// Begins a session with the threads of an engine, which must outlive it. Errors: io_error; invalid_argument, for a tag, a
  /// path, a device, or no streams; memory_limit, if a stream's share of the memory is too small for the store's cuts, or the engine
  /// has too little for all streams, with the `memory_bytes` that would do; unavailable, as for `backup_store::back_up`.
  [[nodiscard]] static result<push_session> begin(backup_store& store, engine& threads,
                                                  const store_push_options& options = {});

  push_session(push_session&&) noexcept;
  push_session& operator=(push_session&&) = delete;
  ~push_session();

  /// Begins a stream, which becomes a regular file. Folders above it that were not added are made, with the metadata of
  /// `describe_pushed_file`. Errors: invalid_argument, for a path that is there already, that leads through a file, that lies
  /// below no path of the snapshot, or that no snapshot can have, or if `most_streams` are open; memory_limit; otherwise as for
  /// `push_stream::write`.
  [[nodiscard]] result<push_stream> begin_stream(const pushed_file& file);
  /// The same with the metadata of `describe_pushed_file`.
  [[nodiscard]] result<push_stream> begin_stream(std::string path);
  /// Adds a file without content: a folder, with which the metadata of one is set that streams were pushed below; a symbolic
  /// link, a FIFO, a socket or a device. Errors: as for `begin_stream`; invalid_argument, for a regular file.
  [[nodiscard]] status add(const pushed_file& file);

  /// Commits the snapshot, which is durable then, and ends the session. If streams have failed and were not pushed again, it is
  /// incomplete. Errors: invalid_argument, if a stream is open, after which the session goes on; that of the first failed stream,
  /// or invalid_argument, if there is nothing to commit; io_error; cancelled. No snapshot exists then.
  [[nodiscard]] result<store_snapshot> commit();

 private:
  friend class push_stream;
  class pushed_snapshot;
  explicit push_session(std::shared_ptr<pushed_snapshot> inside) noexcept;

  std::shared_ptr<pushed_snapshot> implementation_;
};

}  // namespace cutpoint
