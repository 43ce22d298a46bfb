// The values that were used last, in a bounded amount of memory.
#pragma once

#include <cstring>
#include <list>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>

#include <cutpoint/fingerprint.h>

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

}  // namespace cutpoint::store
