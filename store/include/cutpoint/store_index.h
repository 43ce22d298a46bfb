// An index of the caller: where a store has which chunks, for sessions that write.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include <cutpoint/fingerprint.h>
#include <cutpoint/status.h>

namespace cutpoint {

/// Where a store has a chunk.
struct store_chunk_place {
  std::array<std::uint8_t, 48> container = {};  ///< its name: the session that has put it, 16 bytes, and its hash
  std::uint32_t record = 0;                     ///< number of the chunk among the container's records

  friend auto operator<=>(const store_chunk_place&, const store_chunk_place&) = default;
};

/// A map from digests to places, in place of the store's own index of chunks, such as one that several machines share, or that is in
/// memory of another kind. `backup_store::use_index` says what the store asks it.
///
/// The store trusts it in nothing. It reads at a place whether the chunk is there, and looks in its own index otherwise, because
/// a prune moves and removes records. A chunk that the index does not know counts as new, and is stored again if the store has it.
/// So a wrong answer costs time or room, and never data.
///
/// Digests come in batches and in the order of the streams, in which neighbours are often stored together. Must be thread-safe:
/// sessions of one store call it at the same time. An implementation may throw std::bad_alloc.
class store_index {
 public:
  virtual ~store_index() = default;
  /// Says for each digest where its chunk is, or nullopt; `places` has as many elements, which are nullopt. A failure ends the
  /// session without a snapshot.
  [[nodiscard]] virtual status look_up(std::span<const digest> digests,
                                       std::span<std::optional<store_chunk_place>> places) = 0;
  /// Takes the places of chunks, instead of those that it has for the same digests. The chunks are durable. `places` has as many
  /// elements as `digests`. A failure ends the session, too.
  [[nodiscard]] virtual status add(std::span<const digest> digests, std::span<const store_chunk_place> places) = 0;
};

}  // namespace cutpoint
