#include "bench/tablets/shard_table.h"

#include <utility>

#include "store/storage/directory_storage.h"

namespace cutpoint::bench {

namespace {

store::store_config config() {
  return {.fingerprint = fingerprint_kind::blake3,
          .codec = store::record_codec::none,
          .container_bytes = 512 * KiB,
          .cuts = ""};
}

}  // namespace

shard_table::shard_table(const options& settings, std::shared_ptr<store::file_system> files)
    : settings_(settings),
      objects_(store::open_directory_storage(std::move(files), {.writer_id = "table", .pending_objects = 0})),
      tables_(std::make_unique<store::table_cache>(*objects_, key_, settings.table_cache_bytes)) {}

result<std::unique_ptr<shard_table>> shard_table::make(const options& settings) {
  auto files = store::open_file_system(settings.folder);
  if (!files) return files.error();
  std::shared_ptr<store::file_system> shared = std::move(*files);
  CUTPOINT_RETURN_IF_FAILED(store::make_storage_folders(*shared));
  std::unique_ptr<shard_table> table(new shard_table(settings, std::move(shared)));
  CUTPOINT_RETURN_IF_FAILED(table->open_session());
  table->size_ = table->writer_->shards.entry_count();
  return table;
}

status shard_table::open_session() {
  auto nodes = store::record_fingerprinter::fastest(config().fingerprint);
  if (!nodes) return nodes.error();
  auto writer = store::store_writer::open(config(), *objects_, key_, *tables_, containers_, *std::move(nodes),
                                          settings_.waiting_entries);
  if (!writer) return writer.error();
  writer_ = std::move(*writer);
  return {};
}

status shard_table::begin_next_session() {
  CUTPOINT_RETURN_IF_FAILED(writer_->records.finish());
  for (;;) {
    const auto merged = writer_->shards.merge();
    if (!merged) return merged.error();
    if (!*merged) break;
  }
  return open_session();
}

result<std::uint64_t> shard_table::disk_bytes() const {
  std::uint64_t sum = 0;
  for (const store::shard& each : writer_->shards.shards()) {
    const auto bytes = objects_->size({store::object_kind::shard, each.id()});
    if (!bytes) return bytes;
    sum += *bytes + each.entry_count() * store::description_bytes +
           each.container_count() * (store::trailer_bytes(0) + store::tail_bytes);
  }
  return sum;
}

status shard_table::look_up(std::span<const digest> digests, std::span<index_answer> answers) {
  records_.assign(digests.size(), std::nullopt);
  CUTPOINT_RETURN_IF_FAILED(writer_->shards.locate(store::record_kind::chunk, digests, records_));
  for (std::size_t i = 0; i < digests.size(); ++i)
    answers[i] = records_[i] ? index_answer::present : index_answer::absent;
  return {};
}

status shard_table::insert(std::span<const digest> digests, std::span<index_answer> answers) {
  const auto asked = writer_->records.look_up(digests);
  if (!asked) return asked.error();
  for (std::size_t i = 0; i < digests.size(); ++i) {
    answers[i] = (*asked)[i].is_new ? index_answer::absent : index_answer::present;
    if (!(*asked)[i].is_new) continue;
    ++size_;
    CUTPOINT_RETURN_IF_FAILED(writer_->records.put_chunk(digests[i], 0, store::record_codec::none, {}));
  }
  return {};
}

}  // namespace cutpoint::bench
