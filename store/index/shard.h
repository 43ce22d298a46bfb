// A shard: an immutable sorted table from digest prefixes to places in containers.
//
//   header 64 | containers, 64 each | partitions | directory, 32 for each partition | footer 64
//
//   partition: entries, 12 each, sorted | fingerprints of the partition's filter
//
// docs/formats/store.md describes the fields. A shard is derived from containers and is not trusted: an entry says where
// a record may be, and the container's own table says whether it is there.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <cutpoint/fingerprint.h>
#include <cutpoint/storage.h>

#include "store/container/container_name.h"
#include "store/container/record.h"
#include "store/index/fuse_filter.h"
#include "store/index/shard_blocks.h"

namespace cutpoint::store {

inline constexpr unsigned prefix_bits = 48;
inline constexpr std::size_t shard_entry_bytes = shard_blocks::entry_bytes;
inline constexpr std::size_t shard_container_bytes = 64;
inline constexpr std::size_t directory_entry_bytes = 32;
inline constexpr std::size_t shard_footer_bytes = 64;
inline constexpr unsigned most_partition_bits = 24;
inline constexpr std::uint32_t most_shard_containers = std::uint32_t{1} << 24;
/// The seeds of a shard's two checksums.
inline constexpr std::uint64_t shard_body_seed = 1;
inline constexpr std::uint64_t shard_footer_seed = 2;
inline constexpr std::uint32_t shard_footer_magic = 0x46534350;  // "PCSF"

/// A container that entries of a shard refer to.
struct shard_container {
  container_name name = {};
  std::uint64_t hint = 0;   ///< `hint_of` its salt
  std::uint64_t bytes = 0;  ///< its length

  friend auto operator<=>(const shard_container&, const shard_container&) = default;  // NOLINT(modernize-use-nullptr)
};

/// Returns the first 48 bits of a digest, which order the entries.
[[nodiscard]] inline std::uint64_t prefix_of(const digest& content) noexcept {
  std::uint64_t prefix = 0;
  for (std::size_t i = 0; i < prefix_bits / 8; ++i) prefix = prefix << 8 | content.bytes[i];
  return prefix;
}

/// One record, as a shard knows it.
struct shard_entry {
  std::uint64_t prefix = 0;     ///< of the record's digest
  std::uint32_t container = 0;  ///< index into the shard's containers
  std::uint32_t ordinal = 0;    ///< index into the container's table

  friend auto operator<=>(const shard_entry&, const shard_entry&) = default;  // NOLINT(modernize-use-nullptr)
};

/// Appends the entries of a container's records, except padding.
inline void append_entries(std::span<const placed_record> records, std::uint32_t container,
                           std::vector<shard_entry>& entries) {
  for (std::uint32_t i = 0; i < records.size(); ++i) {
    const record_description& description = records[i].description;
    if (description.kind != record_kind::padding) entries.push_back({prefix_of(description.content), container, i});
  }
}

/// Its containers and its directory are in memory, and so are the filters of the partitions that were asked for, about 9 bits
/// for each entry. Entries are read when they are needed, in blocks. Immutable and thread-safe.
class shard {
 public:
  /// Reads the containers and the directory, and checks the latter. `id` names the shard in messages. Errors: those of the
  /// object; damage; unavailable, if another version wrote it.
  [[nodiscard]] static result<shard> open(std::shared_ptr<const object_reader> object, std::string id);

  [[nodiscard]] const std::string& id() const noexcept { return id_; }
  [[nodiscard]] std::uint64_t entry_count() const noexcept { return entry_count_; }
  [[nodiscard]] std::uint32_t container_count() const noexcept {
    return static_cast<std::uint32_t>(containers_.size());
  }
  /// `container` must be below `container_count()`.
  [[nodiscard]] const shard_container& container_at(std::uint32_t container) const noexcept {
    return containers_[container];
  }

  /// Returns false if no entry has a prefix; and true for one other prefix in 256, and where the filter cannot be read, so that
  /// `find` reports it.
  [[nodiscard]] bool may_contain(std::uint64_t prefix) const;
  /// Begins to load what `may_contain` will read.
  void prefetch_filter(std::uint64_t prefix) const;
  /// Appends the entries with a prefix. Entries of a damaged shard that no container has are left out. Errors: those of the
  /// object.
  [[nodiscard]] status find(std::uint64_t prefix, shard_blocks& blocks, std::vector<shard_entry>& entries) const;

  /// Returns the bytes of memory that the containers, the directory and the filters in memory take.
  [[nodiscard]] std::uint64_t memory_bytes() const;

  /// Returns the number of partitions.
  [[nodiscard]] std::size_t partition_count() const noexcept { return partitions_.size(); }
  /// Appends all entries of a partition, in order. Errors: those of the object.
  [[nodiscard]] status read_partition(std::size_t partition, std::vector<shard_entry>& entries) const;

  /// Reads the whole shard, and returns whether its bytes are those that were written. Errors: those of the object; a shard that
  /// ends too early is not intact.
  [[nodiscard]] result<bool> is_intact() const;

 private:
  struct partition {
    std::uint64_t position;  ///< of its entries; the filter's fingerprints follow
    std::uint32_t count;
    fuse_filter_shape shape;
  };
  class filter_table;
  shard() = default;

  [[nodiscard]] std::size_t partition_of(std::uint64_t prefix) const noexcept {
    return static_cast<std::size_t>(prefix >> (prefix_bits - partition_bits_));
  }
  [[nodiscard]] std::optional<fuse_filter> filter_of(std::size_t partition) const;

  std::shared_ptr<const object_reader> object_;
  std::string id_;
  std::uint64_t number_ = 0;  ///< names the shard among all that are open in this process
  std::uint64_t entry_count_ = 0;
  unsigned partition_bits_ = 0;
  std::uint64_t body_bytes_ = 0;  ///< before the directory
  seal_tag body_tag_ = {};
  std::vector<shard_container> containers_;
  std::vector<partition> partitions_;
  std::shared_ptr<filter_table> filters_;
};

}  // namespace cutpoint::store
