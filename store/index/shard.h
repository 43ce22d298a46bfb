// A shard: an immutable sorted table from digest prefixes to places in containers, mapped into memory.
//
//   header 64 | containers, 40 each | partitions | directory, 32 for each partition | footer 64
//
//   partition: entries, 12 each, sorted | fingerprints of the partition's filter
//
// docs/formats/store.md describes the fields. A shard is derived from containers and is not trusted: an entry says where
// a record may be, and the container's own table says whether it is there.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <cutpoint/fingerprint.h>

#include "store/container/record.h"
#include "store/index/fuse_filter.h"
#include "store/storage/storage.h"

namespace cutpoint::store {

inline constexpr unsigned prefix_bits = 48;
inline constexpr std::size_t shard_entry_bytes = 12;
inline constexpr std::size_t container_name_bytes = 32;
inline constexpr std::size_t shard_container_bytes = 40;
inline constexpr std::size_t directory_entry_bytes = 32;
inline constexpr std::size_t shard_footer_bytes = 64;
inline constexpr unsigned most_partition_bits = 24;
inline constexpr std::uint32_t most_shard_containers = std::uint32_t{1} << 24;
/// The seeds of a shard's two checksums.
inline constexpr std::uint64_t shard_body_seed = 1;
inline constexpr std::uint64_t shard_footer_seed = 2;
inline constexpr std::uint32_t shard_footer_magic = 0x46534350;  // "PCSF"

using container_name = std::array<std::uint8_t, container_name_bytes>;

/// A container that entries of a shard refer to.
struct shard_container {
  container_name name = {};
  std::uint64_t hint = 0;  ///< `hint_of` its salt

  friend auto operator<=>(const shard_container&, const shard_container&) = default;
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

  friend auto operator<=>(const shard_entry&, const shard_entry&) = default;
};

/// Appends the entries of a container's records, except padding.
inline void append_entries(std::span<const placed_record> records, std::uint32_t container,
                           std::vector<shard_entry>& entries) {
  for (std::uint32_t i = 0; i < records.size(); ++i) {
    const record_description& description = records[i].description;
    if (description.kind != record_kind::padding) entries.push_back({prefix_of(description.content), container, i});
  }
}

/// Immutable and thread-safe.
class shard {
 public:
  /// Reads the directory and checks it. `id` names the shard in messages. Errors: damage; unavailable, if a newer
  /// version wrote it.
  [[nodiscard]] static result<shard> open(mapped_object object, std::string id);

  [[nodiscard]] const std::string& id() const noexcept { return id_; }
  [[nodiscard]] std::uint64_t entry_count() const noexcept { return entry_count_; }
  [[nodiscard]] std::uint32_t container_count() const noexcept { return container_count_; }
  /// `container` must be below `container_count()`.
  [[nodiscard]] shard_container container_at(std::uint32_t container) const noexcept;

  /// Returns false if no entry has a prefix; and true for one other prefix in 256.
  [[nodiscard]] bool may_contain(std::uint64_t prefix) const noexcept;
  /// Begins to load what `may_contain` will read.
  void prefetch_filter(std::uint64_t prefix) const noexcept;
  /// Begins to load what `find` will probably read first.
  void prefetch_entry(std::uint64_t prefix) const noexcept;
  /// Reads that, and begins to load what `find` will read next. Pays for lookups that mostly find something.
  void prefetch_next(std::uint64_t prefix) const noexcept;
  /// Appends the entries with a prefix. Entries of a damaged shard that no container has are left out.
  void find(std::uint64_t prefix, std::vector<shard_entry>& entries) const;

  /// Returns the number of partitions.
  [[nodiscard]] std::size_t partition_count() const noexcept { return partitions_.size(); }
  /// Appends all entries of a partition, in order.
  void read_partition(std::size_t partition, std::vector<shard_entry>& entries) const;

  /// Reads the whole shard, and returns whether its bytes are those that were written.
  [[nodiscard]] bool is_intact() const;

 private:
  struct partition {
    const std::uint8_t* entries;
    std::uint32_t count;
    fuse_filter filter;
  };
  shard() = default;

  [[nodiscard]] const partition& partition_of(std::uint64_t prefix) const noexcept {
    return partitions_[prefix >> (prefix_bits - partition_bits_)];
  }

  mapped_object object_;
  std::string id_;
  std::uint64_t entry_count_ = 0;
  std::uint32_t container_count_ = 0;
  unsigned partition_bits_ = 0;
  std::vector<partition> partitions_;
};

}  // namespace cutpoint::store
