#include "store/session/record_writer.h"

#include <utility>

#include "store/crypto/record_fingerprinter.h"
#include "store/index/shard_writer.h"

namespace cutpoint::store {

result<record_writer> record_writer::make(storage& objects, const seal_key& key, std::uint64_t container_bytes,
                                          own_containers& containers, std::size_t most_waiting_entries) {
  auto names = fastest_fingerprinter(fingerprint_kind::blake3);
  if (!names) return names.error();
  return record_writer(objects, key, container_bytes, containers, std::move(*names), most_waiting_entries);
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
  if (builder_ && !builder_->has_room(payload.size())) {
    if (status put = put_container(); !put.ok()) return put;
  }
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
  if (status put = objects_.put({object_kind::container, id_of(name)}, std::move(built->bytes)); !put.ok()) return put;
  return entries_.size() < most_waiting_entries_ ? status() : put_entries();
}

/// A shard is put when its containers are durable, so that a crash leaves no shard without them.
status record_writer::put_entries() {
  if (status synced = objects_.sync(); !synced.ok()) return synced;
  auto id = put_shard(objects_, key_.kind(), containers_, std::exchange(entries_, {}));
  if (!id) return id.error();
  if (status synced = objects_.sync(); !synced.ok()) return synced;
  for (const shard_container& each : containers_) own_.unnamed.erase(each.name);
  containers_.clear();
  shards_.push_back(std::move(*id));
  return {};
}

status record_writer::finish() {
  if (builder_) {
    if (status put = put_container(); !put.ok()) return put;
  }
  return entries_.empty() ? objects_.sync() : put_entries();
}

}  // namespace cutpoint::store
