// The storage below a store: named objects that are written once. A folder or an object store can provide it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <cutpoint/bytes.h>
#include <cutpoint/status.h>

#include "store/format/object_name.h"

namespace cutpoint::store {

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
/// locks exist. A name that was removed is not used again, except by tests.
///
/// Durability: `put`, `finish` and `remove` may return before they have taken effect. They have all taken effect, and
/// will survive a crash, when a `sync` that was called after them has returned success. Before that a crash leaves an
/// object absent or whole. Readers of this process and of others see an object at the latest after that `sync`.
///
/// Failures: if a put, a removal or a sync fails, the next `sync` returns that failure, and so do all later calls of
/// `put` and `sync`, because nobody knows what has become durable. A session whose storage has failed must end without a
/// commit. An object whose name is taken is a failure that `is_presence` recognizes; the object keeps its bytes.
///
/// Thread-safe. Errors of all functions: io_error. A name that no object has is a failure that `is_absence` recognizes.
class storage {
 public:
  virtual ~storage() = default;

  /// Puts an object. Waits as long as too many earlier objects are not written yet.
  [[nodiscard]] virtual status put(const object_name& name, std::vector<std::uint8_t> bytes) = 0;
  /// Begins an object that need not fit into memory.
  [[nodiscard]] virtual result<std::unique_ptr<object_writer>> create(const object_name& name) = 0;
  /// Removes an object. Succeeds if no object has the name.
  [[nodiscard]] virtual status remove(const object_name& name) = 0;
  [[nodiscard]] virtual status sync() = 0;
  /// Makes the objects of a kind durable that are visible now, whoever has put them.
  [[nodiscard]] virtual status sync_kind(object_kind kind) = 0;

  /// Returns how many bytes can still be put, about; the largest number if nobody knows.
  [[nodiscard]] virtual result<std::uint64_t> free_bytes() = 0;
  /// Returns the length of an object in bytes.
  [[nodiscard]] virtual result<std::uint64_t> size(const object_name& name) = 0;
  /// Fills `destination` with the bytes of an object from `offset` on. An object that ends before is a failure that
  /// `is_damage` recognizes.
  [[nodiscard]] virtual status read(const object_name& name, std::uint64_t offset,
                                    std::span<std::uint8_t> destination) = 0;
  /// Opens an object that is read in many places. Nothing is mapped: a file that others truncate, or a bad sector, is a failure.
  [[nodiscard]] virtual result<std::unique_ptr<object_reader>> open(const object_name& name) = 0;
  /// Returns the ids of all objects of a kind, in no particular order. Ids that are not valid are left out.
  [[nodiscard]] virtual result<std::vector<std::string>> list(object_kind kind) = 0;
};

}  // namespace cutpoint::store
