#include "store/session/shared_reader.h"

#include <algorithm>

#include "store/format/failure.h"
#include "store/session/content_window.h"

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

shared_reader::shared_reader(open_store& opened_store, std::uint64_t memory_bytes)
    : objects_(opened_store.objects()),
      key_(opened_store.key()),
      shards_(opened_store.shared_shards()),
      make_fingerprinter_(opened_store.reading().make_fingerprinter),
      table_bytes_(memory_bytes / 4),
      nodes_(memory_bytes / 8),
      chunks_(memory_bytes / 8 * 5) {}

template <class Content>
result<Content> shared_reader::read(const std::function<result<Content>(record_reader&)>& read_once) {
  auto index = newer_index(nullptr);
  for (int tries = 1;; ++tries) {
    if (!index) return index.error();
    CUTPOINT_TRY(auto reader, take(**index));
    auto content = read_once(reader->records);
    {
      const std::lock_guard lock((*index)->mutex);
      (*index)->idle.push_back(std::move(reader));
    }
    if (content || !is_damage(content.error()) || tries == most_tries) return content;
    auto newer = newer_index(*index);
    if (newer && *newer == *index) return content;
    index = std::move(newer);
  }
}

result<std::vector<std::uint8_t>> shared_reader::read_node(const record_reference& node) {
  return read<std::vector<std::uint8_t>>([&](record_reader& records) { return records.read_node(node); });
}

result<std::shared_ptr<const decoded_node>> shared_reader::decode(const record_reference& node) {
  if (auto cached = nodes_.find(node.content)) return cached;
  auto decoded = node_source::decode(node);
  if (decoded) nodes_.insert(node.content, *decoded, memory_of(**decoded));
  return decoded;
}

result<shared_chunk> shared_reader::share_chunk(const record_reference& chunk) {
  if (auto cached = chunks_.find(chunk.content); cached && cached->size() == chunk.raw_bytes) return cached;
  CUTPOINT_TRY(auto content,
               read<std::vector<std::uint8_t>>([&](record_reader& records) { return records.read_chunk(chunk); }));
  auto shared = std::make_shared<const std::vector<std::uint8_t>>(std::move(content));
  chunks_.insert(chunk.content, shared, shared->capacity());
  return shared;
}

std::vector<result<shared_chunk>> shared_reader::share_chunks(std::span<const record_reference> chunks) {
  std::vector<result<shared_chunk>> contents(chunks.size(), shared_chunk());
  std::vector<record_reference> missing;
  std::vector<std::size_t> indices;  // of those in `chunks`
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    auto cached = chunks_.find(chunks[i].content);
    if (cached && cached->size() == chunks[i].raw_bytes) {
      contents[i] = std::move(cached);
    } else {
      missing.push_back(chunks[i]);
      indices.push_back(i);
    }
  }
  const auto window = missing.size() > 1 ? read_window(missing) : std::vector<result<shared_chunk>>();
  for (std::size_t i = 0; i < missing.size(); ++i) {
    const bool is_read = i < window.size() && window[i];
    contents[indices[i]] = is_read ? window[i] : share_chunk(missing[i]);  // which looks in a newer index
    if (is_read) chunks_.insert(missing[i].content, *window[i], (*window[i])->capacity());
  }
  return contents;
}

/// Reads chunks together, as far as the present index has them.
std::vector<result<shared_chunk>> shared_reader::read_window(std::span<const record_reference> chunks) {
  const auto index = newer_index(nullptr);
  auto reader = index ? take(**index) : index.error();
  if (!reader) return {};
  auto contents = read_chunks({objects_, key_, (*reader)->shards, make_fingerprinter_}, chunks);
  const std::lock_guard lock((*index)->mutex);
  (*index)->idle.push_back(*std::move(reader));
  return contents;
}

result<std::unique_ptr<shared_reader::single_reader>> shared_reader::take(mapped_index& index) {
  {
    const std::lock_guard lock(index.mutex);
    if (!index.idle.empty()) {
      auto reader_index = std::move(index.idle.back());
      index.idle.pop_back();
      return reader_index;
    }
  }
  CUTPOINT_TRY(auto check, make_fingerprinter_());
  CUTPOINT_TRY(auto shards, shard_index::open(objects_, key_.kind(), index.tables, &shards_));
  return std::make_unique<single_reader>(objects_, key_, std::move(shards), std::move(check));
}

/// Returns the index. Maps it anew if it is still `known` and the shards have changed.
result<std::shared_ptr<shared_reader::mapped_index>> shared_reader::newer_index(
    const std::shared_ptr<mapped_index>& known) {
  const std::lock_guard lock(mutex_);
  if (index_ != known) return index_;
  CUTPOINT_TRY(auto listed, objects_.list(object_kind::shard));
  std::ranges::sort(listed);
  if (!index_ || index_->shard_ids != listed) {
    index_ = std::make_shared<mapped_index>(std::move(listed), objects_, key_, table_bytes_);
  }
  return index_;
}

}  // namespace cutpoint::store
