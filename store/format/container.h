// Builds the bytes of a container, and reads those of one, as far as they are whole.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <cutpoint/batch_fingerprinter.h>
#include <cutpoint/storage.h>

#include "store/format/record.h"

namespace cutpoint::store {

/// A container whose bytes are complete.
struct built_container {
  digest digest_of_bytes;  ///< BLAKE3 without a key; the end of the container's name
  std::vector<std::uint8_t> bytes;
  std::vector<placed_record> records;  ///< in the order of the trailer: chunks, then the metadata part
};

/// Collects records until a container is full. Appending copies the payload and does nothing else, so that it can be done
/// in the order of the stream; `build` has the work, and may run on another thread. Movable. Not thread-safe.
class container_builder {
 public:
  /// `container_bytes` is the length to which containers are filled. Only a single record may exceed it.
  explicit container_builder(std::uint64_t container_bytes);

  [[nodiscard]] bool is_empty() const noexcept { return chunks_.empty() && nodes_.empty(); }
  /// Returns whether a record with such a payload may be added: an empty builder takes any.
  [[nodiscard]] bool has_room(std::size_t stored_bytes) const noexcept;
  /// Adds a chunk or a node. `payload` is the content as `description` says: raw or compressed.
  void append(const record_description& description, byte_span payload);

  /// Seals the records and completes the container. An encrypted container gets a padding record, so that its length
  /// says little about its content. `blake3` must make digests by BLAKE3 without a key, and must not have requests that
  /// wait. Errors: those of `blake3`.
  [[nodiscard]] result<built_container> build(const seal_key& key, const object_salt& salt,
                                              batch_fingerprinter& blake3) &&;

 private:
  static void place(const record_description& description, byte_span payload, std::vector<std::uint8_t>& section);

  std::uint64_t container_bytes_;
  std::vector<std::uint8_t> chunk_section_;  ///< with room for the container's header
  std::vector<std::uint8_t> node_section_;
  std::vector<record_description> chunks_;
  std::vector<record_description> nodes_;
};

/// Returns the length to which an encrypted container of `bytes` is padded, a multiple of 16: the next length of Padmé
/// (Nikitin et al., PETS 2019, section 4), which reveals the order of magnitude and about log log bits more.
[[nodiscard]] std::uint64_t padded_container_bytes(std::uint64_t bytes) noexcept;

/// What reading a record of a container takes.
struct container_identity {
  std::string id;
  object_salt salt = {};
};

/// The records of a container. Immutable.
struct container_table : container_identity {
  std::vector<placed_record> records;  ///< in the order of their positions
  std::uint64_t container_bytes = 0;   ///< its length

  /// Returns the number of bytes of memory that the table occupies.
  [[nodiscard]] std::size_t memory_bytes() const noexcept {
    return sizeof *this + id.capacity() + records.capacity() * sizeof(placed_record);
  }
};

/// The bytes of a container's end that have its table if it has fewer than 1,300 records.
inline constexpr std::uint64_t usual_first_read_bytes = 64 * KiB;

/// Reads the trailer of a container: the last `first_read_bytes` by one ranged read, and what these lack by a second one. Who reads
/// many keeps the buffer, whose memory the system would else clear for each. Errors: those of the storage; damage; invalid_argument, if the container is sealed otherwise than `key` seals.
[[nodiscard]] result<container_table> read_container_table(storage& objects, const std::string& id, const seal_key& key,
                                                           std::uint64_t first_read_bytes,
                                                           std::vector<std::uint8_t>& buffer);
[[nodiscard]] result<container_table> read_container_table(storage& objects, const std::string& id, const seal_key& key,
                                                           std::uint64_t first_read_bytes = usual_first_read_bytes);

/// Reads the table from the bytes of a whole container.
[[nodiscard]] result<container_table> decode_container_table(byte_span container, const std::string& id,
                                                             const seal_key& key);

/// Opens records of one container. Reuse it: the key of the container is derived when it is made. Not thread-safe.
class record_opener {
 public:
  record_opener(const object_salt& salt, const seal_key& key)
      : seals_(key.sealer_of(salt, folder_of(object_kind::container))) {}

  /// Returns the payload of a record, which is in `record`, as its description says. Else as `append_content`.
  [[nodiscard]] result<byte_span> open_payload(const placed_record& place, std::span<std::uint8_t> record) const;
  /// Appends the content of a record to `content`. `record` has its `record_bytes()` as they are in the container, and
  /// is decrypted in place. Does not compare the content with its digest. Errors: damage.
  [[nodiscard]] status append_content(const placed_record& place, std::span<std::uint8_t> record,
                                      std::vector<std::uint8_t>& content) const;

 private:
  std::unique_ptr<sealer> seals_;
};

/// Reads the content of one record. Errors: those of the storage; damage.
[[nodiscard]] result<std::vector<std::uint8_t>> read_record(storage& objects, const container_identity& container,
                                                            const placed_record& place, const seal_key& key);

/// Reads the payload of one record, without decompressing it. Errors: as for `read_record`.
[[nodiscard]] result<std::vector<std::uint8_t>> read_payload(storage& objects, const container_identity& container,
                                                             const placed_record& place, const seal_key& key);

/// Bytes of a container that are read at once, and unwanted bytes between two records that are read with them.
inline constexpr std::uint64_t most_range_bytes = 4 * MiB;
inline constexpr std::uint64_t most_gap_bytes = 128 * KiB;

/// Reads the payloads of records of one container, which `places` has in the order of their positions, neighbours together. Passes each to
/// `take`, whose failure ends it and is returned. Errors: also as for `read_record`, before the records after the damaged one.
[[nodiscard]] status read_payloads(storage& objects, const container_identity& container,
                                   std::span<const placed_record> places, const seal_key& key,
                                   const std::function<status(const placed_record&, byte_span)>& take);

/// Finds the whole records of a container that may be damaged anywhere. With an undamaged trailer it tests the records
/// of that table; otherwise it tests every position at which a record may begin. Only records whose tags are right are
/// returned, in the order of their positions. Returns an empty table if neither header can be read.
[[nodiscard]] container_table recover_records(byte_span container, const std::string& id, const seal_key& key);

}  // namespace cutpoint::store
