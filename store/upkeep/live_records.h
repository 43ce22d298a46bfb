// Marks the records that snapshots refer to.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include <cutpoint/source.h>

#include "store/format/clock.h"
#include "store/session/store_reading.h"

namespace cutpoint::store {

/// Which containers records are marked in, and how.
struct marking_options {
  /// Containers that count as absent, though shards name them.
  std::set<container_name> lost;
  /// Other containers whose records are marked only if no other container has them.
  std::set<container_name> avoided;
  std::uint64_t threads = 0;  ///< 0: one for each processor
  const cancellation* cancel = nullptr;
  progress_meter* meter = nullptr;  ///< counts the nodes that are read
};

/// Marks records by two bits for each entry of the shards: that a snapshot refers to it, and that it is a node which was
/// visited. If several containers have a record, the one that the reference's hint names is marked, or one that is marked
/// already; so a record may be marked twice. A chunk that one entry may have is marked by the 48 bits of its prefix, which
/// keeps too much if they are those of another record. Immutable.
///
/// Memory: 2 bits for each record, 90 bytes for each container, and the references to nodes that wait, 48 bytes each.
class live_records {
 public:
  /// Marks everything that trees refer to, by the shards of `store`. Each node is read once, and no chunk. Errors: damage,
  /// if a node cannot be read or no container has a record; those of the storage; cancelled.
  [[nodiscard]] static result<live_records> mark(const store_reading& store, const std::vector<record_reference>& roots,
                                                 const marking_options& options);

  [[nodiscard]] std::size_t container_count() const noexcept { return containers_.size(); }
  /// Returns the index of a container, or nullopt if no shard names it.
  [[nodiscard]] std::optional<std::size_t> find(const container_name& name) const noexcept;
  [[nodiscard]] const container_name& name(std::size_t container) const noexcept { return containers_[container].name; }
  [[nodiscard]] std::uint64_t container_bytes(std::size_t container) const noexcept {
    return containers_[container].bytes;
  }
  /// Returns the number of records that the shards name in a container.
  [[nodiscard]] std::uint64_t record_count(std::size_t container) const noexcept;
  /// Returns how many of them are marked.
  [[nodiscard]] std::uint64_t live_count(std::size_t container) const noexcept;
  [[nodiscard]] bool is_live(std::size_t container, std::uint32_t ordinal) const noexcept;
  /// Returns the number of references to chunks and nodes that were looked up.
  [[nodiscard]] std::uint64_t reference_count() const noexcept { return reference_count_; }

 private:
  /// A place of a record: a container by its index, and an index into its table.
  struct place {
    std::uint32_t container;
    std::uint32_t ordinal;
    friend bool operator==(const place&, const place&) = default;
  };
  struct known_container {
    container_name name;
    std::uint64_t hint;
    std::uint64_t bytes;
    std::uint64_t first_bit = 0;  ///< of its records; those of the next container follow
    std::uint64_t records = 0;
    bool is_avoided = false;
  };
  struct worker;

  live_records() = default;

  [[nodiscard]] status count_records(std::span<const shard> shards, const marking_options& options);
  [[nodiscard]] status mark_from(const store_reading& store, const std::vector<record_reference>& roots,
                                 const marking_options& options);
  [[nodiscard]] status visit(worker& own, const record_reference& node);
  [[nodiscard]] status mark_all(worker& own, record_kind kind, std::span<const record_reference> references);
  [[nodiscard]] std::optional<place> follow(worker& own, record_kind kind, const record_reference& reference) const;
  [[nodiscard]] status follow_from(worker& own, const record_reference& reference, const place& position) const;
  [[nodiscard]] result<place> choose(worker& own, record_kind kind, const record_reference& reference);
  [[nodiscard]] status find_places(worker& own, const digest& content);
  [[nodiscard]] std::uint64_t bit_of(const place& record) const noexcept {
    return containers_[record.container].first_bit + record.ordinal;
  }

  std::vector<known_container> containers_;            ///< sorted by name
  std::vector<std::vector<std::uint32_t>> in_shards_;  ///< for each shard and its container, the index in `containers_`
  std::vector<std::uint64_t> live_;                    ///< bits
  std::vector<std::uint64_t> visited_;
  std::uint64_t reference_count_ = 0;
};

}  // namespace cutpoint::store
