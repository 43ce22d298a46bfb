#include "store/copy/record_copier.h"

#include <utility>

#include "host/core/parallel.h"
#include "store/format/failure.h"

namespace cutpoint::store {

namespace {

constexpr std::uint64_t most_waiting_bytes = 32 * MiB;
constexpr std::size_t most_waiting_extents = std::size_t{1} << 16;

}  // namespace

record_copier::record_copier(shared_reader& source, const store_config& source_config, deduplicator& records,
                             const store_config& target_config, std::uint64_t threads, progress_meter* meter)
    : content_copier(meter),
      source_(source),
      records_(records),
      compressors_(source_config.codec == record_codec::none ? target_config.codec : record_codec::none,
                   target_config.level),
      target_codec_(target_config.codec),
      threads_(thread_count(threads)) {}

status record_copier::copy(std::shared_ptr<pending_entry> entry, const folder_entry& original,
                           const std::string& path) {
  const chunking_context& context = records_.context();
  const std::size_t rule = context.rule_of(original.name);
  const bool has_own_level = rule != 0 && context.rules()[rule - 1].compression_level.has_value();
  const auto file = std::make_shared<const copied_file>(copied_file{std::move(entry), path, has_own_level});
  std::uint64_t bytes = 0;
  status target_failure;
  const status visited = visit_file(original, 0, UINT64_MAX, source_, [&](const stored_extent& extent, std::uint64_t) {
    bytes += extent.bytes();
    waiting_.push_back({file, extent});
    if (extent.kind != extent_kind::hole) waiting_bytes_ += extent.record.raw_bytes;
    const bool is_full = waiting_bytes_ >= most_waiting_bytes || waiting_.size() >= most_waiting_extents;
    if (is_full) target_failure = finish();
    return target_failure;
  });
  if (!target_failure.ok()) return target_failure;
  if (!visited.ok()) return fail(path, visited);
  if (bytes != original.size) return fail(path, damage(original.name, "its content does not have its size"));
  if (waiting_.empty() || waiting_.back().file != file) return file->entry->complete();
  waiting_.back().is_last = true;
  return {};
}

/// Returns the chunks that the target lacks, and puts the hints of the others into their extents.
result<std::vector<record_copier::missing_chunk>> record_copier::look_up() {
  std::vector<digest> digests;
  for (const waiting_extent& each : waiting_) {
    if (each.extent.kind != extent_kind::hole) digests.push_back(each.extent.record.content);
  }
  const auto answers = records_.look_up(digests);
  if (!answers) return answers.error();
  std::vector<missing_chunk> missing;
  auto answer = answers->begin();
  for (std::size_t i = 0; i < waiting_.size(); ++i) {
    if (waiting_[i].extent.kind == extent_kind::hole) continue;
    waiting_[i].extent.record.hint = answer->hint;
    if (answer++->is_new) missing.push_back({i});
  }
  return missing;
}

void record_copier::read(missing_chunk& chunk) {
  chunk.read = source_.read_stored_chunk(waiting_[chunk.extent].extent.record);
  if (!chunk.read) return;
  if (waiting_[chunk.extent].file->has_own_level) return;  // the source has compressed it so
  if (target_codec_ == record_codec::none) {
    chunk.read->codec = record_codec::none;
  } else if (chunk.read->codec == record_codec::none) {
    chunk.read->codec = compressors_.compress(chunk.read->content, chunk.read->frame);
  }
}

status record_copier::finish() {
  auto missing = look_up();
  if (!missing) return missing.error();
  run_parallel(threads_, missing->size(), [&](std::size_t, std::size_t i) { read((*missing)[i]); });
  for (const missing_chunk& each : *missing) {
    const waiting_extent& first = waiting_[each.extent];
    if (!each.read) return fail(first.file->path, each.read.error());
    const bool is_compressed = each.read->codec != record_codec::none;
    const status put = records_.put_chunk(first.extent.record.content, each.read->content.size(), each.read->codec,
                                          is_compressed ? each.read->frame : each.read->content);
    if (!put.ok()) return put;
  }
  for (waiting_extent& each : waiting_) {
    record_reference& record = each.extent.record;
    if (each.extent.kind != extent_kind::hole && record.hint == 0) {
      const auto hint = records_.hint_of_put(record.content);
      if (!hint) return hint.error();
      record.hint = *hint;
    }
    count(each.extent.bytes(), each.file->path);
    if (status added = each.file->entry->add(each.extent, records_); !added.ok()) return added;
    if (!each.is_last) continue;
    if (status completed = each.file->entry->complete(); !completed.ok()) return completed;
  }
  waiting_.clear();
  waiting_bytes_ = 0;
  return {};
}

}  // namespace cutpoint::store
