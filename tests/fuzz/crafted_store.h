// A store whose bytes are chosen: records, trees, tables, shards and snapshots that lie, under tags and digests that are
// right, so that they reach the decoders.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "store/format/container.h"
#include "store/index/shard.h"
#include "store/objects/small_object.h"
#include "store/storage/directory_storage.h"
#include "tests/fuzz/fuzzed_choices.h"
#include "tests/store/support/volatile_file_system.h"

namespace cutpoint::tests {

/// Makes one store in memory from choices. Not thread-safe.
class crafted_store {
 public:
  explicit crafted_store(fuzzed_choices& random);

  [[nodiscard]] const std::shared_ptr<volatile_file_system>& files() const noexcept { return files_; }

 private:
  struct made_record {
    store::record_kind kind;
    store::record_reference reference;
  };

  /// Returns a new storage, because one that refused a name a second time fails from then on.
  [[nodiscard]] std::unique_ptr<store::storage> objects() const;
  void add_chunk(store::container_builder& builder);
  void add_node(store::container_builder& builder);
  void add_record(store::container_builder& builder, store::record_description description, byte_span payload,
                  std::uint32_t referred_bytes);
  [[nodiscard]] store::record_reference reference_to(store::record_kind kind);
  [[nodiscard]] store::stored_extent extent();
  [[nodiscard]] store::folder_entry entry(std::string name);
  [[nodiscard]] store::encoded_node node();
  void put_container(store::container_builder builder);
  void put_shard();
  void put_snapshot();
  /// Changes a few of some bytes.
  void lie(std::span<std::uint8_t> bytes);

  fuzzed_choices& random_;
  std::shared_ptr<volatile_file_system> files_ = std::make_shared<volatile_file_system>();
  std::vector<made_record> records_;
  std::vector<store::shard_container> containers_;
  std::vector<store::shard_entry> entries_;
};

}  // namespace cutpoint::tests
