// Reads records for many threads at once, and keeps those that were used last in memory.
#pragma once

#include <cstring>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <cutpoint/fingerprint.h>

#include "store/index/table_cache.h"
#include "store/session/open_store.h"
#include "store/session/records.h"

namespace cutpoint::store {

/// Values that are named by the digest of their content. Whoever has found a value may keep it for longer. Thread-safe.
template <class Value>
class recent_cache {
 public:
  explicit recent_cache(std::size_t memory_bytes) noexcept : limit_bytes_(memory_bytes) {}

  /// Returns the value, or null if the cache does not have it.
  [[nodiscard]] std::shared_ptr<const Value> find(const digest& name) {
    const std::lock_guard lock(mutex_);
    const auto position = by_name_.find(name);
    if (position == by_name_.end()) return nullptr;
    recent_.splice(recent_.begin(), recent_, position->second);
    return position->second->value;
  }

  /// Keeps a value that takes `bytes`, and drops those that were not used for the longest time. A value that is larger
  /// than the whole cache is not kept.
  void insert(const digest& name, std::shared_ptr<const Value> value, std::size_t bytes) {
    bytes += overhead_bytes;
    const std::lock_guard lock(mutex_);
    if (bytes > limit_bytes_ || by_name_.contains(name)) return;
    recent_.push_front({name, std::move(value), bytes});
    by_name_.emplace(name, recent_.begin());
    used_bytes_ += bytes;
    while (used_bytes_ > limit_bytes_) {
      used_bytes_ -= recent_.back().bytes;
      by_name_.erase(recent_.back().name);
      recent_.pop_back();
    }
  }

  [[nodiscard]] std::size_t memory_bytes() const {
    const std::lock_guard lock(mutex_);
    return used_bytes_;
  }

 private:
  static constexpr std::size_t overhead_bytes = 200;  ///< of the list, the map and the value's owner

  struct kept_value {
    digest name;
    std::shared_ptr<const Value> value;
    std::size_t bytes;
  };
  struct name_hash {
    std::size_t operator()(const digest& name) const noexcept {
      std::size_t begin;
      std::memcpy(&begin, name.bytes.data(), sizeof begin);
      return begin;
    }
  };

  std::size_t limit_bytes_;
  mutable std::mutex mutex_;  ///< for everything below
  std::list<kept_value> recent_;
  std::unordered_map<digest, typename std::list<kept_value>::iterator, name_hash> by_name_;
  std::size_t used_bytes_ = 0;
};

/// Thread-safe. The index is mapped again when a record is lost and the store has got other shards since: so records are
/// found that other processes have written or moved. A record that is gone is damage, never absence, which means that a
/// path does not exist.
class shared_reader final : public record_source {
 public:
  /// Keeps nodes, chunks and tables of `memory_bytes` together. `opened_store` must outlive the reader.
  shared_reader(open_store& opened_store, std::uint64_t memory_bytes);

  /// Reads a node anew: only decoded nodes are kept.
  [[nodiscard]] result<std::vector<std::uint8_t>> read_node(const record_reference& node) override;
  [[nodiscard]] result<std::shared_ptr<const decoded_node>> decode(const record_reference& node) override;
  [[nodiscard]] result<shared_chunk> share_chunk(const record_reference& chunk) override;
  [[nodiscard]] std::vector<result<shared_chunk>> share_chunks(std::span<const record_reference> chunks) override;
  [[nodiscard]] std::uint64_t window_bytes() const override { return window_bytes_of(objects_); }

 private:
  /// What one thread at a time reads with.
  struct single_reader {
    single_reader(storage& objects, const seal_key& key, shard_index mapped, record_fingerprinter check)
        : shards(std::move(mapped)), records(objects, key, shards, std::move(check)) {}

    shard_index shards;
    record_reader records;
  };
  /// The index as it was when its shards were listed.
  struct mapped_index {
    mapped_index(std::vector<std::string> listed, storage& objects, const seal_key& key, std::size_t table_bytes)
        : shard_ids(std::move(listed)), tables(objects, key, table_bytes) {}

    std::vector<std::string> shard_ids;  ///< sorted
    table_cache tables;
    std::mutex mutex;
    std::vector<std::unique_ptr<single_reader>> idle;
  };

  template <class Content>
  [[nodiscard]] result<Content> read(const std::function<result<Content>(record_reader&)>& read_once);
  [[nodiscard]] std::vector<result<shared_chunk>> read_window(std::span<const record_reference> chunks);
  [[nodiscard]] result<std::unique_ptr<single_reader>> take(mapped_index& index);
  [[nodiscard]] result<std::shared_ptr<mapped_index>> newer_index(const std::shared_ptr<mapped_index>& known);

  storage& objects_;
  const seal_key& key_;
  shard_pool& shards_;
  std::function<result<record_fingerprinter>()> make_fingerprinter_;
  std::size_t table_bytes_;
  recent_cache<decoded_node> nodes_;
  recent_cache<std::vector<std::uint8_t>> chunks_;
  std::mutex mutex_;
  std::shared_ptr<mapped_index> index_;  ///< null before the first read
};

}  // namespace cutpoint::store
