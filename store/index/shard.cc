#include "store/index/shard.h"

#include <algorithm>

#include "store/crypto/checksum_sealer.h"
#include "store/format/failure.h"
#include "store/format/fields.h"
#include "store/format/object_header.h"

namespace cutpoint::store {

namespace {

std::uint64_t prefix_at(const std::uint8_t* entry) noexcept {
  std::uint64_t prefix = 0;
  for (std::size_t i = 0; i < prefix_bits / 8; ++i) prefix = prefix << 8 | entry[i];
  return prefix;
}

std::uint32_t load_24_bits(const std::uint8_t* bytes) noexcept {
  return std::uint32_t{bytes[0]} | std::uint32_t{bytes[1]} << 8 | std::uint32_t{bytes[2]} << 16;
}

shard_entry entry_at(const std::uint8_t* entry) noexcept {
  return {prefix_at(entry), load_24_bits(entry + 6), load_24_bits(entry + 9)};
}

/// Returns how many entries of a partition lie on average in a difference of prefixes.
std::int64_t expected_entries(std::int64_t difference, std::size_t count, unsigned partition_bits) {
  __extension__ using wide = __int128;
  return static_cast<std::int64_t>((wide{difference} * static_cast<std::int64_t>(count)) >>
                                   (prefix_bits - partition_bits));
}

std::size_t clamped_index(std::int64_t index, std::size_t count) {
  return static_cast<std::size_t>(std::clamp<std::int64_t>(index, 0, static_cast<std::int64_t>(count) - 1));
}

/// Returns the index that an entry has on average in a partition, by its prefix. Prefixes of digests are uniform.
std::size_t expected_index(std::uint64_t prefix, std::size_t count, unsigned partition_bits) {
  const std::uint64_t rest = prefix & ((std::uint64_t{1} << (prefix_bits - partition_bits)) - 1);
  return clamped_index(expected_entries(static_cast<std::int64_t>(rest), count, partition_bits), count);
}

std::uint64_t prefix_in(const std::uint8_t* entries, std::size_t index) noexcept {
  return prefix_at(entries + index * shard_entry_bytes);
}

/// Returns a better guess, by the prefix at the first one.
std::size_t better_index(const std::uint8_t* entries, std::size_t guess, std::size_t count, std::uint64_t prefix,
                         unsigned partition_bits) {
  const auto distance = static_cast<std::int64_t>(prefix) - static_cast<std::int64_t>(prefix_in(entries, guess));
  return clamped_index(static_cast<std::int64_t>(guess) + expected_entries(distance, count, partition_bits), count);
}

/// Returns the index of the first entry whose prefix is not below `prefix`. The first guess is within about the root of
/// the number of entries, and the second within a few entries. For prefixes that are not uniform the search takes longer.
std::size_t lower_bound(const std::uint8_t* entries, std::size_t count, std::uint64_t prefix, unsigned partition_bits) {
  const auto value_at = [&](std::size_t index) { return prefix_in(entries, index); };
  const std::size_t guess =
      better_index(entries, expected_index(prefix, count, partition_bits), count, prefix, partition_bits);

  // Entries before `low` are below the prefix; the entry at `high`, if there is one, is not.
  std::size_t low = 0;
  std::size_t high = count;
  if (value_at(guess) < prefix) {
    low = guess + 1;
    for (std::size_t step = 4; low + step < count; step *= 2) {
      if (value_at(low + step) >= prefix) {
        high = low + step;
        break;
      }
      low += step + 1;
    }
  } else {
    high = guess;
    for (std::size_t step = 4; step < high; step *= 2) {
      if (value_at(high - step) < prefix) {
        low = high - step + 1;
        break;
      }
      high -= step;
    }
  }
  while (low < high) {
    const std::size_t middle = low + (high - low) / 2;
    if (value_at(middle) < prefix) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

}  // namespace

result<shard> shard::open(mapped_object object, std::string id) {
  const std::string path = path_of({object_kind::shard, id});
  const byte_span bytes = object.bytes;
  if (const auto header = decode_header(bytes, object_kind::shard, path); !header) return header.error();
  const auto broken = [&] { return damage(path, "its directory is wrong"); };
  if (bytes.size() < object_header_bytes + shard_footer_bytes) return broken();
  const byte_span footer = bytes.last(shard_footer_bytes);
  field_reader fields(footer);
  const auto magic = fields.number<std::uint32_t>();
  const auto partition_bits = fields.number<std::uint32_t>();
  shard opened_shard;
  opened_shard.entry_count_ = fields.number<std::uint64_t>();
  opened_shard.container_count_ = fields.number<std::uint32_t>();
  static_cast<void>(fields.number<std::uint32_t>());
  const auto directory_position = fields.number<std::uint64_t>();
  static_cast<void>(fields.take(tag_bytes));
  const auto footer_tag = fields.bytes<tag_bytes>();
  if (magic != shard_footer_magic || partition_bits > most_partition_bits ||
      opened_shard.container_count_ > most_shard_containers) {
    return broken();
  }
  const std::uint64_t directory_end = bytes.size() - shard_footer_bytes;
  const std::uint64_t directory_bytes = std::uint64_t{directory_entry_bytes} << partition_bits;
  const std::uint64_t body_begin =
      object_header_bytes + std::uint64_t{opened_shard.container_count_} * shard_container_bytes;
  if (directory_position < body_begin || directory_position > directory_end ||
      directory_end - directory_position != directory_bytes ||
      checksum(bytes.subspan(directory_position, directory_bytes + shard_footer_bytes - tag_bytes),
               shard_footer_seed) != footer_tag) {
    return broken();
  }
  opened_shard.partitions_.reserve(std::size_t{1} << partition_bits);
  field_reader directory(bytes.subspan(directory_position, directory_bytes));
  std::uint64_t counted = 0;
  std::uint64_t previous_end = body_begin;  // partitions that overlap would have more entries than the shard has bytes
  for (std::size_t i = 0; i < std::size_t{1} << partition_bits; ++i) {
    const auto position = directory.number<std::uint64_t>();
    const auto count = directory.number<std::uint32_t>();
    fuse_filter_shape shape;
    shape.segment_bits = directory.number<std::uint32_t>();
    shape.segment_count = directory.number<std::uint32_t>();
    static_cast<void>(directory.number<std::uint32_t>());
    shape.seed = directory.number<std::uint64_t>();
    if (shape.segment_bits > fuse_filter_shape::most_segment_bits || shape.segment_count == 0 ||
        position < previous_end || position > directory_position) {
      return broken();
    }
    const std::uint64_t entries_bytes = std::uint64_t{count} * shard_entry_bytes;
    const std::uint64_t filter_bytes = count == 0 ? 0 : shape.fingerprint_count();
    if (entries_bytes + filter_bytes > directory_position - position) return broken();
    const std::uint8_t* entries = bytes.data() + position;
    opened_shard.partitions_.push_back({entries, count, fuse_filter(shape, entries + entries_bytes)});
    counted += count;
    previous_end = position + entries_bytes + filter_bytes;
  }
  if (counted != opened_shard.entry_count_) return broken();
  opened_shard.partition_bits_ = partition_bits;
  opened_shard.object_ = std::move(object);
  opened_shard.id_ = std::move(id);
  return opened_shard;
}

shard_container shard::container_at(std::uint32_t container) const noexcept {
  field_reader fields(object_.bytes.subspan(object_header_bytes + std::size_t{container} * shard_container_bytes,
                                            shard_container_bytes));
  shard_container container_facts;
  container_facts.name = fields.bytes<container_name_bytes>();
  container_facts.hint = fields.number<std::uint64_t>();
  return container_facts;
}

bool shard::may_contain(std::uint64_t prefix) const noexcept {
  const partition& entries_of_prefix = partition_of(prefix);
  return entries_of_prefix.count != 0 && entries_of_prefix.filter.may_contain(prefix);
}

void shard::prefetch_filter(std::uint64_t prefix) const noexcept {
  const partition& entries_of_prefix = partition_of(prefix);
  if (entries_of_prefix.count != 0) entries_of_prefix.filter.prefetch(prefix);
}

void shard::prefetch_entry(std::uint64_t prefix) const noexcept {
  const partition& entries_of_prefix = partition_of(prefix);
  if (entries_of_prefix.count == 0) return;
  const std::size_t guess = expected_index(prefix, entries_of_prefix.count, partition_bits_);
  __builtin_prefetch(entries_of_prefix.entries + guess * shard_entry_bytes);
}

void shard::prefetch_next(std::uint64_t prefix) const noexcept {
  const partition& entries_of_prefix = partition_of(prefix);
  if (entries_of_prefix.count == 0) return;
  const std::size_t first = expected_index(prefix, entries_of_prefix.count, partition_bits_);
  const std::uint8_t* const next =
      entries_of_prefix.entries +
      better_index(entries_of_prefix.entries, first, entries_of_prefix.count, prefix, partition_bits_) *
          shard_entry_bytes;
  __builtin_prefetch(next - shard_entry_bytes * 4);  // the search goes either way
  __builtin_prefetch(next + shard_entry_bytes * 4);
}

void shard::find(std::uint64_t prefix, std::vector<shard_entry>& entries) const {
  const partition& entries_of_prefix = partition_of(prefix);
  if (entries_of_prefix.count == 0) return;
  for (std::size_t i = lower_bound(entries_of_prefix.entries, entries_of_prefix.count, prefix, partition_bits_);
       i < entries_of_prefix.count; ++i) {
    const shard_entry entry = entry_at(entries_of_prefix.entries + i * shard_entry_bytes);
    if (entry.prefix != prefix) return;
    if (entry.container < container_count_) entries.push_back(entry);
  }
}

void shard::read_partition(std::size_t partition_index, std::vector<shard_entry>& entries) const {
  const partition& entries_of_prefix = partitions_[partition_index];
  for (std::size_t i = 0; i < entries_of_prefix.count; ++i) {
    const shard_entry entry = entry_at(entries_of_prefix.entries + i * shard_entry_bytes);
    if (entry.container < container_count_) entries.push_back(entry);
  }
}

bool shard::is_intact() const {
  const std::size_t directory_bytes = partitions_.size() * directory_entry_bytes;
  const byte_span body = object_.bytes.first(object_.bytes.size() - shard_footer_bytes - directory_bytes);
  const byte_span tag = object_.bytes.last(2 * tag_bytes).first(tag_bytes);
  return std::ranges::equal(checksum(body, shard_body_seed), tag);
}

}  // namespace cutpoint::store
