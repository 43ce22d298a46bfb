#include "store/index/table_cache.h"

#include <algorithm>

#include "store/format/failure.h"

namespace cutpoint::store {

namespace {

/// What the list, the map and the table of a container that cannot be used take.
constexpr std::size_t cached_overhead_bytes = 200;

/// Returns the bytes from a table to the end of its container, and a 64th more, which the next table may be longer.
std::uint64_t first_read_after(const container_table& table) {
  const std::uint64_t bytes = trailer_bytes(table.records.size()) + tail_bytes;
  return std::max(usual_first_read_bytes, bytes + bytes / 64);
}

std::size_t cost_of(const std::shared_ptr<const container_table>& table) {
  return cached_overhead_bytes + (table ? table->memory_bytes() : 0);
}

}  // namespace

result<std::shared_ptr<const container_table>> table_cache::find(const container_name& name) {
  if (ignored_.contains(name)) return std::shared_ptr<const container_table>();
  std::uint64_t first_read_bytes = 0;
  std::vector<std::uint8_t> buffer;
  {
    const std::lock_guard lock(mutex_);
    if (const auto position = by_name_.find(name); position != by_name_.end()) {
      recent_.splice(recent_.begin(), recent_, position->second);
      return position->second->table;
    }
    ++reads_;
    first_read_bytes = first_read_bytes_;
    buffer.swap(buffer_);
  }
  auto read = read_container_table(objects_, id_of(name), key_, first_read_bytes, buffer);
  if (!read && !is_absence(read.error()) && !is_damage(read.error())) return read.error();
  std::shared_ptr<const container_table> table;
  if (read) table = std::make_shared<const container_table>(std::move(*read));

  const std::lock_guard lock(mutex_);
  buffer_.swap(buffer);
  if (table) first_read_bytes_ = first_read_after(*table);
  if (const auto position = by_name_.find(name); position != by_name_.end()) return position->second->table;
  recent_.push_front({name, table});
  by_name_.emplace(name, recent_.begin());
  used_bytes_ += cost_of(table);
  while (used_bytes_ > limit_bytes_ && recent_.size() > 1) {
    used_bytes_ -= cost_of(recent_.back().table);
    by_name_.erase(recent_.back().name);
    recent_.pop_back();
  }
  return table;
}

void table_cache::forget(const std::string& id) {
  const auto name = container_name_of(id);
  const std::lock_guard lock(mutex_);
  const auto position = name ? by_name_.find(*name) : by_name_.end();
  if (position == by_name_.end()) return;
  used_bytes_ -= cost_of(position->second->table);
  recent_.erase(position->second);
  by_name_.erase(position);
}

std::size_t table_cache::memory_bytes() const {
  const std::lock_guard lock(mutex_);
  return used_bytes_;
}

std::uint64_t table_cache::reads() const {
  const std::lock_guard lock(mutex_);
  return reads_;
}

}  // namespace cutpoint::store
