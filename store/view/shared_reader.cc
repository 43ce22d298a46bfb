#include "store/view/shared_reader.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "store/format/failure.h"

namespace cutpoint::store {

namespace {

/// A read finds the index changed at most so often, before it gives up.
constexpr int most_tries = 8;

std::size_t memory_of(const std::vector<stored_extent>& extents) { return extents.capacity() * sizeof(stored_extent); }

std::size_t memory_of(const folder_entry& entry) {
  std::size_t bytes = entry.name.capacity() + entry.target.capacity() + memory_of(entry.extents);
  for (const extended_attribute& each : entry.attributes) {
    bytes += sizeof each + each.name.capacity() + each.value.capacity();
  }
  return bytes;
}

std::size_t memory_of(const decoded_node& node) {
  std::size_t bytes = sizeof node + memory_of(node.extents) + node.entries.capacity() * sizeof(folder_entry) +
                      node.children.capacity() * sizeof(child_node);
  for (const folder_entry& each : node.entries) bytes += memory_of(each);
  for (const child_node& each : node.children) bytes += each.last_name.capacity();
  return bytes;
}

}  // namespace

shared_reader::shared_reader(storage& objects, const seal_key& key,
                             std::function<result<record_fingerprinter>()> make_fingerprinter,
                             std::uint64_t memory_bytes)
    : objects_(objects),
      key_(key),
      make_fingerprinter_(std::move(make_fingerprinter)),
      table_bytes_(memory_bytes / 4),
      nodes_(memory_bytes / 4),
      chunks_(memory_bytes / 2) {}

template <class Content>
result<Content> shared_reader::read(const record_reference& record,
                                    const std::function<result<Content>(single_reader&)>& read_once) {
  auto index = newer_index(nullptr, mapping::once);
  for (int tries = 1;; ++tries) {
    if (!index) return index.error();
    auto reader = take(**index);
    if (!reader) return reader.error();
    auto content = read_once(**reader);
    {
      const std::lock_guard lock((*index)->mutex);
      (*index)->idle.push_back(std::move(*reader));
    }
    if (content || (!is_absence(content.error()) && !is_damage(content.error()))) return content;
    const mapping when = is_absence(content.error()) ? mapping::anew : mapping::if_shards_changed;
    auto newer = tries < most_tries ? newer_index(*index, when) : index;
    if (newer && *newer == *index) {
      return is_damage(content.error()) ? content.error()
                                        : damage("the record " + to_hex(record.content), "its container is gone");
    }
    index = std::move(newer);
  }
}

result<std::vector<std::uint8_t>> shared_reader::read_node(const record_reference& node) {
  return read<std::vector<std::uint8_t>>(node, [&](single_reader& reader) { return reader.records.read_node(node); });
}

result<std::shared_ptr<const decoded_node>> shared_reader::decode(const record_reference& node) {
  if (auto kept = nodes_.find(node.content)) return kept;
  auto decoded = node_source::decode(node);
  if (decoded) nodes_.insert(node.content, *decoded, memory_of(**decoded));
  return decoded;
}

result<std::shared_ptr<const std::vector<std::uint8_t>>> shared_reader::share_chunk(const record_reference& chunk) {
  if (auto kept = chunks_.find(chunk.content); kept && kept->size() == chunk.raw_bytes) return kept;
  auto content =
      read<std::vector<std::uint8_t>>(chunk, [&](single_reader& reader) { return reader.records.read_chunk(chunk); });
  if (!content) return content.error();
  auto shared = std::make_shared<const std::vector<std::uint8_t>>(std::move(*content));
  chunks_.insert(chunk.content, shared, shared->capacity());
  return shared;
}

result<stored_chunk> shared_reader::read_stored_chunk(const record_reference& chunk) {
  return read<stored_chunk>(chunk, [&](single_reader& reader) { return read_stored(reader, chunk); });
}

result<stored_chunk> shared_reader::read_stored(single_reader& reader, const record_reference& chunk) {
  const auto damaged = [&](std::string_view what) { return damage("the record " + to_hex(chunk.content), what); };
  std::optional<found_record> found;
  if (status located = reader.shards.locate(record_kind::chunk, {&chunk.content, 1}, {&found, 1}, {&chunk.hint, 1});
      !located.ok()) {
    return located;
  }
  if (!found) return damaged("no container has it");
  const placed_record& place = found->place();
  auto payload = read_payload(objects_, *found->container, place, key_);
  if (!payload) return payload.error();
  stored_chunk stored{place.description.codec, {}, {}};
  if (stored.codec == record_codec::none) {
    stored.content = std::move(*payload);
  } else {
    stored.frame = std::move(*payload);
    stored.content.resize(place.description.raw_bytes);
    if (!decompress(stored.frame, stored.content)) return damaged("it cannot be decompressed");
  }
  const auto made = reader.check(stored.content);
  if (!made) return made.error();
  const bool is_same = *made == chunk.content && stored.content.size() == chunk.raw_bytes;
  return is_same ? result<stored_chunk>(std::move(stored)) : damaged("its content does not have its digest or length");
}

result<std::unique_ptr<shared_reader::single_reader>> shared_reader::take(mapped_index& index) {
  {
    const std::lock_guard lock(index.mutex);
    if (!index.idle.empty()) {
      auto taken = std::move(index.idle.back());
      index.idle.pop_back();
      return taken;
    }
  }
  auto for_records = make_fingerprinter_();
  if (!for_records) return for_records.error();
  auto for_stored = make_fingerprinter_();
  if (!for_stored) return for_stored.error();
  auto shards = shard_index::open(objects_, key_.kind(), index.tables);
  if (!shards) return shards.error();
  return std::make_unique<single_reader>(objects_, key_, std::move(*shards), std::move(*for_records),
                                         std::move(*for_stored));
}

/// Returns the index. Maps it anew if it is still `known`, unless the shards need not or have not changed.
result<std::shared_ptr<shared_reader::mapped_index>> shared_reader::newer_index(
    const std::shared_ptr<mapped_index>& known, mapping when) {
  const std::lock_guard lock(mutex_);
  if (index_ != known) return index_;
  auto listed = objects_.list(object_kind::shard);
  if (!listed) return listed.error();
  std::ranges::sort(*listed);
  if (when != mapping::if_shards_changed || index_->shard_ids != *listed) {
    index_ = std::make_shared<mapped_index>(std::move(*listed), objects_, key_, table_bytes_);
  }
  return index_;
}

}  // namespace cutpoint::store
