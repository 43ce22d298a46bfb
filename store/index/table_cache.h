// The tables of the containers that were used last, in a bounded amount of memory.
#pragma once

#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <cutpoint/storage.h>

#include "store/format/container.h"
#include "store/format/record.h"

namespace cutpoint::store {

/// The first read of a table has the length of the table that was read last, since containers of a store are much alike. So tables
/// of any length mostly take one ranged read. Thread-safe. `objects` and the key must outlive the cache.
class table_cache {
 public:
  static constexpr std::size_t usual_bytes = 64 * MiB;  ///< for one operation on a store

  /// Keeps tables of `memory_bytes` together, and at least one, besides the bytes that were read last. The containers `ignored` count as absent.
  table_cache(storage& objects, const seal_key& key, std::size_t memory_bytes, std::set<container_name> ignored = {})
      : objects_(objects), key_(key), limit_bytes_(memory_bytes), ignored_(std::move(ignored)) {}

  /// Returns the table of a container, which is read if it is not in memory. Null if the container does not exist or is
  /// damaged; that is remembered. Errors: other failures of the storage; those of the key.
  [[nodiscard]] result<std::shared_ptr<const container_table>> find(const container_name& name);
  /// Forgets the table of a container, which is read again when it is looked for.
  void forget(const std::string& id);

  [[nodiscard]] const seal_key& key() const noexcept { return key_; }
  [[nodiscard]] std::size_t limit_bytes() const noexcept { return limit_bytes_; }
  [[nodiscard]] std::size_t memory_bytes() const;
  /// Returns the number of tables that were read.
  [[nodiscard]] std::uint64_t reads() const;

 private:
  struct cached_table {
    container_name name;
    std::shared_ptr<const container_table> table;  ///< null for a container that cannot be used
  };

  storage& objects_;
  const seal_key& key_;
  std::size_t limit_bytes_;
  const std::set<container_name> ignored_;
  mutable std::mutex mutex_;  ///< for everything below
  std::uint64_t first_read_bytes_ = usual_first_read_bytes;
  std::vector<std::uint8_t> buffer_;  ///< of the last read; empty while one goes on
  std::list<cached_table> recent_;    ///< the one used last is the first
  std::map<container_name, std::list<cached_table>::iterator> by_name_;
  std::size_t used_bytes_ = 0;
  std::uint64_t reads_ = 0;
};

}  // namespace cutpoint::store
