// Builds the bytes of one container.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <cutpoint/batch_fingerprinter.h>

#include "store/container/record.h"

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

}  // namespace cutpoint::store
