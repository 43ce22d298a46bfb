#include "store/index/shard_writer.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <numeric>
#include <optional>
#include <queue>
#include <utility>

#include <fmt/format.h>

#include "host/core/parallel.h"
#include "store/format/container.h"
#include "store/format/failure.h"
#include "store/format/fields.h"
#include "store/format/object_header.h"
#include "store/index/table_cache.h"

namespace cutpoint::store {

namespace {

constexpr std::uint64_t usual_partition_entries = std::uint64_t{1} << 17;

void append_24_bits(std::uint32_t value, std::vector<std::uint8_t>& bytes) {
  for (int shift = 0; shift < 24; shift += 8) bytes.push_back(static_cast<std::uint8_t>(value >> shift));
}

}  // namespace

shard_writer::shard_writer(object_writer& object, const object_salt& salt, seal_kind seal,
                           std::span<const shard_container> containers, std::uint64_t most_entries)
    : object_(object), checksum_(shard_body_seed), container_count_(static_cast<std::uint32_t>(containers.size())) {
  assert(containers.size() <= most_shard_containers);
  const std::uint64_t partitions = std::max<std::uint64_t>(most_entries / usual_partition_entries, 1);
  partition_bits_ = std::min(static_cast<unsigned>(std::bit_width(partitions - 1)), most_partition_bits);
  write(encode(object_header{object_kind::shard, seal, salt}));
  std::vector<std::uint8_t> bytes;
  for (const shard_container& each : containers) {
    field_writer(bytes).bytes(each.name).number(each.hint).number(each.bytes);
  }
  write(bytes);
}

void shard_writer::write(byte_span bytes) {
  if (outcome_.ok()) outcome_ = object_.append(bytes);
  checksum_.update(bytes);
  position_ += bytes.size();
}

status shard_writer::append(const shard_entry& entry) {
  assert(entry.container < container_count_ && entry.ordinal < most_shard_containers);
  const std::uint64_t partition = entry.prefix >> (prefix_bits - partition_bits_);
  while (directory_.size() / directory_entry_bytes < partition) write_partition();
  assert(partition_.empty() || partition_.back() <= entry);
  partition_.push_back(entry);
  return outcome_;
}

void shard_writer::write_partition() {
  std::vector<std::uint8_t> bytes;
  bytes.reserve(partition_.size() * shard_entry_bytes);
  std::vector<std::uint64_t> prefixes;
  prefixes.reserve(partition_.size());
  for (const shard_entry& each : partition_) {
    for (unsigned shift = prefix_bits; shift != 0;)
      bytes.push_back(static_cast<std::uint8_t>(each.prefix >> (shift -= 8)));
    append_24_bits(each.container, bytes);
    append_24_bits(each.ordinal, bytes);
    if (prefixes.empty() || prefixes.back() != each.prefix) prefixes.push_back(each.prefix);
  }
  fuse_filter_shape shape = prefixes.empty() ? fuse_filter_shape{} : fuse_filter_shape_for(prefixes.size());
  const std::uint64_t begin = position_;
  write(bytes);
  if (!prefixes.empty()) {
    const auto fingerprints = build_fuse_filter(prefixes, shape);
    if (fingerprints) {
      write(*fingerprints);
    } else if (outcome_.ok()) {
      outcome_ = {status_code::backend_failure, "no seed gives a filter for a shard"};
    }
  }
  field_writer(directory_)
      .number(begin)
      .number(static_cast<std::uint32_t>(partition_.size()))
      .number(shape.segment_bits)
      .number(shape.segment_count)
      .zeros(4)
      .number(shape.seed);
  entry_count_ += partition_.size();
  partition_.clear();
}

status shard_writer::finish() {
  while (directory_.size() / directory_entry_bytes < std::size_t{1} << partition_bits_) write_partition();
  std::vector<std::uint8_t> end = std::move(directory_);
  field_writer(end)
      .number(shard_footer_magic)
      .number(std::uint32_t{partition_bits_})
      .number(entry_count_)
      .number(container_count_)
      .zeros(4)
      .number(position_)
      .bytes(checksum_.tag());
  const seal_tag tag = checksum(end, shard_footer_seed);
  end.insert(end.end(), tag.begin(), tag.end());
  write(end);
  return outcome_.ok() ? object_.finish() : outcome_;
}

std::string new_shard_id() {
  digest random;
  random.size = 16;
  fill_random(std::span(random.bytes).first(random.size));
  return to_hex(random);
}

namespace {

/// Writes a shard, and finishes the object.
status write_shard(object_writer& object, seal_kind seal, std::span<const shard_container> containers,
                   std::vector<shard_entry> entries) {
  std::vector<shard_container> sorted(containers.begin(), containers.end());
  std::sort(sorted.begin(), sorted.end());
  for (shard_entry& each : entries) {
    const auto position = std::lower_bound(sorted.begin(), sorted.end(), containers[each.container]);
    each.container = static_cast<std::uint32_t>(position - sorted.begin());
  }
  std::sort(entries.begin(), entries.end());
  object_salt salt;
  fill_random(salt);
  shard_writer writer(object, salt, seal, sorted, entries.size());
  for (const shard_entry& each : entries) CUTPOINT_RETURN_IF_FAILED(writer.append(each));
  return writer.finish();
}

/// An object in memory.
class memory_object final : public object_writer, public object_reader {
 public:
  status append(byte_span bytes) override {
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    return {};
  }
  status finish() override { return {}; }
  std::uint64_t size() const noexcept override { return bytes_.size(); }
  status read(std::uint64_t offset, std::span<std::uint8_t> destination) const override {
    if (offset > bytes_.size() || destination.size() > bytes_.size() - offset) {
      return damage("an object in memory", "it ends too early");
    }
    std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(offset), destination.size(), destination.begin());
    return {};
  }

 private:
  std::vector<std::uint8_t> bytes_;
};

}  // namespace

result<std::string> put_shard(storage& objects, seal_kind seal, std::span<const shard_container> containers,
                              std::vector<shard_entry> entries) {
  std::string id = new_shard_id();
  CUTPOINT_TRY(auto object, objects.create({object_kind::shard, id}));
  const status written = write_shard(*object, seal, containers, std::move(entries));
  return written.ok() ? result<std::string>(std::move(id)) : written;
}

result<shard> make_shard(seal_kind seal, std::span<const shard_container> containers,
                         std::vector<shard_entry> entries) {
  auto object = std::make_shared<memory_object>();
  CUTPOINT_RETURN_IF_FAILED(write_shard(*object, seal, containers, std::move(entries)));
  return shard::open(std::move(object), "");
}

namespace {

constexpr std::uint32_t dropped_container = ~std::uint32_t{0};

/// The entries of one shard, in order, with the containers of the merged shard.
class merge_input {
 public:
  merge_input(const shard& input, std::vector<std::uint32_t> containers)
      : input_(&input), containers_(std::move(containers)) {}

  /// Reads the next entry whose container is kept. Returns false at the end. Errors: those of the shard.
  [[nodiscard]] result<bool> next(shard_entry& entry) {
    for (;;) {
      while (at_ == entries_.size()) {
        if (next_partition_ == input_->partition_count()) return false;
        entries_.clear();
        at_ = 0;
        CUTPOINT_RETURN_IF_FAILED(input_->read_partition(next_partition_++, entries_));
      }
      entry = entries_[at_++];
      entry.container = containers_[entry.container];
      if (entry.container != dropped_container) return true;
    }
  }

 private:
  const shard* input_;
  std::vector<std::uint32_t> containers_;  ///< the index in the merged shard, for each container of the input
  std::vector<shard_entry> entries_;       ///< of one partition
  std::size_t at_ = 0;
  std::size_t next_partition_ = 0;
};

std::vector<shard_container> union_of_containers(std::span<const shard* const> inputs,
                                                 const std::function<bool(const container_name&)>& keeps) {
  std::vector<shard_container> containers;
  for (const shard* each : inputs) {
    for (std::uint32_t i = 0; i < each->container_count(); ++i) containers.push_back(each->container_at(i));
  }
  std::sort(containers.begin(), containers.end());
  containers.erase(std::unique(containers.begin(), containers.end()), containers.end());
  std::erase_if(containers, [&](const shard_container& each) { return !keeps(each.name); });
  return containers;
}

std::vector<std::uint32_t> indices_in(const std::vector<shard_container>& containers, const shard& input) {
  std::vector<std::uint32_t> indices(input.container_count());
  for (std::uint32_t i = 0; i < indices.size(); ++i) {
    const shard_container container = input.container_at(i);
    const auto position = std::lower_bound(containers.begin(), containers.end(), container);
    const bool is_kept = position != containers.end() && *position == container;
    indices[i] = is_kept ? static_cast<std::uint32_t>(position - containers.begin()) : dropped_container;
  }
  return indices;
}

/// The next entry of an input. A damaged input may not be sorted; then an entry may come too late, and is left out.
struct next_entry {
  shard_entry entry;
  std::size_t input;

  bool operator>(const next_entry& other) const { return entry > other.entry; }
};

}  // namespace

result<std::string> merge_shards(storage& objects, seal_kind seal, std::span<const shard* const> inputs,
                                 const std::function<bool(const container_name&)>& keeps) {
  const std::vector<shard_container> containers = union_of_containers(inputs, keeps);
  if (containers.size() > most_shard_containers) {
    return status(status_code::memory_limit, fmt::format("a shard cannot have {} containers", containers.size()));
  }
  std::vector<merge_input> sources;
  std::uint64_t most_entries = 0;
  for (const shard* each : inputs) {
    sources.emplace_back(*each, indices_in(containers, *each));
    most_entries += each->entry_count();
  }
  std::string id = new_shard_id();
  CUTPOINT_TRY(auto object, objects.create({object_kind::shard, id}));
  object_salt salt;
  fill_random(salt);
  shard_writer writer(*object, salt, seal, containers, most_entries);

  std::priority_queue<next_entry, std::vector<next_entry>, std::greater<>> queue;
  const auto advance = [&](std::size_t input) -> status {
    next_entry next{{}, input};
    CUTPOINT_TRY(const auto has_next, sources[input].next(next.entry));
    if (has_next) queue.push(next);
    return {};
  };
  for (std::size_t i = 0; i < sources.size(); ++i) CUTPOINT_RETURN_IF_FAILED(advance(i));
  std::optional<shard_entry> last;
  while (!queue.empty()) {
    const next_entry next = queue.top();
    queue.pop();
    CUTPOINT_RETURN_IF_FAILED(advance(next.input));
    if (last && next.entry <= *last) continue;
    CUTPOINT_RETURN_IF_FAILED(writer.append(next.entry));
    last = next.entry;
  }
  CUTPOINT_RETURN_IF_FAILED(writer.finish());
  return id;
}

std::vector<std::size_t> shards_to_merge(std::span<const std::uint64_t> entry_counts) {
  std::vector<std::size_t> order(entry_counts.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return entry_counts[a] < entry_counts[b]; });
  std::uint64_t smaller = 0;
  std::size_t merged = 0;  // the smallest shards, up to the last one that the smaller ones outweigh
  for (std::size_t i = 0; i < order.size() && entry_counts[order[i]] <= most_merged_entries - smaller; ++i) {
    if (i > 0 && entry_counts[order[i]] < smaller) merged = i + 1;
    smaller += entry_counts[order[i]];
  }
  order.resize(merged);
  return order;
}

/// Entries of 16 bytes that become one shard.
constexpr std::size_t most_shard_entries = std::size_t{1} << 22;

status put_shards_of(storage& objects, const seal_key& key, std::span<const std::string> containers) {
  std::vector<shard_container> read;
  std::vector<shard_entry> entries;
  const auto put = [&]() -> status {
    if (entries.empty()) return {};
    const auto id = put_shard(objects, key.kind(), read, std::exchange(entries, {}));
    read.clear();
    return id ? status() : id.error();
  };
  const std::size_t at_once = objects.parallel_requests();
  for (std::size_t begin = 0; begin < containers.size(); begin += at_once) {
    const auto ids = containers.subspan(begin, std::min(at_once, containers.size() - begin));
    std::vector<std::optional<container_table>> tables(ids.size());
    CUTPOINT_RETURN_IF_FAILED(try_parallel(at_once, ids.size(), [&](std::size_t, std::size_t i) -> status {
      auto table = read_container_table(objects, ids[i], key);
      if (!table && !is_damage(table.error()) && !is_absence(table.error())) return table.error();
      if (table) tables[i] = *std::move(table);
      return {};
    }));
    for (std::size_t i = 0; i < ids.size(); ++i) {
      const auto name = container_name_of(ids[i]);
      if (!name || !tables[i]) continue;
      const auto container = static_cast<std::uint32_t>(read.size());
      read.push_back({*name, hint_of(tables[i]->salt), tables[i]->container_bytes});
      append_entries(tables[i]->records, container, entries);
      if (entries.size() >= most_shard_entries) CUTPOINT_RETURN_IF_FAILED(put());
    }
  }
  return put();
}

}  // namespace cutpoint::store
