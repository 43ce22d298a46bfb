// Reads records by their digests, and writes records into containers.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <cutpoint/batch_fingerprinter.h>
#include <cutpoint/storage.h>

#include "store/format/container.h"
#include "store/format/record.h"
#include "store/format/sealer.h"
#include "store/index/shard.h"
#include "store/index/shard_index.h"
#include "store/tree/node_walk.h"

namespace cutpoint::store {

/// The content of a chunk, which has the digest of its reference.
using shared_chunk = std::shared_ptr<const std::vector<std::uint8_t>>;

/// Reads nodes and chunks.
class record_source : public node_source {
 public:
  /// Returns the content of a chunk. A source that keeps chunks in memory gives the same to many. Errors: as for `read_node`.
  [[nodiscard]] virtual result<shared_chunk> share_chunk(const record_reference& chunk) = 0;
  /// Does that for chunks that are wanted together, in their order. By default one after the other.
  [[nodiscard]] virtual std::vector<result<shared_chunk>> share_chunks(std::span<const record_reference> chunks);
  /// Returns how many bytes of chunks should be asked for together; 0, the default, for one chunk at a time.
  [[nodiscard]] virtual std::uint64_t window_bytes() const { return 0; }
};

/// Returns the bytes of chunks that are worth reading together: a range for each request that the storage answers at once.
[[nodiscard]] inline std::uint64_t window_bytes_of(const storage& objects) noexcept {
  return 4 * MiB * objects.parallel_requests();
}

/// A chunk, and how its container has it.
struct stored_chunk {
  record_codec codec = record_codec::none;
  std::vector<std::uint8_t> content;
  std::vector<std::uint8_t> frame;  ///< the compressed content; empty without codec
};

/// Finds records by the index, and compares each with its digest. Not thread-safe. The arguments must outlive the reader.
///
/// A record may be in several containers. That of its hint is read first. If it was removed, because another process has
/// moved its records, or if it is damaged, the shards that were put since are mapped, and the others are tried.
class record_reader final : public record_source {
 public:
  /// `check` makes digests by the recipe of the store.
  record_reader(storage& objects, const seal_key& key, shard_index& shards, record_fingerprinter check)
      : objects_(objects), key_(key), shards_(shards), check_(std::move(check)) {}

  /// Returns the content of a chunk. Errors: those of the storage and of the index; damage, also if no container has the
  /// record any more.
  [[nodiscard]] result<std::vector<std::uint8_t>> read_chunk(const record_reference& chunk);
  /// Returns the chunk with its compressed form. Errors: as for `read_chunk`.
  [[nodiscard]] result<stored_chunk> read_stored_chunk(const record_reference& chunk);
  [[nodiscard]] result<std::vector<std::uint8_t>> read_node(const record_reference& node) override;
  [[nodiscard]] result<shared_chunk> share_chunk(const record_reference& chunk) override;

 private:
  [[nodiscard]] result<std::vector<std::uint8_t>> read(record_kind kind, const record_reference& record);
  /// Returns what `read_from` makes of the record in a container: that of the hint, or another if that one fails because
  /// the container was removed or is damaged.
  template <class Read>
  [[nodiscard]] auto read_anywhere(record_kind kind, const record_reference& record, Read read_from)
      -> decltype(read_from(std::declval<const found_record&>()));
  [[nodiscard]] status compare(const record_reference& record, byte_span content);

  storage& objects_;
  const seal_key& key_;
  shard_index& shards_;
  record_fingerprinter check_;
};

struct own_containers {
  session_id session = {};
  std::set<container_name> unnamed =
      {};  ///< that were put and that no shard names, which is to be put before the session ends
};

/// Fills one container at a time. Not thread-safe.
class record_writer {
 public:
  /// Entries that wait in memory before they become a shard. With what a session remembers of the same records they take about 50 MB.
  static constexpr std::size_t usual_waiting_entries = std::size_t{1} << 19;

  /// Makes one that names containers by the back end that is the fastest here. Errors: those of `fastest_fingerprinter`.
  [[nodiscard]] static result<record_writer> make(storage& objects, const seal_key& key, std::uint64_t container_bytes,
                                                  own_containers& containers,
                                                  std::size_t most_waiting_entries = usual_waiting_entries);
  /// The references must outlive the writer. `blake3` as for `container_builder::build`.
  record_writer(storage& objects, const seal_key& key, std::uint64_t container_bytes, own_containers& containers,
                std::unique_ptr<batch_fingerprinter> blake3, std::size_t most_waiting_entries = usual_waiting_entries);

  /// Adds a record, and returns the hint of its container. Errors: those of the storage.
  [[nodiscard]] result<std::uint64_t> append(const record_description& description, byte_span payload);

  /// Makes all records durable, and then shards that have them. Errors: those of the storage; nothing may be committed then.
  [[nodiscard]] status finish();
  /// Returns the ids of the shards that were put since the last call. They are durable, and have all records but those of the
  /// container that is being filled.
  [[nodiscard]] std::vector<std::string> take_shards() { return std::exchange(shards_, {}); }

  [[nodiscard]] const std::vector<container_name>& put_containers() const noexcept { return put_containers_; }
  [[nodiscard]] std::uint64_t raw_bytes() const noexcept { return raw_bytes_; }        ///< of all contents
  [[nodiscard]] std::uint64_t stored_bytes() const noexcept { return stored_bytes_; }  ///< of all payloads

 private:
  [[nodiscard]] status put_container();
  [[nodiscard]] status put_entries();

  storage& objects_;
  const seal_key& key_;
  std::uint64_t container_bytes_;
  std::unique_ptr<batch_fingerprinter> blake3_;
  std::optional<container_builder> builder_;
  object_salt salt_ = {};  ///< of the container that is being filled
  own_containers& own_;
  std::size_t most_waiting_entries_;
  std::vector<shard_container> containers_;  ///< that no shard has yet
  std::vector<shard_entry> entries_;         ///< of their records
  std::vector<std::string> shards_;
  std::vector<container_name> put_containers_;
  std::uint64_t raw_bytes_ = 0;
  std::uint64_t stored_bytes_ = 0;
};

}  // namespace cutpoint::store
