// The fingerprint index of a store's chunks or nodes: its shards, and the digests that were inserted since they were
// written.
#pragma once

#include <optional>
#include <vector>

#include <cutpoint/memory_index.h>

#include "store/index/shard_index.h"

namespace cutpoint::store {

/// Behind the same interface as `memory_index`, so that whatever deduplicates can use either. Inserted digests are in
/// memory until `forget_inserted` is called, when shards have them.
class store_index final : public fingerprint_index {
 public:
  /// `shards` must outlive the index.
  store_index(shard_index& shards, record_kind records, fingerprint_kind kind)
      : shards_(shards), records_(records), kind_(kind), inserted_(kind) {}

  [[nodiscard]] status look_up(std::span<const digest> digests, std::span<index_answer> answers) override;
  [[nodiscard]] status insert(std::span<const digest> digests, std::span<index_answer> answers) override;
  [[nodiscard]] std::uint64_t size() const noexcept override { return shards_.entry_count() + inserted_.size(); }
  /// The mapped files of the shards do not count.
  [[nodiscard]] std::uint64_t memory_bytes() const noexcept override { return inserted_.memory_bytes(); }

  /// Forgets the inserted digests, because the shards contain them now.
  void forget_inserted() { inserted_ = memory_index(kind_); }
  /// Returns where each digest of the last call was found. Empty for digests that are absent or were inserted.
  [[nodiscard]] std::span<const std::optional<found_record>> records_found() const noexcept { return records_found_; }

 private:
  shard_index& shards_;
  record_kind records_;
  fingerprint_kind kind_;
  memory_index inserted_;
  std::vector<std::optional<found_record>> records_found_;
  std::vector<digest> absent_;  ///< workspace of `insert`: the digests that no shard has
  std::vector<index_answer> absent_answers_;
};

}  // namespace cutpoint::store
