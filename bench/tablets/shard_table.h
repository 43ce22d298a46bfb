// A store's own index behind the interface that PRUNE's table has, so that both answer the same streams.
//
// Apart because it takes a whole store, and the program compares it with tablets that need none.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include <cutpoint/fingerprint_index.h>
#include <cutpoint/status.h>

#include "store/index/table_cache.h"
#include "store/session/deduplicator.h"
#include "store/storage/directory_storage.h"

namespace cutpoint::bench {

/// Containers have records without content, so what is read of them is what an index reads: their tables. Each digest that is
/// found was compared as a whole with such a table. Errors: io_error.
class shard_table final : public fingerprint_index {
 public:
  struct options {
    std::string folder;  ///< empty, or with the shards and containers of another table
    std::size_t table_cache_bytes = store::table_cache::usual_bytes;
    std::size_t waiting_entries = store::record_writer::usual_waiting_entries;
  };
  [[nodiscard]] static result<std::unique_ptr<shard_table>> make(const options& settings);

  status look_up(std::span<const digest> digests, std::span<index_answer> answers) override;
  status insert(std::span<const digest> digests, std::span<index_answer> answers) override;
  [[nodiscard]] std::uint64_t size() const noexcept override { return size_; }
  /// Returns the bytes of what is in memory of the shards, and of the tables of containers.
  [[nodiscard]] std::uint64_t memory_bytes() const noexcept override {
    return writer_->shards.memory_bytes() + tables_->memory_bytes();
  }
  /// Returns the bytes of the shards' files, and of the tables in the containers.
  [[nodiscard]] result<std::uint64_t> disk_bytes() const;

  /// Ends the session that inserts, and begins another one.
  [[nodiscard]] status begin_next_session();

 private:
  shard_table(const options& settings, std::shared_ptr<store::file_system> files);
  [[nodiscard]] status open_session();

  options settings_;
  store::seal_key key_;
  std::unique_ptr<store::storage> objects_;
  std::unique_ptr<store::table_cache> tables_;
  store::own_containers containers_;
  std::unique_ptr<store::store_writer> writer_;
  std::vector<std::optional<store::found_record>> records_;  ///< workspace
  std::uint64_t size_ = 0;
};

}  // namespace cutpoint::bench
