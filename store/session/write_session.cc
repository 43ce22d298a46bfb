#include "store/session/write_session.h"

#include <cassert>
#include <string>

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
    : config_(config),
      compressors_(config.codec, config.level),
      shards_(shards),
      known_chunks_{store_index(shards, record_kind::chunk, config.fingerprint)},
      known_nodes_{store_index(shards, record_kind::node, config.fingerprint)},
      records_(records),
      nodes_(std::move(nodes)) {}

write_session::~write_session() = default;

std::uint64_t write_session::known_records::hint_of_inserted(const digest& content) const {
  const auto found = inserted.find(map_key(content));
  return found == inserted.end() ? 0 : found->second;
}

status write_session::select(std::span<const delivered_chunk> chunks, std::span<std::unique_ptr<chunk_work>> work) {
  const std::lock_guard lock(mutex_);
  digests_.clear();
  for (const delivered_chunk& each : chunks) digests_.push_back(each.fingerprint);
  answers_.resize(chunks.size());
  if (status inserted = known_chunks_.index.insert(digests_, answers_); !inserted.ok()) return inserted;
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    const bool is_new = answers_[i] == index_answer::absent;
    const auto& found = known_chunks_.index.found()[i];
    selected_.push_back({is_new, found ? hint_of(found->container->salt) : 0});
    if (is_new) work[i] = std::make_unique<compression>(compressors_);
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

result<stored_extent> write_session::store(const delivered_chunk& chunk) {
  const std::lock_guard lock(mutex_);
  assert(!selected_.empty());
  const selected_chunk selected = selected_.front();
  selected_.pop_front();
  std::uint64_t hint = selected.hint;
  if (selected.is_new) {
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
    const auto& found = known_nodes_.index.found().front();
    reference.hint = found ? hint_of(found->container->salt) : known_nodes_.hint_of_inserted(*name);
    return reference;
  }
  std::vector<std::uint8_t> frame;
  const record_codec codec = compressors_.compress(node.bytes, frame);
  const auto appended = append(record_kind::node, *name, node.bytes.size(), codec,
                               codec == record_codec::none ? byte_span(node.bytes) : byte_span(frame));
  if (!appended) return appended.error();
  reference.hint = *appended;
  return reference;
}

status write_session::finish() {
  const std::lock_guard lock(mutex_);
  const auto added = records_.finish();
  if (!added) return added.error();
  for (const std::string& each : *added) {
    const status opened = shards_.add(each);
    if (!opened.ok()) return opened;
  }
  for (known_records* each : {&known_chunks_, &known_nodes_}) {
    each->index.forget_inserted();
    each->inserted.clear();
  }
  return {};
}

}  // namespace cutpoint::store
