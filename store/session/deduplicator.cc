#include "store/session/deduplicator.h"

#include <algorithm>
#include <cassert>
#include <functional>
#include <string_view>
#include <utility>

#include "store/format/clock.h"
#include "store/format/container.h"
#include "store/format/failure.h"

namespace cutpoint::store {

/// Compresses a new chunk on a lane of the engine.
class deduplicator::compression final : public chunk_work {
 public:
  explicit compression(compressor_pool& compressors) noexcept : compressors_(compressors) {}
  status perform(const delivered_chunk& chunk) override {
    const work_timer timer(work_);
    work_.bytes += chunk.bytes.size();
    codec_ = compressors_.compress(chunk.bytes, frame_);
    if (codec_ == record_codec::none) frame_ = {};
    return {};
  }
  [[nodiscard]] const stage_work& work() const noexcept { return work_; }
  [[nodiscard]] record_codec codec() const noexcept { return codec_; }
  [[nodiscard]] byte_span payload(byte_span content) const noexcept {
    return codec_ == record_codec::none ? content : byte_span(frame_);
  }

 private:
  compressor_pool& compressors_;
  record_codec codec_ = record_codec::none;
  std::vector<std::uint8_t> frame_;
  stage_work work_;
};

deduplicator::deduplicator(const store_config& config, shard_index& shards, record_writer& records,
                           record_fingerprinter nodes)
    : context_(config.context), shards_(shards), records_(records), nodes_(std::move(nodes)) {
  compressors_.emplace_back(config.codec, config.level);
  if (context_.rules().empty()) return;
  classes_.resize(context_.rules().size() + 1);
  for (const context_rule& rule : context_.rules()) {
    const int level = rule.compression_level.value_or(config.level);
    compressors_.emplace_back(level == 0 ? record_codec::none : record_codec::zstd, level);
  }
}

deduplicator::~deduplicator() = default;

void deduplicator::cap_containers(std::uint64_t most_containers, storage& objects, const seal_key& key) {
  const std::lock_guard lock(mutex_);
  bound_.emplace(container_bound{container_cap(most_containers), objects, key});
}

void deduplicator::use_index(std::shared_ptr<store_index> index) {
  const std::lock_guard lock(mutex_);
  index_.emplace(std::move(index), shards_);
}

void deduplicator::count_healed(std::set<container_name> condemned) {
  const std::lock_guard lock(mutex_);
  condemned_ = std::move(condemned);
}

std::uint64_t deduplicator::healed_chunks() {
  const std::lock_guard lock(mutex_);
  return healed_chunks_;
}

std::size_t deduplicator::digest_hash::operator()(const digest& content) const noexcept {
  return std::hash<std::string_view>()({reinterpret_cast<const char*>(content.bytes.data()), content.size});
}

/// Fills `located_`.
status deduplicator::locate_chunks(std::span<const digest> chunks) {
  located_.assign(chunks.size(), std::nullopt);
  return index_ ? index_->locate(chunks, located_) : shards_.locate(record_kind::chunk, chunks, located_);
}

/// Answers for a chunk with the record that was located, if any. From now on it is not new any more.
deduplicator::chunk_answer deduplicator::answer(const digest& chunk, const std::optional<found_record>& record) {
  if (record) return {false, hint_of(record->container->salt)};
  return {new_chunks_.try_emplace(chunk, 0).second, 0};
}

status deduplicator::select(std::span<const delivered_chunk> chunks, std::span<std::unique_ptr<chunk_work>> work,
                            selection& selected) {
  const std::lock_guard lock(mutex_);
  const work_timer timer(indexing_);
  for (const delivered_chunk& each : chunks) {
    indexing_.bytes += each.length * each.count;
    if (!classes_.empty()) classes_[each.rule].bytes += each.length * each.count;
  }
  chunk_count_ += chunks.size();
  digests_.clear();
  for (const delivered_chunk& each : chunks) digests_.push_back(each.fingerprint);
  CUTPOINT_RETURN_IF_FAILED(locate_chunks(digests_));
  if (bound_) return cap(chunks, work, selected);
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    select(answer(digests_[i], located_[i]), chunks[i].rule, work[i], selected);
  }
  return {};
}

void deduplicator::select(chunk_answer chunk, std::size_t rule, std::unique_ptr<chunk_work>& work,
                          selection& selected) {
  selected.push_back(chunk);
  if (chunk.is_new) work = std::make_unique<compression>(compressors_[rule]);
}

/// Selects chunks in few containers of earlier sessions. Those that are stored again are in one of this session then.
status deduplicator::cap(std::span<const delivered_chunk> chunks, std::span<std::unique_ptr<chunk_work>> work,
                         selection& selected) {
  choices_.assign(chunks.size(), {});
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    choices_[i].bytes = chunks[i].length;
    if (!located_[i] || new_chunks_.contains(digests_[i])) continue;
    same_records_.clear();
    CUTPOINT_RETURN_IF_FAILED(shards_.locate_all(record_kind::chunk, digests_[i], same_records_));
    if (std::ranges::any_of(same_records_, [&](const found_record& each) { return is_own(each); })) continue;
    for (const found_record& each : same_records_) choices_[i].containers.push_back(hint_of(each.container->salt));
  }
  bound_->cap.choose(choices_);
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    const bool is_left_out = !choices_[i].containers.empty() && choices_[i].chosen == 0;
    // Its hint is known when it has been stored.
    const bool is_new = (!located_[i] || is_left_out) && new_chunks_.try_emplace(digests_[i], 0).second;
    select({is_new, choices_[i].chosen}, chunks[i].rule, work[i], selected);
  }
  return {};
}

result<std::uint64_t> deduplicator::append(record_kind kind, const digest& content, std::size_t raw_bytes,
                                           record_codec codec, byte_span payload) {
  if (raw_bytes > largest_raw_bytes) {
    return status(status_code::invalid_argument, fmt::format("a chunk of {} bytes is too long for a store", raw_bytes));
  }
  if (kind == record_kind::chunk && !condemned_.empty()) {
    const auto was_condemned = shards_.is_named_in(condemned_, content);  // a failure costs the count alone
    healed_chunks_ += was_condemned && *was_condemned ? 1u : 0u;
  }
  const record_description description{kind, codec, static_cast<std::uint32_t>(raw_bytes),
                                       static_cast<std::uint32_t>(payload.size()), content};
  const auto hint = records_.append(description, payload);
  if (!hint) return hint;
  writing_.bytes += raw_bytes;
  new_of(kind)[content] = *hint;
  own_hints_.insert(*hint);
  const status outcome = open_own_shards(*hint);
  return outcome.ok() ? hint : outcome;
}

/// Opens the shards that have been put, which have all records but those of the container that is being filled. So the records that
/// are in memory are bounded.
status deduplicator::open_own_shards(std::uint64_t unfinished_hint) {
  CUTPOINT_TRY(const auto added, add_own_shards());
  if (!added) return {};
  for (new_records* each : {&new_chunks_, &new_nodes_}) {
    std::erase_if(*each, [&](const auto& record) { return record.second != 0 && record.second != unfinished_hint; });
  }
  return merge_put_shards();
}

status deduplicator::merge_put_shards() {
  const auto merged = shards_.merge();  // few are looked up
  return merged ? status() : merged.error();
}

/// Opens the shards that have been put, and adds the chunks that they have to the index of the caller. Returns whether there are any.
result<bool> deduplicator::add_own_shards() {
  const std::vector<std::string> ids = records_.take_shards();
  for (const std::string& each : ids) CUTPOINT_RETURN_IF_FAILED(shards_.add(each));
  if (ids.empty() || !index_) return !ids.empty();
  for (; indexed_containers_ < records_.put_containers().size(); ++indexed_containers_) {
    CUTPOINT_RETURN_IF_FAILED(index_->add(records_.put_containers()[indexed_containers_]));
  }
  return true;
}

result<std::uint64_t> deduplicator::hint_of_stored(record_kind kind, const digest& content) {
  const auto position = new_of(kind).find(content);
  if (position != new_of(kind).end()) return position->second;
  same_records_.clear();
  CUTPOINT_RETURN_IF_FAILED(shards_.locate_all(kind, content, same_records_));
  const auto own = std::ranges::find_if(same_records_, [&](const found_record& each) { return is_own(each); });
  return own == same_records_.end() ? 0 : hint_of(own->container->salt);
}

result<stored_extent> deduplicator::store(const delivered_chunk& chunk, selection& selected) {
  const std::lock_guard lock(mutex_);
  const work_timer timer(writing_);
  assert(!selected.empty());
  const chunk_answer next = selected.front();
  selected.pop_front();
  std::uint64_t hint = next.hint;
  if (next.is_new) {
    const auto& work = static_cast<const compression&>(*chunk.work);
    add(compression_, work.work());
    const byte_span payload = work.payload(chunk.bytes);
    CUTPOINT_TRY(const auto appended,
                 append(record_kind::chunk, chunk.fingerprint, chunk.length, work.codec(), payload));
    if (!classes_.empty()) {
      classes_[chunk.rule].new_raw_bytes += chunk.length;
      classes_[chunk.rule].new_stored_bytes += payload.size();
    }
    hint = appended;
  } else if (hint == 0) {
    CUTPOINT_TRY(hint, hint_of_stored(record_kind::chunk, chunk.fingerprint));
  }
  const record_reference record{chunk.fingerprint, static_cast<std::uint32_t>(chunk.length), hint};
  return stored_extent{chunk.count == 1 ? extent_kind::data : extent_kind::run, record, chunk.count};
}

result<record_reference> deduplicator::put_node(const encoded_node& node) {
  const std::lock_guard lock(mutex_);
  const work_timer timer(writing_);
  CUTPOINT_TRY(const auto name, nodes_(node.content()));
  record_reference reference{name, static_cast<std::uint32_t>(node.content_bytes), 0};
  if (const auto position = new_nodes_.find(name); position != new_nodes_.end()) {
    reference.hint = position->second;
    return reference;
  }
  std::optional<found_record> record;
  CUTPOINT_RETURN_IF_FAILED(shards_.locate(record_kind::node, {&name, 1}, {&record, 1}));
  if (record) {
    reference.hint = hint_of(record->container->salt);
    if (bound_) {
      CUTPOINT_TRY(reference.hint, find_same_node(name, node));
    }
    if (reference.hint != 0) return reference;
  }
  std::vector<std::uint8_t> frame;
  const record_codec codec = compressors_.front().compress(node.bytes, frame);
  CUTPOINT_TRY(reference.hint, append(record_kind::node, name, node.bytes.size(), codec,
                                      codec == record_codec::none ? byte_span(node.bytes) : byte_span(frame)));
  return reference;
}

/// Returns the hint of a container that has the node with the same hints, or 0.
result<std::uint64_t> deduplicator::find_same_node(const digest& name, const encoded_node& node) {
  same_records_.clear();
  CUTPOINT_RETURN_IF_FAILED(shards_.locate_all(record_kind::node, name, same_records_));
  for (const found_record& each : same_records_) {
    const auto stored = read_record(bound_->objects, *each.container, each.place, bound_->key);
    if (stored && *stored == node.bytes) return hint_of(each.container->salt);
  }
  return std::uint64_t{0};
}

result<std::vector<deduplicator::chunk_answer>> deduplicator::look_up(std::span<const digest> chunks) {
  const std::lock_guard lock(mutex_);
  CUTPOINT_RETURN_IF_FAILED(locate_chunks(chunks));
  std::vector<chunk_answer> results;
  results.reserve(chunks.size());
  for (std::size_t i = 0; i < chunks.size(); ++i) results.push_back(answer(chunks[i], located_[i]));
  return results;
}

status deduplicator::put_chunk(const digest& content, std::size_t raw_bytes, record_codec codec, byte_span payload) {
  const std::lock_guard lock(mutex_);
  const auto hint = append(record_kind::chunk, content, raw_bytes, codec, payload);
  return hint ? status() : hint.error();
}

result<std::uint64_t> deduplicator::hint_of_put(const digest& content) {
  const std::lock_guard lock(mutex_);
  return hint_of_stored(record_kind::chunk, content);
}

void deduplicator::add_work(store_work& sum) {
  const std::lock_guard lock(mutex_);
  sum.chunk_count += chunk_count_;
  add(sum.indexing, indexing_);
  add(sum.compression, compression_);
  add(sum.writing, writing_);
  sum.classes.resize(classes_.size());
  for (std::size_t rule = 0; rule < classes_.size(); ++rule) {
    sum.classes[rule].name = context_.class_name(rule);
    sum.classes[rule] += classes_[rule];
  }
}

status deduplicator::finish() {
  const std::lock_guard lock(mutex_);
  const work_timer timer(writing_);
  CUTPOINT_RETURN_IF_FAILED(records_.finish());
  if (const auto added = add_own_shards(); !added) return added.error();
  for (new_records* each : {&new_chunks_, &new_nodes_}) each->clear();
  return {};
}

status deduplicator::merge_shards() {
  const std::lock_guard lock(mutex_);
  const work_timer timer(writing_);
  return merge_put_shards();
}

namespace {

using choice = container_cap::choice;

/// Chooses a container for the chunks that it has and that have none yet.
void assign(std::uint64_t container, std::span<choice> chunks) {
  for (choice& each : chunks) {
    if (each.chosen == 0 && std::ranges::count(each.containers, container) != 0) each.chosen = container;
  }
}

/// Returns the container that has the most bytes of the chunks without one, or 0 if there are none.
std::uint64_t largest_container(std::span<const choice> chunks) {
  std::map<std::uint64_t, std::uint64_t> bytes;
  for (const choice& each : chunks) {
    if (each.chosen != 0) continue;
    for (const std::uint64_t container : each.containers) bytes[container] += each.bytes;
  }
  const auto largest = std::ranges::max_element(bytes, {}, [](const auto& each) { return each.second; });
  return largest == bytes.end() ? 0 : largest->first;
}

}  // namespace

void container_cap::choose(std::span<choice> chunks) {
  std::erase_if(last_uses_, [&](const auto& each) { return each.second + remembered_bytes < position_; });
  for (const auto& [container, position] : last_uses_) assign(container, chunks);
  for (const choice& each : chunks) {
    position_ += each.bytes;
    credit_ += most_containers_ * each.bytes;
  }
  for (; credit_ >= limited_bytes; credit_ -= limited_bytes) {
    const std::uint64_t largest = largest_container(chunks);
    if (largest == 0) break;
    assign(largest, chunks);
  }
  credit_ = std::min(credit_, most_containers_ * limited_bytes);
  for (const choice& each : chunks) {
    if (each.chosen != 0) last_uses_[each.chosen] = position_;
  }
}

result<std::unique_ptr<store_writer>> store_writer::open(const store_config& config, storage& objects,
                                                         const seal_key& key, table_cache& tables, own_containers& own,
                                                         record_fingerprinter node_names,
                                                         std::size_t most_waiting_entries, shard_pool* shared_shards) {
  CUTPOINT_TRY(auto shards, shard_index::open(objects, key.kind(), tables, shared_shards));
  CUTPOINT_TRY(auto containers, record_writer::make(objects, key, config.container_bytes, own, most_waiting_entries));
  return std::make_unique<store_writer>(config, std::move(shards), std::move(containers), std::move(node_names));
}

status store_writer::finish(snapshot_statistics& statistics) {
  CUTPOINT_RETURN_IF_FAILED(records.finish());
  statistics.new_raw_bytes = containers.raw_bytes() - std::exchange(finished_raw_bytes, containers.raw_bytes());
  statistics.new_stored_bytes =
      containers.stored_bytes() - std::exchange(finished_stored_bytes, containers.stored_bytes());
  return {};
}

}  // namespace cutpoint::store
