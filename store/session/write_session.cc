#include "store/session/write_session.h"

#include <cassert>
#include <string>

#include "store/container/container_reader.h"
#include "store/format/failure.h"

namespace cutpoint::store {

namespace {

std::string map_key(const digest& content) { return {content.view().begin(), content.view().end()}; }

}  // namespace

/// Compresses a new chunk on a lane of the engine.
class write_session::compression final : public chunk_work {
 public:
  explicit compression(compressor_pool& compressors) noexcept : compressors_(compressors) {}
  status perform(const delivered_chunk& chunk) override {
    codec_ = compressors_.compress(chunk.bytes, frame_);
    if (codec_ == record_codec::none) frame_ = {};
    return {};
  }
  [[nodiscard]] record_codec codec() const noexcept { return codec_; }
  [[nodiscard]] byte_span payload(byte_span content) const noexcept {
    return codec_ == record_codec::none ? content : byte_span(frame_);
  }

 private:
  compressor_pool& compressors_;
  record_codec codec_ = record_codec::none;
  std::vector<std::uint8_t> frame_;
};

write_session::write_session(const store_config& config, shard_index& shards, record_writer& records,
                             record_fingerprinter nodes)
    : compressors_(config.codec, config.level),
      shards_(shards),
      known_chunks_{store_index(shards, record_kind::chunk, config.fingerprint)},
      known_nodes_{store_index(shards, record_kind::node, config.fingerprint)},
      records_(records),
      nodes_(std::move(nodes)) {}

write_session::~write_session() = default;

void write_session::cap_containers(std::uint64_t most_containers, storage& objects, const seal_key& key) {
  const std::lock_guard lock(mutex_);
  bound_.emplace(container_bound{container_cap(most_containers), objects, key});
}

std::uint64_t write_session::known_records::hint_of_inserted(const digest& content) const {
  const auto position = inserted.find(map_key(content));
  return position == inserted.end() ? 0 : position->second;
}

status write_session::select(std::span<const delivered_chunk> chunks, std::span<std::unique_ptr<chunk_work>> work,
                             selection& selected) {
  const std::lock_guard lock(mutex_);
  digests_.clear();
  for (const delivered_chunk& each : chunks) digests_.push_back(each.fingerprint);
  answers_.resize(chunks.size());
  if (status inserted = known_chunks_.index.insert(digests_, answers_); !inserted.ok()) return inserted;
  if (bound_) return cap(chunks, work, selected);
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    const auto& record = known_chunks_.index.records_found()[i];
    select({answers_[i] == index_answer::absent, record ? hint_of(record->container->salt) : 0}, work[i], selected);
  }
  return {};
}

void write_session::select(selected_chunk chunk, std::unique_ptr<chunk_work>& work, selection& selected) {
  selected.push_back(chunk);
  if (chunk.is_new) work = std::make_unique<compression>(compressors_);
}

/// Selects chunks in few containers of earlier sessions. Those that are stored again are in one of this session then.
status write_session::cap(std::span<const delivered_chunk> chunks, std::span<std::unique_ptr<chunk_work>> work,
                          selection& selected) {
  auto& inserted = known_chunks_.inserted;
  choices_.assign(chunks.size(), {});
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    choices_[i].bytes = chunks[i].length;
    if (!known_chunks_.index.records_found()[i] || inserted.contains(map_key(digests_[i]))) continue;
    same_records_.clear();
    if (status located = shards_.locate_all(record_kind::chunk, digests_[i], same_records_); !located.ok())
      return located;
    for (const found_record& each : same_records_) choices_[i].containers.push_back(hint_of(each.container->salt));
  }
  bound_->cap.choose(choices_);
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    const bool is_left_out = !choices_[i].containers.empty() && choices_[i].chosen == 0;
    // Its hint is known when it has been stored.
    const bool is_stored_again = is_left_out && inserted.try_emplace(map_key(digests_[i]), 0).second;
    select({is_stored_again || answers_[i] == index_answer::absent, choices_[i].chosen}, work[i], selected);
  }
  return {};
}

result<std::uint64_t> write_session::append(record_kind kind, const digest& content, std::size_t raw_bytes,
                                            record_codec codec, byte_span payload) {
  if (raw_bytes > largest_raw_bytes) {
    return status(status_code::invalid_argument, fmt::format("a chunk of {} bytes is too long for a store", raw_bytes));
  }
  const record_description description{kind, codec, static_cast<std::uint32_t>(raw_bytes),
                                       static_cast<std::uint32_t>(payload.size()), content};
  const auto hint = records_.append(description, payload);
  if (hint) known(kind).inserted[map_key(content)] = *hint;
  return hint;
}

result<stored_extent> write_session::store(const delivered_chunk& chunk, selection& selected) {
  const std::lock_guard lock(mutex_);
  assert(!selected.empty());
  const selected_chunk next = selected.front();
  selected.pop_front();
  std::uint64_t hint = next.hint;
  if (next.is_new) {
    const auto& work = static_cast<const compression&>(*chunk.work);
    const auto appended =
        append(record_kind::chunk, chunk.fingerprint, chunk.length, work.codec(), work.payload(chunk.bytes));
    if (!appended) return appended.error();
    hint = *appended;
  } else if (hint == 0) {
    hint = known_chunks_.hint_of_inserted(chunk.fingerprint);
  }
  const record_reference record{chunk.fingerprint, static_cast<std::uint32_t>(chunk.length), hint};
  return stored_extent{chunk.count == 1 ? extent_kind::data : extent_kind::run, record, chunk.count};
}

result<record_reference> write_session::put_node(const encoded_node& node) {
  const std::lock_guard lock(mutex_);
  const auto name = nodes_(node.content());
  if (!name) return name.error();
  index_answer answer = index_answer::absent;
  if (status inserted = known_nodes_.index.insert({&*name, 1}, {&answer, 1}); !inserted.ok()) return inserted;
  record_reference reference{*name, static_cast<std::uint32_t>(node.content_bytes), 0};
  if (answer == index_answer::present) {
    const auto& record = known_nodes_.index.records_found().front();
    const std::uint64_t inserted = known_nodes_.hint_of_inserted(*name);
    reference.hint = inserted == 0 && record ? hint_of(record->container->salt) : inserted;
    if (bound_ && inserted == 0) {
      const auto same = find_same_node(*name, node);
      if (!same) return same.error();
      reference.hint = *same;
    }
    if (reference.hint != 0) return reference;
  }
  std::vector<std::uint8_t> frame;
  const record_codec codec = compressors_.compress(node.bytes, frame);
  const auto appended = append(record_kind::node, *name, node.bytes.size(), codec,
                               codec == record_codec::none ? byte_span(node.bytes) : byte_span(frame));
  if (!appended) return appended.error();
  reference.hint = *appended;
  return reference;
}

/// Returns the hint of a container that has the node with the same hints, or 0.
result<std::uint64_t> write_session::find_same_node(const digest& name, const encoded_node& node) {
  same_records_.clear();
  if (status located = shards_.locate_all(record_kind::node, name, same_records_); !located.ok()) return located;
  for (const found_record& each : same_records_) {
    const auto stored = read_record(bound_->objects, *each.container, each.place(), bound_->key);
    if (stored && *stored == node.bytes) return hint_of(each.container->salt);
  }
  return std::uint64_t{0};
}

result<std::vector<write_session::chunk_answer>> write_session::look_up(std::span<const digest> chunks) {
  const std::lock_guard lock(mutex_);
  answers_.resize(chunks.size());
  if (status inserted = known_chunks_.index.insert(chunks, answers_); !inserted.ok()) return inserted;
  std::vector<chunk_answer> results;
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    const auto& record = known_chunks_.index.records_found()[i];
    results.push_back({answers_[i] == index_answer::absent, record ? hint_of(record->container->salt) : 0});
  }
  return results;
}

status write_session::put_chunk(const digest& content, std::size_t raw_bytes, record_codec codec, byte_span payload) {
  const std::lock_guard lock(mutex_);
  const auto hint = append(record_kind::chunk, content, raw_bytes, codec, payload);
  return hint ? status() : hint.error();
}

std::uint64_t write_session::hint_of_put(const digest& content) {
  const std::lock_guard lock(mutex_);
  return known_chunks_.hint_of_inserted(content);
}

status write_session::finish() {
  const std::lock_guard lock(mutex_);
  const auto added = records_.finish();
  if (!added) return added.error();
  for (const std::string& each : *added) {
    const status outcome = shards_.add(each);
    if (!outcome.ok()) return outcome;
  }
  for (known_records* each : {&known_chunks_, &known_nodes_}) {
    each->index.forget_inserted();
    each->inserted.clear();
  }
  return {};
}

}  // namespace cutpoint::store
