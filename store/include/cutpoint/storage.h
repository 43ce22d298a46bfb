// The storage below a store: named objects that are written once. A folder is one; a class of yours can be another, such as one
// for an object store, which `backup_store::create` and `open` take.
//
// docs/formats/store.md describes what the objects have.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <cutpoint/bytes.h>
#include <cutpoint/status.h>

namespace cutpoint::store {

/// What an object contains. The kinds of other versions have other numbers.
enum class object_kind : std::uint8_t { config, key, container, shard, snapshot, lease, log_entry, temporary, removal };
inline constexpr std::size_t object_kind_count = 9;

/// The name of an object. Names of different kinds never collide.
struct object_name {
  object_kind kind;
  /// 1 to 100 of the characters a-z, 0-9, '-' and '.', beginning with a letter or a digit. That of a container has two of these
  /// and '/' between them: the session that has put it, and its hash.
  std::string id;

  friend auto operator<=>(const object_name&, const object_name&) = default;
};

/// Returns the folder of a kind, such as "containers"; empty for the config, which is in the root folder.
[[nodiscard]] std::string_view folder_of(object_kind kind) noexcept;
/// Returns the path of an object below the root, which names it in messages too: "shards/00ff...".
[[nodiscard]] std::string path_of(const object_name& name);

/// An object of a list with details.
struct listed_object {
  std::string id;
  std::uint64_t bytes = 0;  ///< its length
  /// When it was put, in nanoseconds since 1970 (UTC) by the clock of `storage::now`; 0 if nobody knows.
  std::int64_t time = 0;

  friend bool operator==(const listed_object&, const listed_object&) = default;
};

/// Takes one of many objects, by its index among their names: all its bytes, or why they cannot be read.
using whole_object_function = std::function<status(std::size_t index, result<std::vector<std::uint8_t>> bytes)>;

/// An object that is open for reading. It can be read as long as it is open, even if it is removed, where the storage can do
/// that. Thread-safe.
class object_reader {
 public:
  virtual ~object_reader() = default;
  /// Returns the length in bytes that the object had when it was opened.
  [[nodiscard]] virtual std::uint64_t size() const noexcept = 0;
  /// Fills `destination`, as `storage::read` does.
  [[nodiscard]] virtual status read(std::uint64_t offset, std::span<std::uint8_t> destination) const = 0;
};

/// Writes one object of any length from front to back. Destroying it before `finish` was called discards the bytes. Not
/// thread-safe.
class object_writer {
 public:
  virtual ~object_writer() = default;
  [[nodiscard]] virtual status append(byte_span bytes) = 0;
  /// Puts the object. What `storage::put` says of its outcome holds here too.
  [[nodiscard]] virtual status finish() = 0;
};

/// Named objects. An object is put once under its name, is then never changed, and may be removed. Neither renaming nor
/// locks exist. A name that was removed is not used again, except by tests. Objects have a few bytes to the size of a container,
/// and those of kinds that the class does not know must be kept like others.
///
/// Put if absent: of several puts of one name, by any threads and processes, one succeeds. Each of the others fails, itself or by
/// the next `sync`, with the system error EEXIST, and the object keeps the bytes of the first. Commits rest on this.
///
/// Durability: `put`, `finish` and `remove` may return before they have taken effect. They have all taken effect, and
/// will survive a crash, when a `sync` that was called after them has returned success. Before that a crash leaves an
/// object absent or whole. Readers of this process and of others, and lists, see an object, or that it was removed, at the latest
/// after that `sync`; what one of them has seen stays visible.
///
/// Failures: if a put, a removal or a sync fails, the next `sync` returns that failure, and so do all later calls of
/// `put` and `sync`, because nobody knows what has become durable. A session whose storage has failed must end without a
/// commit. Another storage that is opened by the same opener does not have the failure.
///
/// Errors of all functions are io_error with a system error (`status::system_error`): ENOENT, if no object has the name; EEXIST,
/// as above; EBADMSG, if a read goes beyond the end of an object; ENOSPC or EDQUOT, if there is no room; any other, such as EIO.
/// The store adds its name to messages, so they begin with that of the object (`path_of`).
///
/// Far storages: a class needs the functions without a default alone. Those with one say what they do by default in terms of the
/// others; a class whose requests take long overrides them, so that one request does what takes two, and many wait together.
///
/// Thread-safe: any number of threads may call any functions at once. No function throws anything but std::bad_alloc.
class storage {
 public:
  virtual ~storage() = default;

  /// Puts an object. Waits as long as too many earlier objects are not written yet.
  [[nodiscard]] virtual status put(const object_name& name, std::vector<std::uint8_t> bytes) = 0;
  /// Begins an object that need not fit into memory. By default its bytes are kept in memory, and put at the end.
  [[nodiscard]] virtual result<std::unique_ptr<object_writer>> create(const object_name& name);
  /// Removes an object. Succeeds if no object has the name.
  [[nodiscard]] virtual status remove(const object_name& name) = 0;
  /// Returns whether this user may remove objects of a kind, which is the default. The store asks before each removal, and does
  /// without, because a refused removal is a failure like others. A storage that learns of a refusal only by a removal lets that one
  /// succeed without an effect, and answers false from then on.
  [[nodiscard]] virtual bool may_remove(object_kind kind);
  [[nodiscard]] virtual status sync() = 0;
  /// Makes the objects of a kind durable that are visible now and whose ids begin with `prefix`, whoever has put them. By default
  /// they are so already, because nothing is visible before it is durable.
  [[nodiscard]] virtual status sync_kind(object_kind kind, std::string_view prefix = {});

  /// Returns whether what a `sync` has made durable survives a power cut too, which is the default. False: it survives the end of
  /// any process, but after a power cut an object of the last minutes may be missing, and one that was removed may be there again.
  /// A folder of a file system that cannot sync folders is such a storage.
  [[nodiscard]] virtual result<bool> survives_power_cuts();

  /// Returns how many bytes can still be put, about; the largest number if nobody knows, which is the default.
  [[nodiscard]] virtual result<std::uint64_t> free_bytes();
  /// Returns the length of an object in bytes.
  [[nodiscard]] virtual result<std::uint64_t> size(const object_name& name) = 0;
  /// Fills `destination` with the bytes of an object from `offset` on.
  [[nodiscard]] virtual status read(const object_name& name, std::uint64_t offset,
                                    std::span<std::uint8_t> destination) = 0;
  /// Returns all bytes of an object. If it is longer than `limit`, the error is EBADMSG, and it is not read. By default by `size`
  /// and `read`.
  [[nodiscard]] virtual result<std::vector<std::uint8_t>> read_whole(const object_name& name, std::uint64_t limit);
  /// Reads objects as `read_whole` does, as many at once as `parallel_requests` says, and passes each to `receive`, in any order.
  /// The calls of `receive` do not overlap, and may be made by several threads. If one fails, no other object is begun, and
  /// that failure is returned. There are no other errors. By default by `read_whole`, on threads if several are read at once.
  [[nodiscard]] virtual status read_many(std::span<const object_name> names, std::uint64_t limit,
                                         const whole_object_function& receive);
  /// Opens an object that is read in many places. Nothing is mapped: a file that others truncate, or a bad sector, is a failure.
  /// The caller will read the last `last_bytes` bytes, or all if there are fewer: a far storage has them come with the answer, and
  /// the reader keeps them. By default they are not read ahead, and each read is one of the storage, which must outlive the reader.
  [[nodiscard]] virtual result<std::unique_ptr<object_reader>> open(const object_name& name,
                                                                    std::uint64_t last_bytes = 0);
  /// Returns the ids of all objects of a kind that begin with `prefix`, in no particular order. Ids that are not valid are left
  /// out. `prefix` is empty, or a session's id and '/': of a store with many containers only those of few sessions are listed.
  [[nodiscard]] virtual result<std::vector<std::string>> list(object_kind kind, std::string_view prefix = {}) = 0;
  /// Lists the same objects with their lengths and times, without those that are removed meanwhile. By default by `list` and
  /// `size`; no time is known then.
  [[nodiscard]] virtual result<std::vector<listed_object>> list_details(object_kind kind, std::string_view prefix = {});

  /// Returns how many requests are worth making at once where a caller has many that do not wait for each other, at least 1, which
  /// is the default. More than the processors have sense only where the time goes to waiting. Each may take 4 MiB of memory.
  [[nodiscard]] virtual std::size_t parallel_requests() const noexcept;
  /// Returns the time in nanoseconds since 1970 (UTC), by the clock by which those who use the storage judge each other's leases.
  /// By default that of the system. A service gives its own, so that clients whose clocks differ agree.
  [[nodiscard]] virtual std::int64_t now();
};

/// Opens a storage of the same objects for a writer, and never returns null. A store opens several: each has its own failures,
/// and the objects are those of all. `writer_id`, a valid id of at most 64 characters, names the writer's temporary objects and is
/// never used twice. `pending_objects` says how many puts may wait to be written, with their bytes in memory; with 0 a put has
/// taken effect when it returns. Must be thread-safe. The storages that it has returned may outlive it.
using storage_opener =
    std::function<std::unique_ptr<storage>(const std::string& writer_id, std::size_t pending_objects)>;

}  // namespace cutpoint::store
