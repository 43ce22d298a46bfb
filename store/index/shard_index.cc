#include "store/index/shard_index.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>

#include "host/core/parallel.h"
#include "store/format/failure.h"
#include "store/format/object_header.h"
#include "store/index/shard_writer.h"

namespace cutpoint::store {

namespace {

/// Digests whose filters are asked together, so that their loads overlap.
constexpr std::size_t lookups_at_once = 32;

bool is_wanted(const placed_record& record, record_kind kind, const digest& content) noexcept {
  return record.description.kind == kind && record.description.content == content;
}

}  // namespace

found_record record_in(const container_table& table, std::uint32_t ordinal) {
  return {std::make_shared<container_identity>(table), ordinal, table.records[ordinal]};
}

result<shard_index> shard_index::open(storage& objects, seal_kind seal, table_cache& tables, shard_pool* shared) {
  shard_index index(objects, seal, tables, shared);
  const status refreshed = index.refresh();
  return refreshed.ok() ? result<shard_index>(std::move(index)) : refreshed;
}

status shard_index::refresh() {
  for (bool is_complete = false; !is_complete;) {
    CUTPOINT_TRY(auto ids, objects_->list(object_kind::shard));
    std::erase_if(ids, [&](const std::string& id) { return known_ids_.contains(id); });
    std::vector<std::optional<result<shard>>> opened_shards(ids.size());
    run_parallel(objects_->parallel_requests(), ids.size(),
                 [&](std::size_t, std::size_t i) { opened_shards[i] = open_shard(ids[i]); });
    is_complete = true;
    for (std::size_t i = 0; i < ids.size(); ++i) {
      result<shard>& each = *opened_shards[i];
      if (each) {
        shards_.push_back(*std::move(each));
      } else if (is_absence(each.error())) {
        is_complete = false;  // it was merged meanwhile, and a new shard has its entries
      } else if (is_damage(each.error())) {
        damaged_.push_back(ids[i]);
      } else {
        return each.error();
      }
      known_ids_.insert(ids[i]);
    }
  }
  sort_shards();
  return {};
}

/// Opens all shards anew. Not every storage can read one that is open and has been merged by another process.
status shard_index::open_again() {
  for (const shard& each : shards_) {
    if (shared_ != nullptr) shared_->forget(each.id());
  }
  shards_.clear();
  known_ids_.clear();
  damaged_.clear();
  indexed_ = indexing::shards_alone;
  return refresh();
}

void shard_index::forget_container(const std::string& id) {
  tables_->forget(id);
  last_.reset();
  last_table_.reset();
}

status shard_index::add(const std::string& id) {
  auto opened_shard = open_shard(id);
  // If it was merged meanwhile, a new shard has its entries.
  if (!opened_shard) return is_absence(opened_shard.error()) ? refresh() : opened_shard.error();
  known_ids_.insert(id);
  shards_.push_back(*std::move(opened_shard));
  sort_shards();
  return {};
}

result<shard> shard_index::open_shard(const std::string& id) const {
  if (shared_ != nullptr) return shared_->open(id);
  CUTPOINT_TRY(auto object, objects_->open({object_kind::shard, id}, shard::usual_end_bytes));
  return shard::open(std::move(object), id);
}

/// Most records are in the largest shard.
void shard_index::sort_shards() { std::ranges::stable_sort(shards_, std::greater(), &shard::entry_count); }

void shard_index::leave_unnamed(std::vector<std::string>& ids) const {
  std::erase_if(ids, [named = containers()](const std::string& id) {
    const auto name = container_name_of(id);
    return !name || std::ranges::binary_search(named, *name, {}, &shard_container::name);
  });
}

/// Lists the containers of sessions that have leases, which are few.
result<std::vector<std::string>> shard_index::containers_of_sessions() const {
  CUTPOINT_TRY(const auto leases, objects_->list(object_kind::lease));
  std::set<std::string> sessions;
  for (const std::string& each : leases) sessions.emplace(session_of(each));
  std::vector<std::string> all;
  for (const std::string& each : sessions) {
    CUTPOINT_TRY(auto ids, objects_->list(object_kind::container, container_prefix(each)));
    std::ranges::move(ids, std::back_inserter(all));
  }
  return all;
}

result<bool> shard_index::index_unnamed() {
  if (indexed_ == indexing::of_all) return false;
  indexed_ = indexed_ == indexing::shards_alone ? indexing::of_sessions : indexing::of_all;
  CUTPOINT_TRY(auto ids,
               indexed_ == indexing::of_all ? objects_->list(object_kind::container) : containers_of_sessions());
  leave_unnamed(ids);
  std::vector<shard_container> unnamed;
  std::vector<shard_entry> entries;
  for (const std::string& id : ids) {
    const container_name name = *container_name_of(id);
    CUTPOINT_TRY(const auto table, tables_->find(name));
    if (table == nullptr) continue;
    unnamed.push_back({name, hint_of(table->salt), table->container_bytes});
    append_entries(table->records, static_cast<std::uint32_t>(unnamed.size() - 1), entries);
  }
  if (entries.empty()) return true;
  CUTPOINT_TRY(auto in_memory, make_shard(seal_, unnamed, std::move(entries)));
  shards_.push_back(std::move(in_memory));
  return true;
}

bool shard_index::follows_last(record_kind kind, const digest& content, std::uint64_t hint) {
  if (!last_ || last_->ordinal + 1 >= last_table_->records.size()) return false;
  if (hint != 0 && hint != hint_of(last_table_->salt)) return false;
  const placed_record& next = last_table_->records[last_->ordinal + 1];
  if (!is_wanted(next, kind, content)) return false;
  ++last_->ordinal;
  last_->place = next;
  ++sequential_hits_;
  return true;
}

/// Fills `candidates_`, those of the hint's container first. The filters were asked for the digest as number `asked`.
status shard_index::find_candidates(const digest& content, std::uint64_t hint, std::size_t asked) {
  candidates_.clear();
  for (std::size_t s = 0; s < shards_.size(); ++s) {
    if (possible_[asked * shards_.size() + s] == 0) continue;
    entries_.clear();
    CUTPOINT_RETURN_IF_FAILED(shards_[s].find(prefix_of(content), blocks_, entries_));
    for (const shard_entry& each : entries_) {
      candidates_.push_back({shards_[s].container_at(each.container), each.ordinal});
    }
  }
  if (hint == 0 || candidates_.size() < 2) return {};
  std::stable_partition(candidates_.begin(), candidates_.end(),
                        [&](const candidate& each) { return each.container.hint == hint; });
  return {};
}

/// Returns the table of the candidate's container if it has the record there, else null.
result<std::shared_ptr<const container_table>> shard_index::confirm(const candidate& possible, record_kind kind,
                                                                    const digest& content) {
  CUTPOINT_TRY(auto table, tables_->find(possible.container.name));
  const bool is_there = table != nullptr && possible.ordinal < table->records.size() &&
                        is_wanted(table->records[possible.ordinal], kind, content);
  return is_there ? std::move(table) : nullptr;
}

/// Fills `possible_`: for each digest, a byte for each shard, not 0 if the shard may have it. The loads of all filters
/// are begun before the first is waited for.
void shard_index::ask_filters(std::span<const digest> digests) {
  possible_.clear();
  for (const digest& each : digests) {
    for (const shard& asked : shards_) asked.prefetch_filter(prefix_of(each));
  }
  for (const digest& each : digests) {
    for (const shard& asked : shards_) {
      possible_.push_back(asked.may_contain(prefix_of(each)));
    }
  }
}

status shard_index::locate(record_kind kind, std::span<const digest> digests,
                           std::span<std::optional<found_record>> records, std::span<const std::uint64_t> hints) {
  std::size_t asked_begin = 0;  // the filters were asked for [asked_begin, asked_end)
  std::size_t asked_end = 0;
  for (std::size_t i = 0; i < digests.size(); ++i) {
    const std::uint64_t hint = hints.empty() ? 0 : hints[i];
    if (follows_last(kind, digests[i], hint)) {
      records[i] = last_;
      continue;
    }
    if (i >= asked_end) {
      asked_begin = i;
      asked_end = std::min(i + lookups_at_once, digests.size());
      ask_filters(digests.subspan(asked_begin, asked_end - asked_begin));
    }
    records[i].reset();
    const status searched = find_candidates(digests[i], hint, i - asked_begin);
    if (is_absence(searched)) {
      CUTPOINT_RETURN_IF_FAILED(open_again());
      asked_end = i--;
      continue;
    }
    if (!searched.ok()) return searched;
    for (std::size_t c = 0; c < candidates_.size() && !records[i]; ++c) {
      CUTPOINT_TRY(auto table, confirm(candidates_[c], kind, digests[i]));
      if (table == nullptr) continue;
      last_table_ = std::move(table);
      last_ = record_in(*last_table_, candidates_[c].ordinal);
      records[i] = last_;
    }
  }
  return {};
}

status shard_index::locate_all(record_kind kind, const digest& content, std::vector<found_record>& records) {
  for (;;) {
    ask_filters({&content, 1});
    const status searched = find_candidates(content, 0, 0);
    if (searched.ok()) break;
    if (!is_absence(searched)) return searched;
    CUTPOINT_RETURN_IF_FAILED(open_again());
  }
  const std::size_t begin = records.size();
  for (const candidate& each : candidates_) {
    CUTPOINT_TRY(const auto table, confirm(each, kind, content));
    if (table == nullptr) continue;
    // Two shards may name one container while they are merged.
    const bool is_known = std::ranges::any_of(
        std::span(records).subspan(begin), [&](const found_record& other) { return other.container->id == table->id; });
    if (!is_known) records.push_back(record_in(*table, each.ordinal));
  }
  return {};
}

result<bool> shard_index::is_named_in(const std::set<container_name>& containers, const digest& content) {
  ask_filters({&content, 1});
  CUTPOINT_RETURN_IF_FAILED(find_candidates(content, 0, 0));
  return std::ranges::any_of(candidates_,
                             [&](const candidate& each) { return containers.contains(each.container.name); });
}

result<bool> shard_index::merge() {
  if (!objects_->may_remove(object_kind::shard)) return false;
  std::vector<std::uint64_t> entry_counts;
  std::erase_if(shards_, [](const shard& each) { return each.id().empty(); });  // those in memory alone
  for (const shard& each : shards_) entry_counts.push_back(each.entry_count());
  const std::vector<std::size_t> chosen = shards_to_merge(entry_counts);
  if (chosen.empty()) return false;
  std::vector<shard> inputs;
  for (const std::size_t each : chosen) inputs.push_back(shards_[each]);
  bool are_intact = true;
  for (const shard& each : inputs) {
    CUTPOINT_TRY(const auto is_intact, each.is_intact());
    are_intact = are_intact && is_intact;
  }
  const status replaced = are_intact ? replace(inputs, [](const container_name&) { return true; }) : rebuild_damaged();
  // Who has lost the right to remove shards meanwhile leaves some that others have the entries of, too.
  return replaced.ok() || !objects_->may_remove(object_kind::shard) ? result<bool>(replaced.ok()) : replaced;
}

status shard_index::rebuild_damaged() {
  std::vector<std::string> damaged;
  std::vector<std::string> containers;
  for (const shard& each : shards_) {
    CUTPOINT_TRY(const auto is_intact, each.is_intact());
    if (is_intact) continue;
    damaged.push_back(each.id());
    for (std::uint32_t i = 0; i < each.container_count(); ++i) containers.push_back(id_of(each.container_at(i).name));
  }
  if (damaged.empty()) return {};
  CUTPOINT_RETURN_IF_FAILED(check_removal(*objects_, object_kind::shard));
  CUTPOINT_RETURN_IF_FAILED(put_shards_of(*objects_, tables_->key(), containers));
  CUTPOINT_RETURN_IF_FAILED(objects_->sync());
  for (const std::string& each : damaged) {
    CUTPOINT_RETURN_IF_FAILED(remove_object(*objects_, {object_kind::shard, each}));
  }
  auto index = open(*objects_, seal_, *tables_, shared_);
  if (index) *this = std::move(*index);
  return index ? status() : index.error();
}

status shard_index::drop_containers(const std::function<bool(const container_name&)>& keeps) {
  std::vector<std::vector<shard>> groups;
  std::uint64_t entries = 0;  // of the last group
  for (const shard& each : shards_) {
    if (each.id().empty()) continue;  // it is in memory alone
    bool keeps_all = true;
    for (std::uint32_t i = 0; i < each.container_count() && keeps_all; ++i)
      keeps_all = keeps(each.container_at(i).name);
    if (keeps_all) continue;
    if (groups.empty() || entries + each.entry_count() > most_merged_entries) {
      groups.emplace_back();
      entries = 0;
    }
    groups.back().push_back(each);
    entries += each.entry_count();
  }
  for (const std::vector<shard>& each : groups) CUTPOINT_RETURN_IF_FAILED(replace(each, keeps));
  return {};
}

/// Puts one shard for several, syncs, and removes them.
status shard_index::replace(const std::vector<shard>& inputs, const std::function<bool(const container_name&)>& keeps) {
  CUTPOINT_RETURN_IF_FAILED(check_removal(*objects_, object_kind::shard));
  std::vector<const shard*> sources;
  for (const shard& each : inputs) sources.push_back(&each);
  CUTPOINT_TRY(const auto merged, merge_shards(*objects_, seal_, sources, keeps));
  CUTPOINT_RETURN_IF_FAILED(objects_->sync());  // durable before the inputs are removed
  const auto is_input = [&](const shard& each) { return std::ranges::count(inputs, each.id(), &shard::id) != 0; };
  std::erase_if(shards_, is_input);
  CUTPOINT_RETURN_IF_FAILED(add(merged));
  for (const shard& each : inputs) CUTPOINT_RETURN_IF_FAILED(remove_object(*objects_, {object_kind::shard, each.id()}));
  return {};
}

std::vector<shard_container> shard_index::containers() const {
  std::vector<shard_container> all;
  for (const shard& each : shards_) {
    for (std::uint32_t i = 0; i < each.container_count(); ++i) all.push_back(each.container_at(i));
  }
  std::ranges::sort(all);
  const auto have_same_name = [](const shard_container& a, const shard_container& b) { return a.name == b.name; };
  all.erase(std::unique(all.begin(), all.end(), have_same_name), all.end());
  return all;
}

std::uint64_t shard_index::memory_bytes() const {
  std::uint64_t bytes = blocks_.memory_bytes();
  for (const shard& each : shards_) bytes += each.memory_bytes();
  return bytes;
}

std::uint64_t shard_index::entry_count() const noexcept {
  std::uint64_t count = 0;
  for (const shard& each : shards_) count += each.entry_count();
  return count;
}

result<std::optional<found_record>> index_of_caller::read_place(const store_chunk_place& place, const digest& chunk) {
  CUTPOINT_TRY(const auto table, shards_.tables().find(place.container));
  if (table == nullptr || place.record >= table->records.size()) return std::optional<found_record>();
  const record_description& record = table->records[place.record].description;
  if (record.kind != record_kind::chunk || record.content != chunk) return std::optional<found_record>();
  return std::optional(record_in(*table, place.record));
}

status index_of_caller::locate(std::span<const digest> chunks, std::span<std::optional<found_record>> records) {
  places_.assign(chunks.size(), std::nullopt);
  CUTPOINT_RETURN_IF_FAILED(index_->look_up(chunks, places_));
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    if (!places_[i]) continue;
    CUTPOINT_TRY(records[i], read_place(*places_[i], chunks[i]));
    if (records[i]) continue;
    CUTPOINT_RETURN_IF_FAILED(shards_.locate(record_kind::chunk, chunks.subspan(i, 1), records.subspan(i, 1)));
    if (!records[i]) continue;
    const store_chunk_place right = {*container_name_of(records[i]->container->id), records[i]->ordinal};
    CUTPOINT_RETURN_IF_FAILED(index_->add(chunks.subspan(i, 1), {&right, 1}));
  }
  return {};
}

status index_of_caller::add(const container_name& container) {
  CUTPOINT_TRY(const auto table, shards_.tables().find(container));
  if (table == nullptr) return {};
  std::vector<digest> chunks;
  std::vector<store_chunk_place> places;
  for (std::uint32_t i = 0; i < table->records.size(); ++i) {
    const record_description& record = table->records[i].description;
    if (record.kind != record_kind::chunk) continue;
    chunks.push_back(record.content);
    places.push_back({container, i});
  }
  return chunks.empty() ? status() : index_->add(chunks, places);
}

}  // namespace cutpoint::store
