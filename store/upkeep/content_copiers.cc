// Fills the contents of copied trees: record by record where chunks and digests are the same, otherwise through the engine.
#include <algorithm>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include <cutpoint/source.h>

#include "store/format/failure.h"
#include "store/session/store_reading.h"
#include "store/upkeep/snapshot_copier.h"

namespace cutpoint::store {

/// Reads a regular file of a store from front to back. Holes can be skipped, as those of a file of this machine.
class stored_stream final : public file_stream {
 public:
  /// The arguments must outlive the stream.
  stored_stream(const folder_entry& file, record_source& records) : file_(file), records_(records) {}

  /// Reads up to the next hole. Errors: those of the records; damage.
  [[nodiscard]] result<std::size_t> read(std::span<std::uint8_t> destination) override;
  [[nodiscard]] result<std::uint64_t> skip_hole() override;
  [[nodiscard]] status check_unchanged() const override { return {}; }

 private:
  const folder_entry& file_;
  record_source& records_;
  std::uint64_t position_ = 0;
};

constexpr std::uint64_t most_waiting_bytes = 32 * MiB;
constexpr std::size_t most_waiting_extents = std::size_t{1} << 16;

record_copier::record_copier(node_source& nodes, content_window& chunks, const store_config& source_config,
                             deduplicator& records, const store_config& target_config, progress_meter* meter)
    : content_copier(meter),
      nodes_(nodes),
      chunks_(chunks),
      records_(records),
      compressors_(source_config.codec == record_codec::none ? target_config.codec : record_codec::none,
                   target_config.level),
      target_codec_(target_config.codec) {}

status record_copier::copy(std::shared_ptr<pending_entry> entry, const folder_entry& original,
                           const std::string& path) {
  const chunking_context& context = records_.context();
  const std::size_t rule = context.rule_of(original.name);
  const bool has_own_level = rule != 0 && context.rules()[rule - 1].compression_level.has_value();
  const auto file = std::make_shared<const copied_file>(copied_file{std::move(entry), path, has_own_level});
  std::uint64_t bytes = 0;
  status target_failure;
  const status visited = visit_file(original, 0, UINT64_MAX, nodes_, [&](const stored_extent& extent, std::uint64_t) {
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
  CUTPOINT_TRY(const auto answers, records_.look_up(digests));
  std::vector<missing_chunk> missing;
  auto answer = answers.begin();
  for (std::size_t i = 0; i < waiting_.size(); ++i) {
    if (waiting_[i].extent.kind == extent_kind::hole) continue;
    record_reference& record = waiting_[i].extent.record;
    if (answer->is_new) missing.push_back({i, record});
    record.hint = answer++->hint;
  }
  return missing;
}

/// Keeps a chunk as it will be put.
void record_copier::take(missing_chunk& chunk, const result<chunk_content>& content) {
  if (!content) {
    chunk.read = content.error();
    return;
  }
  chunk.read = stored_chunk{
      content->codec, {content->bytes.begin(), content->bytes.end()}, {content->frame.begin(), content->frame.end()}};
  if (waiting_[chunk.extent].file->has_own_level) return;  // the source has compressed it so
  if (target_codec_ == record_codec::none) {
    chunk.read->codec = record_codec::none;
  } else if (chunk.read->codec == record_codec::none) {
    chunk.read->codec = compressors_.compress(chunk.read->content, chunk.read->frame);
  }
}

status record_copier::finish() {
  CUTPOINT_TRY(auto missing, look_up());
  std::vector<const record_reference*> wanted;
  for (const missing_chunk& each : missing) wanted.push_back(&each.record);
  const auto take_missing = [&](std::size_t i, const result<chunk_content>& content) { take(missing[i], content); };
  chunks_.plan(std::move(wanted));
  chunks_.read(take_missing);
  chunks_.read_rest(take_missing);
  for (const missing_chunk& each : missing) {
    const waiting_extent& first = waiting_[each.extent];
    if (!each.read) return fail(first.file->path, each.read.error());
    const bool is_compressed = each.read->codec != record_codec::none;
    CUTPOINT_RETURN_IF_FAILED(records_.put_chunk(first.extent.record.content, each.read->content.size(),
                                                 each.read->codec,
                                                 is_compressed ? each.read->frame : each.read->content));
  }
  for (waiting_extent& each : waiting_) {
    record_reference& record = each.extent.record;
    if (each.extent.kind != extent_kind::hole && record.hint == 0) {
      CUTPOINT_TRY(record.hint, records_.hint_of_put(record.content));
    }
    count(each.extent.bytes(), each.file->path);
    CUTPOINT_RETURN_IF_FAILED(each.file->entry->add(each.extent, records_));
    if (!each.is_last) continue;
    CUTPOINT_RETURN_IF_FAILED(each.file->entry->complete());
  }
  waiting_.clear();
  waiting_bytes_ = 0;
  return {};
}

namespace {

bool is_same_record(const record_reference& a, const record_reference& b) {
  return a.content == b.content && a.raw_bytes == b.raw_bytes;
}

bool has_equal_content(const folder_entry& a, const folder_entry& b) {
  if (a.kind != b.kind || a.size != b.size || a.node.has_value() != b.node.has_value()) return false;
  if (a.node) return is_same_record(*a.node, *b.node);
  return std::ranges::equal(a.extents, b.extents, [](const stored_extent& left, const stored_extent& right) {
    return left.kind == right.kind && left.count == right.count && is_same_record(left.record, right.record);
  });
}

}  // namespace

void recut_copier::enter(const std::string& folder) {
  earlier_.original.enter(earlier_.original.find(folder));
  earlier_.copy.enter(earlier_.copy.find(folder));
}

void recut_copier::leave() {
  earlier_.original.leave();
  earlier_.copy.leave();
}

bool recut_copier::take_from_earlier(pending_entry& entry, const folder_entry& original) {
  const folder_entry* const before = earlier_.original.find(original.name);
  const folder_entry* const copy = earlier_.copy.find(original.name);
  if (before == nullptr || copy == nullptr || !has_equal_content(*before, original)) return false;
  if (copy->kind != original.kind || copy->size != original.size || !earlier_.copy.has_all_records(*copy)) return false;
  entry.entry.extents = copy->extents;
  entry.entry.node = copy->node;
  return true;
}

status recut_copier::copy(std::shared_ptr<pending_entry> entry, const folder_entry& original, const std::string& path) {
  if (original.kind != file_kind::regular_file) return fail(path, damage(original.name, "it cannot have a content"));
  if (original.link_count > 1) {
    const auto [first, is_first] =
        first_names_.try_emplace(std::pair(original.device, original.inode), first_name{entry, original});
    if (!is_first && has_equal_content(first->second.original, original)) {
      entry->first_name = first->second.entry;
      return entry->complete();
    }
  }
  count(0, path);
  if (take_from_earlier(*entry, original)) {
    count(original.size);
    return entry->complete();
  }
  stored_stream stream(original, source_);
  status failure;
  CUTPOINT_RETURN_IF_FAILED(contents_.store_file(files_, entry, stream, failure));
  if (!failure.ok()) return fail(path, failure);
  const bool is_whole = entry->entry.size == original.size;
  return is_whole ? status() : fail(path, damage(original.name, "its content does not have its size"));
}

namespace {

constexpr std::size_t most_waiting_copies = std::size_t{1} << 16;

class tree_copier {
 public:
  tree_copier(record_source& source, content_copier& contents, node_receiver& nodes, const cancellation* cancel)
      : source_(source), contents_(contents), tree_(nodes, [](const std::string&, const status&) {}), cancel_(cancel) {}

  result<record_reference> copy(const record_reference& root, status& source_failure) {
    folder_entry top;
    top.kind = file_kind::directory;
    top.node = root;
    const status walked = visit_tree(top, "/", source_, [&](const std::string& path, const folder_entry& entry) {
      if (path != "/") target_failure_ = add(path, entry);
      return target_failure_;
    });
    source_failure = contents_.source_failure();
    if (!target_failure_.ok()) return target_failure_;
    if (!walked.ok()) {
      source_failure = {walked.code(), folder_ + ": " + walked.message(), walked.system_error()};
      return source_failure;
    }
    leave_folders("/");
    const status finished = contents_.finish();
    source_failure = contents_.source_failure();
    if (!finished.ok()) return finished;
    return tree_.finish();
  }

 private:
  status add(const std::string& path, const folder_entry& original) {
    if (cancel_ != nullptr && cancel_->is_requested()) return stopped_as_asked();
    leave_folders(path);
    folder_entry known = original;
    known.node.reset();
    known.extents.clear();
    if (original.kind == file_kind::directory) {
      contents_.enter(original.name);
      tree_.enter(std::move(known));
      folder_ = path + "/";
      folder_bytes_.push_back(folder_.size());
      return write_complete();
    }
    auto entry = std::make_shared<pending_entry>(std::move(known));
    tree_.add(entry, path);
    const bool has_content = original.node || !original.extents.empty();
    const status copied = has_content ? contents_.copy(std::move(entry), original, path) : entry->complete();
    return copied.ok() ? write_complete() : copied;
  }

  /// Leaves folders until the present one has the path.
  void leave_folders(const std::string& path) {
    while (folder_.size() > 1 && !path.starts_with(folder_)) {
      tree_.leave();
      contents_.leave();
      folder_bytes_.pop_back();
      folder_.resize(folder_bytes_.back());
    }
  }

  status write_complete() {
    if (tree_.waiting() > most_waiting_copies) CUTPOINT_RETURN_IF_FAILED(contents_.finish());
    return tree_.write_complete();
  }

  record_source& source_;
  content_copier& contents_;
  tree_builder tree_;
  const cancellation* cancel_;
  status target_failure_;
  std::string folder_ = "/";                     ///< path of the present folder, with a slash at its end
  std::vector<std::size_t> folder_bytes_ = {1};  ///< lengths of the paths of this folder and those above
};

}  // namespace

result<record_reference> copy_tree(const record_reference& root, record_source& source, content_copier& contents,
                                   node_receiver& nodes, const cancellation* cancel, status& source_failure) {
  return tree_copier(source, contents, nodes, cancel).copy(root, source_failure);
}

result<std::size_t> stored_stream::read(std::span<std::uint8_t> destination) {
  const std::uint64_t most = position_ + std::min<std::uint64_t>(destination.size(), file_.size - position_);
  std::uint64_t end = most;
  const auto look = [&](const stored_extent& extent, std::uint64_t position) {
    if (extent.kind == extent_kind::hole) end = std::min(end, position);
    return status();
  };
  CUTPOINT_RETURN_IF_FAILED(visit_file(file_, position_, most, records_, look));
  std::size_t filled = 0;
  const auto take = [&](byte_span bytes) {
    std::memcpy(destination.data() + filled, bytes.data(), bytes.size());
    filled += bytes.size();
    return status();
  };
  CUTPOINT_RETURN_IF_FAILED(dump_file(file_, position_, end, records_, take));
  position_ += filled;
  return filled;
}

result<std::uint64_t> stored_stream::skip_hole() {
  std::uint64_t end = position_;
  const auto look = [&](const stored_extent& extent, std::uint64_t position) {
    if (extent.kind == extent_kind::hole) end = position + extent.bytes();
    return status();
  };
  CUTPOINT_RETURN_IF_FAILED(visit_file(file_, position_, position_ + 1, records_, look));
  end = std::min(end, std::max(file_.size, position_));
  return end - std::exchange(position_, end);
}

}  // namespace cutpoint::store
