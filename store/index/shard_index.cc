#include "store/index/shard_index.h"

#include <algorithm>

#include "store/format/failure.h"
#include "store/index/shard_merge.h"

namespace cutpoint::store {

namespace {

/// Digests whose filters are asked together, so that their loads overlap.
constexpr std::size_t lookups_at_once = 32;

bool is_wanted(const placed_record& record, record_kind kind, const digest& content) noexcept {
  return record.description.kind == kind && record.description.content == content;
}

}  // namespace

result<shard_index> shard_index::open(storage& objects, seal_kind seal, table_cache& tables) {
  shard_index made(objects, seal, tables);
  std::set<std::string> tried;
  for (bool is_complete = false; !is_complete;) {
    const auto ids = objects.list(object_kind::shard);
    if (!ids) return ids.error();
    is_complete = true;
    for (const std::string& id : *ids) {
      if (!tried.insert(id).second) continue;
      const status added = made.add(id);
      if (added.ok()) continue;
      if (is_absence(added)) {
        is_complete = false;  // it was merged meanwhile, and a new shard has its entries
      } else if (is_damage(added)) {
        made.damaged_.push_back(id);
      } else {
        return added;
      }
    }
  }
  return made;
}

status shard_index::add(const std::string& id) {
  auto object = objects_->map({object_kind::shard, id});
  if (!object) return object.error();
  auto opened = shard::open(std::move(*object), id);
  if (!opened) return opened.error();
  shards_.push_back(std::move(*opened));
  // Most records are in the largest shard.
  std::sort(shards_.begin(), shards_.end(),
            [](const shard& a, const shard& b) { return a.entry_count() > b.entry_count(); });
  return {};
}

bool shard_index::follows_last(record_kind kind, const digest& content) {
  if (!last_ || last_->ordinal + 1 >= last_->container->records.size()) return false;
  if (!is_wanted(last_->container->records[last_->ordinal + 1], kind, content)) return false;
  ++last_->ordinal;
  ++sequential_hits_;
  return true;
}

/// Sets `last_` if the record is found.
result<bool> shard_index::find_in(const shard& where, record_kind kind, const digest& content) {
  entries_.clear();
  where.find(prefix_of(content), entries_);
  for (const shard_entry& each : entries_) {
    const auto table = tables_->find(where.container_at(each.container).name);
    if (!table) return table.error();
    if (*table == nullptr || each.ordinal >= (*table)->records.size()) continue;
    if (!is_wanted((*table)->records[each.ordinal], kind, content)) continue;
    last_ = found_record{*table, each.ordinal};
    return true;
  }
  return false;
}

/// Fills `possible_`: for each digest, a byte for each shard, not 0 if the shard may have it. The loads of all filters
/// are begun before the first is waited for, and so are those of the entries that will be compared.
void shard_index::ask_filters(std::span<const digest> digests) {
  possible_.clear();
  for (const digest& each : digests) {
    for (const shard& asked : shards_) asked.prefetch_filter(prefix_of(each));
  }
  for (const digest& each : digests) {
    for (const shard& asked : shards_) {
      possible_.push_back(asked.may_contain(prefix_of(each)));
      if (possible_.back() != 0) asked.prefetch_entry(prefix_of(each));
    }
  }
}

status shard_index::locate(record_kind kind, std::span<const digest> digests,
                           std::span<std::optional<found_record>> found) {
  std::size_t asked_begin = 0;  // the filters were asked for [asked_begin, asked_end)
  std::size_t asked_end = 0;
  for (std::size_t i = 0; i < digests.size(); ++i) {
    bool is_found = follows_last(kind, digests[i]);
    if (!is_found && i >= asked_end) {
      asked_begin = i;
      asked_end = std::min(i + lookups_at_once, digests.size());
      ask_filters(digests.subspan(asked_begin, asked_end - asked_begin));
    }
    for (std::size_t s = 0; !is_found && s < shards_.size(); ++s) {
      if (possible_[(i - asked_begin) * shards_.size() + s] == 0) continue;
      const auto looked_up = find_in(shards_[s], kind, digests[i]);
      if (!looked_up) return looked_up.error();
      is_found = *looked_up;
    }
    found[i] = is_found ? last_ : std::nullopt;
  }
  return {};
}

result<bool> shard_index::merge(const std::function<bool(const container_name&)>& keeps) {
  std::vector<std::uint64_t> entry_counts;
  for (const shard& each : shards_) entry_counts.push_back(each.entry_count());
  const std::vector<std::size_t> chosen = shards_to_merge(entry_counts);
  if (chosen.empty()) return false;
  std::vector<const shard*> inputs;
  for (const std::size_t each : chosen) inputs.push_back(&shards_[each]);
  const auto merged = merge_shards(*objects_, seal_, inputs, keeps);
  if (!merged) return merged.error();
  if (status synced = objects_->sync(); !synced.ok()) return synced;  // durable before the inputs are removed
  std::vector<std::string> removed;
  for (const shard* each : inputs) removed.push_back(each->id());
  std::erase_if(shards_, [&](const shard& each) { return std::ranges::count(removed, each.id()) != 0; });
  if (status added = add(*merged); !added.ok()) return added;
  for (const std::string& each : removed) {
    if (status gone = objects_->remove({object_kind::shard, each}); !gone.ok()) return gone;
  }
  return true;
}

std::set<container_name> shard_index::containers() const {
  std::set<container_name> names;
  for (const shard& each : shards_) {
    for (std::uint32_t i = 0; i < each.container_count(); ++i) names.insert(each.container_at(i).name);
  }
  return names;
}

std::uint64_t shard_index::entry_count() const noexcept {
  std::uint64_t count = 0;
  for (const shard& each : shards_) count += each.entry_count();
  return count;
}

}  // namespace cutpoint::store
