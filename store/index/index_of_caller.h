// Finds chunks by an index of the caller.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <cutpoint/store_index.h>

#include "store/index/shard_index.h"

namespace cutpoint::store {

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
