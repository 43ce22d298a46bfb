#include "store/upkeep/live_records.h"

#include <algorithm>
#include <atomic>

#include "host/core/parallel.h"
#include "store/format/failure.h"

namespace cutpoint::store {

namespace {

constexpr std::uint32_t unusable_container = ~std::uint32_t{0};
/// References whose filters are asked together.
constexpr std::size_t looked_up_at_once = 32;
/// How far behind the last record the next one is looked for. Nodes lie between chunks.
constexpr std::uint32_t most_records_ahead = 3;

/// Sets a bit that several threads may set. Returns whether it was not set before.
bool set_bit(std::vector<std::uint64_t>& bits, std::uint64_t index) noexcept {
  const std::atomic_ref word(bits[index / 64]);
  const std::uint64_t bit = std::uint64_t{1} << index % 64;
  if ((word.load(std::memory_order_relaxed) & bit) != 0) return false;
  return (word.fetch_or(bit, std::memory_order_relaxed) & bit) == 0;
}

bool test_bit(const std::vector<std::uint64_t>& bits, std::uint64_t index) noexcept {
  const std::atomic_ref word(const_cast<std::uint64_t&>(bits[index / 64]));
  return (word.load(std::memory_order_relaxed) >> index % 64 & 1) != 0;
}

}  // namespace

/// What one thread works with.
struct live_records::worker {
  worker(const store_reading& store, record_fingerprinter check)
      : shards(store.shards.shards()), index(store.shards), nodes(store.objects, store.key, index, std::move(check)) {}

  /// Those whose containers are known. The index below maps more when a node has been moved meanwhile.
  std::span<const shard> shards;
  shard_index index;  ///< a copy, because an index is used by one thread
  record_reader nodes;
  shard_blocks blocks;
  std::vector<shard_entry> entries;
  std::vector<place> places;
  std::vector<record_reference> chunks;
  std::vector<record_reference> below;  ///< nodes
  std::vector<record_reference> next;   ///< nodes that were not visited before
  std::vector<record_reference> unfollowed;
  place looked_up = {unusable_container, 0};     ///< the last place that shards were asked for
  place followed = {unusable_container, 0};      ///< the last place in the container that is followed
  std::shared_ptr<const container_table> table;  ///< of that container, or null
  std::uint64_t references = 0;
};

result<live_records> live_records::mark(const store_reading& store, const std::vector<record_reference>& roots,
                                        const marking_options& options) {
  live_records records;
  CUTPOINT_RETURN_IF_FAILED(records.count_records(store.shards.shards(), options));
  CUTPOINT_RETURN_IF_FAILED(records.mark_from(store, roots, options));
  return records;
}

status live_records::count_records(std::span<const shard> shards, const marking_options& options) {
  for (const shard& each : shards) {
    for (std::uint32_t i = 0; i < each.container_count(); ++i) {
      const shard_container container = each.container_at(i);
      if (options.lost.contains(container.name)) continue;
      containers_.push_back({container.name, container.hint, container.bytes});
    }
  }
  std::ranges::sort(containers_, {}, &known_container::name);
  const auto is_same = [](const known_container& a, const known_container& b) { return a.name == b.name; };
  containers_.erase(std::unique(containers_.begin(), containers_.end(), is_same), containers_.end());
  for (known_container& each : containers_) each.is_avoided = options.avoided.contains(each.name);

  std::vector<shard_entry> entries;
  for (const shard& each : shards) {
    std::vector<std::uint32_t>& indices = in_shards_.emplace_back(each.container_count(), unusable_container);
    for (std::uint32_t i = 0; i < each.container_count(); ++i) {
      if (const auto index = find(each.container_at(i).name)) indices[i] = static_cast<std::uint32_t>(*index);
    }
    for (std::size_t partition = 0; partition < each.partition_count(); ++partition) {
      entries.clear();
      CUTPOINT_RETURN_IF_FAILED(each.read_partition(partition, entries));
      for (const shard_entry& entry : entries) {
        const std::uint32_t index = indices[entry.container];
        if (index == unusable_container || entry.ordinal >= most_records) continue;
        std::uint64_t& records = containers_[index].records;
        records = std::max<std::uint64_t>(records, entry.ordinal + 1);
      }
    }
  }
  std::uint64_t bits = 0;
  for (known_container& each : containers_) {
    each.first_bit = bits;
    bits += each.records;
  }
  live_.assign(bits / 64 + 1, 0);
  visited_.assign(bits / 64 + 1, 0);
  return {};
}

status live_records::mark_from(const store_reading& store, const std::vector<record_reference>& roots,
                               const marking_options& options) {
  std::vector<std::unique_ptr<worker>> workers;
  const std::size_t count = std::max(thread_count(options.threads), store.objects.parallel_requests());
  for (std::size_t i = 0; i < count; ++i) {
    CUTPOINT_TRY(auto check, store.make_fingerprinter());
    workers.push_back(std::make_unique<worker>(store, std::move(check)));
  }
  CUTPOINT_RETURN_IF_FAILED(mark_all(*workers.front(), record_kind::node, roots));
  std::vector<record_reference> waiting = std::exchange(workers.front()->next, {});
  std::mutex mutex;
  status failure;
  std::atomic<bool> has_failed = false;
  if (options.meter != nullptr) options.meter->begin("reading nodes of snapshots");
  while (!waiting.empty() && !has_failed) {
    run_parallel(workers.size(), waiting.size(), [&](std::size_t index, std::size_t item) {
      if (has_failed) return;
      const bool is_cancelled = options.cancel != nullptr && options.cancel->is_requested();
      const status visited = is_cancelled ? stopped_as_asked() : visit(*workers[index], waiting[item]);
      if (options.meter != nullptr) options.meter->add(1, 0);
      if (visited.ok()) return;
      const std::lock_guard lock(mutex);
      if (!has_failed.exchange(true)) failure = visited;
    });
    waiting.clear();
    for (const auto& each : workers) {
      waiting.insert(waiting.end(), each->next.begin(), each->next.end());
      each->next.clear();
    }
  }
  for (const auto& each : workers) reference_count_ += each->references;
  return failure;
}

/// Marks everything that a node refers to, and adds nodes that were not visited to those that wait.
status live_records::visit(worker& own, const record_reference& node) {
  CUTPOINT_TRY(const auto bytes, own.nodes.read_node(node));
  CUTPOINT_TRY(const auto decoded, decode_node(bytes, node.content));
  own.chunks.clear();
  own.below.clear();
  const auto add = [&](const stored_extent& extent) {
    if (extent.kind != extent_kind::hole) own.chunks.push_back(extent.record);
  };
  for (const child_node& each : decoded.children) own.below.push_back(each.node);
  for (const stored_extent& each : decoded.extents) add(each);
  for (const folder_entry& each : decoded.entries) {
    if (each.node) own.below.push_back(*each.node);
    for (const stored_extent& extent : each.extents) add(extent);
  }
  CUTPOINT_RETURN_IF_FAILED(mark_all(own, record_kind::chunk, own.chunks));
  return mark_all(own, record_kind::node, own.below);
}

status live_records::mark_all(worker& own, record_kind kind, std::span<const record_reference> references) {
  const std::span<const shard> shards = own.shards;
  own.references += references.size();
  const auto mark = [&](const record_reference& reference, const place& position) {
    set_bit(live_, bit_of(position));
    if (kind == record_kind::node && set_bit(visited_, bit_of(position))) own.next.push_back(reference);
  };
  for (std::size_t begin = 0; begin < references.size();) {
    own.unfollowed.clear();
    for (; begin < references.size() && own.unfollowed.size() < looked_up_at_once; ++begin) {
      const auto followed = follow(own, kind, references[begin]);
      if (followed) {
        mark(references[begin], *followed);
      } else {
        own.unfollowed.push_back(references[begin]);
      }
    }
    for (const record_reference& each : own.unfollowed) {
      const std::uint64_t prefix = prefix_of(each.content);
      for (const shard& asked : shards) {
        if (shards.size() > 1) asked.prefetch_filter(prefix);
      }
    }
    for (const record_reference& each : own.unfollowed) {
      CUTPOINT_TRY(const auto chosen, choose(own, kind, each));
      mark(each, chosen);
      CUTPOINT_RETURN_IF_FAILED(follow_from(own, each, chosen));
    }
  }
  return {};
}

/// Returns the place of a record that was stored soon after the last one, as most are, without asking the shards. It is the
/// one that `choose` would return.
std::optional<live_records::place> live_records::follow(worker& own, record_kind kind,
                                                        const record_reference& reference) const {
  if (!own.table || containers_[own.followed.container].hint != reference.hint) return std::nullopt;
  const auto& records = own.table->records;
  const std::uint64_t known = std::min<std::uint64_t>(records.size(), containers_[own.followed.container].records);
  const std::uint64_t end = std::min<std::uint64_t>(known, own.followed.ordinal + 1 + most_records_ahead);
  for (std::uint32_t ordinal = own.followed.ordinal + 1; ordinal < end; ++ordinal) {
    const record_description& next = records[ordinal].description;
    if (next.kind != kind || next.content != reference.content) continue;
    own.followed.ordinal = ordinal;
    return own.followed;
  }
  return std::nullopt;
}

/// Notes where a reference led, so that the next may follow. Another container is followed when a second reference goes on
/// in it, because its table would be of no use to records that lie apart.
status live_records::follow_from(worker& own, const record_reference& reference, const place& position) const {
  const place before = std::exchange(own.looked_up, position);
  const known_container& container = containers_[position.container];
  if (own.table && own.followed.container == position.container) {
    own.followed = position;
    return {};
  }
  const bool goes_on =
      before.container == position.container && position.ordinal - before.ordinal - 1 < most_records_ahead;
  if (!goes_on || container.is_avoided || container.hint != reference.hint) return {};
  CUTPOINT_TRY(own.table, own.index.tables().find(container.name));
  own.followed = position;
  return {};
}

/// Fills `own.places` with the places that may have a record.
status live_records::find_places(worker& own, const digest& content) {
  const std::uint64_t prefix = prefix_of(content);
  const std::span<const shard> shards = own.shards;
  own.places.clear();
  for (std::size_t i = 0; i < shards.size(); ++i) {
    if (shards.size() > 1 && !shards[i].may_contain(prefix)) continue;
    own.entries.clear();
    CUTPOINT_RETURN_IF_FAILED(shards[i].find(prefix, own.blocks, own.entries));
    for (const shard_entry& each : own.entries) {
      const place position{in_shards_[i][each.container], each.ordinal};
      if (position.container == unusable_container || position.ordinal >= containers_[position.container].records)
        continue;
      if (std::ranges::find(own.places, position) == own.places.end()) own.places.push_back(position);
    }
  }
  return {};
}

/// Chooses one of the places that have a record. A node is always compared with the table of its container, because
/// another record in its place would hide what the node refers to.
result<live_records::place> live_records::choose(worker& own, record_kind kind, const record_reference& reference) {
  CUTPOINT_RETURN_IF_FAILED(find_places(own, reference.content));
  if (own.places.size() == 1 && kind == record_kind::chunk) return own.places.front();
  std::optional<place> best;
  int best_rank = 0;
  for (const place& each : own.places) {
    const known_container& container = containers_[each.container];
    CUTPOINT_TRY(const auto table, own.index.tables().find(container.name));
    if (table == nullptr || each.ordinal >= table->records.size()) continue;
    const record_description& description = table->records[each.ordinal].description;
    if (description.kind != kind || description.content != reference.content) continue;
    const int rank = 1 + (container.is_avoided ? 0 : 4) + (container.hint == reference.hint ? 2 : 0) +
                     (test_bit(live_, bit_of(each)) ? 1 : 0);
    if (rank > best_rank) best = each;
    best_rank = std::max(rank, best_rank);
  }
  if (best) return *best;
  return damage("the record " + to_hex(reference.content), "a snapshot refers to it, and no container has it");
}

std::optional<std::size_t> live_records::find(const container_name& name) const noexcept {
  const auto position = std::ranges::lower_bound(containers_, name, {}, &known_container::name);
  if (position == containers_.end() || position->name != name) return std::nullopt;
  return static_cast<std::size_t>(position - containers_.begin());
}

std::uint64_t live_records::record_count(std::size_t container) const noexcept {
  return containers_[container].records;
}

std::uint64_t live_records::live_count(std::size_t container) const noexcept {
  std::uint64_t count = 0;
  for (std::uint32_t i = 0; i < containers_[container].records; ++i) count += is_live(container, i) ? 1u : 0u;
  return count;
}

bool live_records::is_live(std::size_t container, std::uint32_t ordinal) const noexcept {
  return ordinal < containers_[container].records && test_bit(live_, containers_[container].first_bit + ordinal);
}

}  // namespace cutpoint::store
