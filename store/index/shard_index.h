// Finds records by digest: shards say where a record may be, and containers' tables confirm it. An index of the caller may come first.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include <cutpoint/storage.h>
#include <cutpoint/store_index.h>

#include "store/index/shard.h"
#include "store/index/table_cache.h"

namespace cutpoint::store {

/// A record that exists. It keeps no table in memory: the records of a batch may lie in as many containers.
struct found_record {
  std::shared_ptr<const container_identity> container;
  std::uint32_t ordinal = 0;  ///< index into the container's records
  placed_record place = {};
};

/// How many digests those who meet them one by one collect before they look them up.
inline constexpr std::size_t located_at_once = 256;

/// Returns a record of a container whose table was read.
[[nodiscard]] found_record record_in(const container_table& table, std::uint32_t ordinal);

/// The shards of a store. Digests are looked up in batches and in the order of the stream: after a hit the next digest
/// is first compared with the next record of the same container, which costs a few nanoseconds, and only then looked up
/// in the shards.
///
/// An entry of a container that does not exist or is damaged counts as absent. Not thread-safe; `table_cache` may be
/// shared.
class shard_index {
 public:
  /// Opens all shards. Those that are damaged are left out and named in `damaged_shards`. The arguments must outlive the
  /// index, which opens the shards by `shared` and shares them with the other indexes that do; alone if it is null. Errors: those of the
  /// storage.
  [[nodiscard]] static result<shard_index> open(storage& objects, seal_kind seal, table_cache& tables,
                                                shard_pool* shared = nullptr);

  /// Finds a record of a kind for each digest; `records` has as many elements. A chunk may have the digest of a node, whose
  /// hints are not covered by it, so that neither stands in for the other. If several containers have a record, that of
  /// the digest's hint is found; `hints` has as many elements as `digests`, or is empty. Errors: those of the storage.
  [[nodiscard]] status locate(record_kind kind, std::span<const digest> digests,
                              std::span<std::optional<found_record>> records,
                              std::span<const std::uint64_t> hints = {});
  /// Appends the record of a kind and digest of each container that has it. Errors: those of the storage.
  [[nodiscard]] status locate_all(record_kind kind, const digest& content, std::vector<found_record>& records);
  /// Returns whether a shard names a record in one of some containers, which may count as absent. Of 2^48 other records one is
  /// taken for it. Errors: those of the storage.
  [[nodiscard]] result<bool> is_named_in(const std::set<container_name>& containers, const digest& content);

  /// Opens the shards that other processes have put since. Errors: those of the storage.
  [[nodiscard]] status refresh();
  /// Removes from `ids` the containers that open shards name, and what is no container.
  void leave_unnamed(std::vector<std::string>& ids) const;
  /// Indexes containers that no shard names, in memory alone: the first call those of sessions that have leases, the second all
  /// others, which are there if shards were lost. Returns false if it did nothing. Errors: those of the storage.
  [[nodiscard]] result<bool> index_unnamed();
  /// Forgets what is in memory of a container, because it was found to be removed.
  void forget_container(const std::string& id);
  /// Opens one more shard, which must be durable. If another process has merged it since, all new shards are opened.
  [[nodiscard]] status add(const std::string& id);
  /// Merges shards as `shards_to_merge` says: puts the merged shard, syncs, and removes its inputs. A shard among them whose
  /// bytes have changed is replaced by others that are made from its containers, because its wrong entries would look right in
  /// the merged shard. Returns whether shards were merged or replaced. Nothing is done where the storage does not let this user
  /// remove shards: each merge would leave one more copy of the index. Errors: those of the storage; those of `merge_shards`.
  [[nodiscard]] result<bool> merge();
  /// Reads all shards whole, and replaces those whose bytes have changed by others that are made from their containers.
  /// Errors: those of the storage; as for `put_shards_of` and `check_removal`.
  [[nodiscard]] status rebuild_damaged();
  /// Replaces the shards that have records of containers for which `keeps` returns false by few without these, none of which has more
  /// than `most_merged_entries` unless it replaces one alone. Errors: as for `merge` and `check_removal`.
  [[nodiscard]] status drop_containers(const std::function<bool(const container_name&)>& keeps);

  [[nodiscard]] std::span<const shard> shards() const noexcept { return shards_; }
  [[nodiscard]] table_cache& tables() const noexcept { return *tables_; }
  /// Returns the containers that the shards have records of, in the order of their names.
  [[nodiscard]] std::vector<shard_container> containers() const;
  [[nodiscard]] std::uint64_t entry_count() const noexcept;
  [[nodiscard]] const std::vector<std::string>& damaged_shards() const noexcept { return damaged_; }
  /// Returns the bytes of memory that the shards and the cache of their blocks take, without `tables()`.
  [[nodiscard]] std::uint64_t memory_bytes() const;
  /// Returns the number of lookups that were answered by the next record of a container.
  [[nodiscard]] std::uint64_t sequential_hits() const noexcept { return sequential_hits_; }

 private:
  shard_index(storage& objects, seal_kind seal, table_cache& tables, shard_pool* shared)
      : objects_(&objects),
        seal_(seal),
        tables_(&tables),
        shared_(shared),
        blocks_(tables.limit_bytes() / tables_over_blocks) {}

  /// An entry of a shard with the prefix that is looked for.
  struct candidate {
    shard_container container;
    std::uint32_t ordinal;
  };

  [[nodiscard]] status open_again();
  [[nodiscard]] result<shard> open_shard(const std::string& id) const;
  void sort_shards();
  [[nodiscard]] status replace(const std::vector<shard>& inputs,
                               const std::function<bool(const container_name&)>& keeps);
  [[nodiscard]] result<std::vector<std::string>> containers_of_sessions() const;
  [[nodiscard]] bool follows_last(record_kind kind, const digest& content, std::uint64_t hint);
  void ask_filters(std::span<const digest> digests);
  [[nodiscard]] status find_candidates(const digest& content, std::uint64_t hint, std::size_t asked);
  [[nodiscard]] result<std::shared_ptr<const container_table>> confirm(const candidate& possible, record_kind kind,
                                                                       const digest& content);

  /// The cache of tables has so many times the memory of that of blocks, of which few are read as long as chunks follow each other.
  static constexpr std::size_t tables_over_blocks = 8;

  storage* objects_;
  seal_kind seal_;
  table_cache* tables_;
  shard_pool* shared_;  ///< or null
  std::vector<shard> shards_;
  shard_blocks blocks_;
  enum class indexing { shards_alone, of_sessions, of_all };
  indexing indexed_ = indexing::shards_alone;  ///< what was asked of `index_unnamed`
  std::set<std::string> known_ids_;            ///< of shards that are open, or were found to be damaged or merged
  std::vector<std::string> damaged_;
  std::optional<found_record> last_;                   ///< the record found last
  std::shared_ptr<const container_table> last_table_;  ///< of its container
  std::vector<shard_entry> entries_;                   ///< workspace of `find_candidates`
  std::vector<candidate> candidates_;                  ///< what it found
  std::vector<std::uint8_t> possible_;                 ///< workspace of `locate`
  std::uint64_t sequential_hits_ = 0;
};

/// Not thread-safe.
class index_of_caller {
 public:
  /// `shards` must outlive the object.
  index_of_caller(std::shared_ptr<store_index> index, shard_index& shards)
      : index_(std::move(index)), shards_(shards) {}

  /// Finds chunks as `shard_index::locate` does, in the shards only where a place is not right any more. Errors: those of the index
  /// and the storage.
  [[nodiscard]] status locate(std::span<const digest> chunks, std::span<std::optional<found_record>> records);
  /// Adds the chunks of a container to the index, unless it does not exist or is damaged. Errors: as above.
  [[nodiscard]] status add(const container_name& container);

 private:
  [[nodiscard]] result<std::optional<found_record>> read_place(const store_chunk_place& place, const digest& chunk);

  std::shared_ptr<store_index> index_;
  shard_index& shards_;
  std::vector<std::optional<store_chunk_place>> places_;  ///< workspace
};

}  // namespace cutpoint::store
