// A shard: an immutable sorted table from digest prefixes to places in containers, its blocks and its filter.
//
//   header 64 | containers, 64 each | partitions | directory, 32 for each partition | footer 64
//
//   partition: entries, 12 each, sorted | fingerprints of the partition's filter
//
// docs/formats/store.md describes the fields. A shard is derived from containers and is not trusted: an entry says where
// a record may be, and the container's own table says whether it is there.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <cutpoint/bytes.h>
#include <cutpoint/fingerprint.h>
#include <cutpoint/storage.h>

#include "host/core/splitmix.h"
#include "store/format/record.h"

namespace cutpoint::store {

// A binary fuse filter: a set of 64-bit keys in about 9 bits each, which errs for one absent key in 256.
//
// Graf and Lemire, "Binary Fuse Filters: Fast and Smaller Than Xor Filters", ACM JEA 27 (2022), algorithms 1 and 2, with
// three hash functions and fingerprints of 8 bits.

/// What a filter needs besides its fingerprints: `fingerprint_count()` bytes, in overlapping windows of three segments.
struct fuse_filter_shape {
  std::uint32_t segment_bits = 0;   ///< log2 of a segment's length, at most `most_segment_bits`
  std::uint32_t segment_count = 1;  ///< number of segments in which a window may begin, at least 1
  std::uint64_t seed = 0;

  static constexpr std::uint32_t most_segment_bits = 18;
  [[nodiscard]] std::uint64_t fingerprint_count() const noexcept {
    return (std::uint64_t{segment_count} + 2) << segment_bits;
  }
};

/// Returns the shape for a number of keys. Different shapes give equally right filters.
[[nodiscard]] fuse_filter_shape fuse_filter_shape_for(std::uint64_t key_count) noexcept;

/// Makes the fingerprints for distinct keys, and chooses the seed of `shape`. Needs about 30 bytes of memory for each
/// key. Returns nullopt if no seed fits, which does not happen for distinct keys.
[[nodiscard]] std::optional<std::vector<std::uint8_t>> build_fuse_filter(std::span<const std::uint64_t> keys,
                                                                         fuse_filter_shape& shape);

/// A filter over fingerprints that another object owns.
class fuse_filter {
 public:
  fuse_filter(const fuse_filter_shape& shape, const std::uint8_t* fingerprints) noexcept
      : shape_(shape), fingerprints_(fingerprints) {}

  /// Returns true for every key of the set, and for one other key in 256.
  [[nodiscard]] bool may_contain(std::uint64_t key) const noexcept {
    const slots places = slots_of(key);
    return (places.fingerprint ^ fingerprints_[places.at[0]] ^ fingerprints_[places.at[1]] ^
            fingerprints_[places.at[2]]) == 0;
  }
  /// Begins to load what `may_contain` will read.
  void prefetch(std::uint64_t key) const noexcept {
    for (const std::uint64_t at : slots_of(key).at) __builtin_prefetch(fingerprints_ + at);
  }

  struct slots {
    std::uint64_t at[3];
    std::uint8_t fingerprint;
  };
  [[nodiscard]] slots slots_of(std::uint64_t key) const noexcept { return slots_of_hash(hash_of(key)); }
  [[nodiscard]] std::uint64_t hash_of(std::uint64_t key) const noexcept { return splitmix64::mixed(key + shape_.seed); }
  [[nodiscard]] slots slots_of_hash(std::uint64_t hash) const noexcept {
    const std::uint64_t starts = std::uint64_t{shape_.segment_count} << shape_.segment_bits;
    const std::uint64_t mask = (std::uint64_t{1} << shape_.segment_bits) - 1;
    __extension__ using wide = unsigned __int128;
    const auto first = static_cast<std::uint64_t>((wide{hash} * starts) >> 64);
    return {{first, (first + mask + 1) ^ ((hash >> 18) & mask), (first + 2 * (mask + 1)) ^ (hash & mask)},
            static_cast<std::uint8_t>(hash ^ (hash >> 32))};
  }

 private:
  fuse_filter_shape shape_;
  const std::uint8_t* fingerprints_;
};

/// Keeps the block that was read last in each of its slots. Not thread-safe.
class shard_blocks {
 public:
  static constexpr std::size_t entry_bytes = 12;
  static constexpr std::size_t block_entries = 341;  ///< a page has so many
  static constexpr std::size_t usual_bytes = 8 * MiB;

  /// Memory: at most `memory_bytes`, which are taken as blocks are read.
  explicit shard_blocks(std::size_t memory_bytes = usual_bytes) : slots_(memory_bytes / sizeof(block) + 1) {}
  shard_blocks(const shard_blocks& other) : slots_(other.slots_.size()) {}  ///< an empty cache of the same size
  shard_blocks& operator=(const shard_blocks& other) {
    slots_ = std::vector<std::unique_ptr<block>>(other.slots_.size());
    return *this;
  }
  shard_blocks(shard_blocks&&) noexcept = default;
  shard_blocks& operator=(shard_blocks&&) noexcept = default;
  ~shard_blocks() = default;

  /// Returns `count` entries from a position on, at most `block_entries`. They are valid until the next call. `shard` is a
  /// number that no other shard of this process has. Errors: those of the object.
  [[nodiscard]] result<const std::uint8_t*> read(std::uint64_t shard, const object_reader& object,
                                                 std::uint64_t position, std::size_t count) {
    const std::uint64_t mixed = (position * 0x9e3779b97f4a7c15 + shard * 0xc2b2ae3d27d4eb4f) >> 20;
    std::unique_ptr<block>& slot = slots_[mixed % slots_.size()];
    if (slot && slot->shard == shard && slot->position == position && slot->count >= count) return slot->bytes.data();
    if (!slot) slot = std::make_unique<block>();
    slot->shard = 0;
    CUTPOINT_RETURN_IF_FAILED(object.read(position, std::span(slot->bytes).first(count * entry_bytes)));
    slot->shard = shard;
    slot->position = position;
    slot->count = count;
    return slot->bytes.data();
  }

  [[nodiscard]] std::size_t memory_bytes() const noexcept {
    const auto blocks = std::ranges::count_if(slots_, [](const auto& slot) { return slot != nullptr; });
    return slots_.size() * sizeof slots_[0] + static_cast<std::size_t>(blocks) * sizeof(block);
  }

 private:
  struct block {
    std::uint64_t shard = 0;
    std::uint64_t position = 0;
    std::size_t count = 0;
    std::array<std::uint8_t, block_entries * entry_bytes> bytes;
  };
  std::vector<std::unique_ptr<block>> slots_;
};

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

/// A handle on an open shard. Its containers and its directory are in memory, and so are the filters of the partitions that were asked
/// for, about 9 bits for each entry; copies share them. Entries are read when they are needed, in blocks. Immutable and thread-safe.
class shard {
 public:
  /// The end of a shard with its directory, if it has fewer than 2,000 partitions.
  static constexpr std::uint64_t usual_end_bytes = 64 * KiB;

  /// Reads the end, the containers and the rest of the directory, and checks the latter. `id` names the shard in messages. Errors:
  /// those of the object; damage; unavailable, if another version wrote it.
  [[nodiscard]] static result<shard> open(std::shared_ptr<const object_reader> object, std::string id);

  [[nodiscard]] const std::string& id() const noexcept { return state_->id; }
  [[nodiscard]] std::uint64_t entry_count() const noexcept { return state_->entry_count; }
  [[nodiscard]] std::uint32_t container_count() const noexcept {
    return static_cast<std::uint32_t>(state_->containers.size());
  }
  /// `container` must be below `container_count()`.
  [[nodiscard]] const shard_container& container_at(std::uint32_t container) const noexcept {
    return state_->containers[container];
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

  [[nodiscard]] std::size_t partition_count() const noexcept { return state_->partitions.size(); }
  /// Appends all entries of a partition, in order. Errors: those of the object.
  [[nodiscard]] status read_partition(std::size_t partition, std::vector<shard_entry>& entries) const;

  /// Reads the whole shard, and returns whether its bytes are those that were written. Errors: those of the object; a shard that
  /// ends too early is not intact.
  [[nodiscard]] result<bool> is_intact() const;

 private:
  friend class shard_pool;

  struct partition {
    std::uint64_t position;  ///< of its entries; the filter's fingerprints follow
    std::uint32_t count;
    fuse_filter_shape shape;
  };
  class filter_table;
  struct state {
    std::shared_ptr<const object_reader> object;
    std::string id;
    std::uint64_t number = 0;  ///< names the shard among all that are open in this process
    std::uint64_t entry_count = 0;
    unsigned partition_bits = 0;
    std::uint64_t body_bytes = 0;  ///< before the directory
    seal_tag body_tag = {};
    std::vector<shard_container> containers = {};
    std::vector<partition> partitions = {};
    std::shared_ptr<filter_table> filters = {};
  };
  explicit shard(std::shared_ptr<const state> open_state) noexcept : state_(std::move(open_state)) {}

  [[nodiscard]] std::size_t partition_of(std::uint64_t prefix) const noexcept {
    return static_cast<std::size_t>(prefix >> (prefix_bits - state_->partition_bits));
  }
  [[nodiscard]] std::optional<fuse_filter> filter_of(std::size_t partition) const;

  std::shared_ptr<const state> state_;
};

/// The shards that indexes of a process have open, so that each is opened once. They never change. Thread-safe.
class shard_pool {
 public:
  /// `objects` must outlive the pool and all shards that it opens.
  explicit shard_pool(storage& objects) noexcept : objects_(objects) {}

  /// Returns a shard, which is opened unless somebody has it open. Errors: those of the storage; as for `shard::open`.
  [[nodiscard]] result<shard> open(const std::string& id);
  /// Forgets a shard that turned out to be removed: whoever asks for it next opens it.
  void forget(const std::string& id);

 private:
  storage& objects_;
  std::mutex mutex_;
  std::map<std::string, std::weak_ptr<const shard::state>> open_;  ///< by id
};

}  // namespace cutpoint::store
