#include "store/session/records.h"

#include "store/format/failure.h"
#include "store/index/shard_writer.h"

namespace cutpoint::store {

namespace {

status record_damage(const record_reference& record, std::string_view what) {
  return damage("the record " + to_hex(record.content), what);
}

}  // namespace

std::vector<result<shared_chunk>> record_source::share_chunks(std::span<const record_reference> chunks) {
  std::vector<result<shared_chunk>> contents;
  for (const record_reference& each : chunks) contents.push_back(share_chunk(each));
  return contents;
}

template <class Read>
auto record_reader::read_anywhere(record_kind kind, const record_reference& record, Read read_from)
    -> decltype(read_from(std::declval<const found_record&>())) {
  std::optional<found_record> first;
  CUTPOINT_RETURN_IF_FAILED(shards_.locate(kind, {&record.content, 1}, {&first, 1}, {&record.hint, 1}));
  status failure = record_damage(record, "no container has it");
  const auto try_container = [&](const found_record& record_in_container) {
    auto content = read_from(record_in_container);
    if (!content) failure = content.error();
    if (!content && is_absence(failure)) {
      shards_.forget_container(record_in_container.container->id);
      failure = record_damage(record, "the container that had it was removed");
    }
    return content;
  };
  if (first) {
    auto content = try_container(*first);
    if (content || !is_damage(failure)) return content;
  }
  // What was read of the index may be older than a removal of containers, whose records were moved before.
  const status first_failure = failure;
  CUTPOINT_RETURN_IF_FAILED(shards_.refresh());
  for (bool has_more = true; has_more;) {
    std::vector<found_record> all;
    CUTPOINT_RETURN_IF_FAILED(shards_.locate_all(kind, record.content, all));
    for (const found_record& each : all) {
      if (first && each.container->id == first->container->id) continue;
      auto content = try_container(each);
      if (content || !is_damage(failure)) return content;
    }
    CUTPOINT_TRY(has_more, shards_.index_unnamed());
  }
  return first_failure;
}

result<std::vector<std::uint8_t>> record_reader::read(record_kind kind, const record_reference& record) {
  return read_anywhere(kind, record, [&](const found_record& record_in_container) -> result<std::vector<std::uint8_t>> {
    auto bytes = read_record(objects_, *record_in_container.container, record_in_container.place, key_);
    if (!bytes) return bytes;
    const auto content = kind == record_kind::node ? node_content(*bytes) : byte_span(*bytes);
    if (!content) return record_damage(record, "it is not a node");
    const status same = compare(record, *content);
    return same.ok() ? std::move(bytes) : same;
  });
}

status record_reader::compare(const record_reference& record, byte_span content) {
  CUTPOINT_TRY(const auto digest_of_content, check_(content));
  if (digest_of_content == record.content && content.size() == record.raw_bytes) return {};
  return record_damage(record, "its content does not have its digest or length");
}

result<std::vector<std::uint8_t>> record_reader::read_chunk(const record_reference& chunk) {
  return read(record_kind::chunk, chunk);
}

result<stored_chunk> record_reader::read_stored_chunk(const record_reference& chunk) {
  return read_anywhere(record_kind::chunk, chunk, [&](const found_record& record_in_container) -> result<stored_chunk> {
    const placed_record& place = record_in_container.place;
    CUTPOINT_TRY(auto payload, read_payload(objects_, *record_in_container.container, place, key_));
    stored_chunk stored{place.description.codec, {}, {}};
    if (stored.codec == record_codec::none) {
      stored.content = std::move(payload);
    } else {
      stored.frame = std::move(payload);
      stored.content.resize(place.description.raw_bytes);
      if (!decompress(stored.frame, stored.content)) return record_damage(chunk, "it cannot be decompressed");
    }
    const status same = compare(chunk, stored.content);
    return same.ok() ? result<stored_chunk>(std::move(stored)) : same;
  });
}

result<shared_chunk> record_reader::share_chunk(const record_reference& chunk) {
  CUTPOINT_TRY(auto content, read_chunk(chunk));
  return std::make_shared<const std::vector<std::uint8_t>>(std::move(content));
}

result<std::vector<std::uint8_t>> record_reader::read_node(const record_reference& node) {
  return read(record_kind::node, node);
}

result<record_writer> record_writer::make(storage& objects, const seal_key& key, std::uint64_t container_bytes,
                                          own_containers& containers, std::size_t most_waiting_entries) {
  CUTPOINT_TRY(auto names, fastest_fingerprinter(fingerprint_kind::blake3));
  return record_writer(objects, key, container_bytes, containers, std::move(names), most_waiting_entries);
}

record_writer::record_writer(storage& objects, const seal_key& key, std::uint64_t container_bytes,
                             own_containers& containers, std::unique_ptr<batch_fingerprinter> blake3,
                             std::size_t most_waiting_entries)
    : objects_(objects),
      key_(key),
      container_bytes_(container_bytes),
      blake3_(std::move(blake3)),
      own_(containers),
      most_waiting_entries_(most_waiting_entries) {}

result<std::uint64_t> record_writer::append(const record_description& description, byte_span payload) {
  if (builder_ && !builder_->has_room(payload.size())) CUTPOINT_RETURN_IF_FAILED(put_container());
  if (!builder_) {
    builder_.emplace(container_bytes_);
    fill_random(salt_);
  }
  builder_->append(description, payload);
  raw_bytes_ += description.raw_bytes;
  stored_bytes_ += description.stored_bytes;
  return hint_of(salt_);
}

status record_writer::put_container() {
  auto built = std::move(*builder_).build(key_, salt_, *blake3_);
  builder_.reset();
  if (!built) return built.error();
  const auto container = static_cast<std::uint32_t>(containers_.size());
  const container_name name = container_name_in(own_.session, built->digest_of_bytes);
  containers_.push_back({name, hint_of(salt_), built->bytes.size()});
  put_containers_.push_back(name);
  own_.unnamed.insert(name);
  append_entries(built->records, container, entries_);
  CUTPOINT_RETURN_IF_FAILED(objects_.put({object_kind::container, id_of(name)}, std::move(built->bytes)));
  return entries_.size() < most_waiting_entries_ ? status() : put_entries();
}

/// A shard is put when its containers are durable, so that a crash leaves no shard without them.
status record_writer::put_entries() {
  CUTPOINT_RETURN_IF_FAILED(objects_.sync());
  CUTPOINT_TRY(auto id, put_shard(objects_, key_.kind(), containers_, std::exchange(entries_, {})));
  CUTPOINT_RETURN_IF_FAILED(objects_.sync());
  for (const shard_container& each : containers_) own_.unnamed.erase(each.name);
  containers_.clear();
  shards_.push_back(std::move(id));
  return {};
}

status record_writer::finish() {
  if (builder_) CUTPOINT_RETURN_IF_FAILED(put_container());
  return entries_.empty() ? objects_.sync() : put_entries();
}

}  // namespace cutpoint::store
