#include "store/session/store_reading.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "store/format/failure.h"
#include "store/tree/node_walk.h"

namespace cutpoint::store {

result<std::uint8_t> store_reading::digest_bytes() const {
  CUTPOINT_TRY(auto fingerprinter_of_store, make_fingerprinter());
  const auto empty = fingerprinter_of_store({});
  return empty ? result<std::uint8_t>(empty->size) : empty.error();
}

result<placed_entry> find_path(const record_reference& root, std::string_view path, node_source& nodes) {
  placed_entry at;
  at.kind = file_kind::directory;
  at.node = root;
  for (std::string_view rest = path; !rest.empty();) {
    const std::size_t slash = std::min(rest.find('/'), rest.size());
    const std::string_view name = rest.substr(0, slash);
    rest.remove_prefix(std::min(slash + 1, rest.size()));
    if (name.empty()) continue;
    std::optional<placed_entry> entry;
    if (at.kind == file_kind::directory && at.node) {
      CUTPOINT_TRY(entry, find_entry(*at.node, name, nodes));
    }
    if (!entry)
      return status(
          status_code::io_error,
          fmt::format("{}: the snapshot has no such file; paths in it are absolute, as they were backed up", path),
          ENOENT);
    at = std::move(*entry);
  }
  return at;
}

status visit_file(const folder_entry& file, std::uint64_t begin, std::uint64_t end, node_source& nodes,
                  const std::function<status(const stored_extent&, std::uint64_t)>& visit) {
  if (file.node) return visit_extents(*file.node, begin, end, nodes, visit);
  std::uint64_t position = 0;
  for (const stored_extent& each : file.extents) {
    const std::uint64_t next = position + each.bytes();
    if (position < end && next > begin) CUTPOINT_RETURN_IF_FAILED(visit(each, position));
    position = next;  // a sum of two lengths of 63 bits does not overflow
    if (position > largest_file_bytes) return damage(file.name, "it is longer than a file can be");
  }
  return {};
}

namespace {

/// Passes bytes of a file on, whose extents it is given in order.
class file_dump {
 public:
  /// The arguments must outlive the dump.
  file_dump(std::uint64_t begin, std::uint64_t end, record_source& records,
            const std::function<status(byte_span)>& take)
      : at_(begin), end_(end), records_(records), take_(take) {}

  [[nodiscard]] status add(const stored_extent& extent, std::uint64_t position) {
    waiting_.push_back({extent, position});
    if (extent.kind != extent_kind::hole) chunks_.push_back(extent.record);
    waiting_bytes_ += extent.kind == extent_kind::hole ? 0 : extent.record.raw_bytes;
    const bool is_full = waiting_bytes_ >= records_.window_bytes() || waiting_.size() >= most_waiting;
    return is_full ? pass() : status();
  }
  /// Passes on what has been added.
  [[nodiscard]] status pass() {
    const std::vector<result<shared_chunk>> contents = records_.share_chunks(chunks_);
    auto content = contents.begin();
    for (const waiting_extent& each : waiting_) {
      if (each.extent.kind == extent_kind::hole) {
        CUTPOINT_RETURN_IF_FAILED(pass_zeros(each));
        continue;
      }
      const result<shared_chunk>& chunk = *content++;
      if (!chunk) return chunk.error();
      CUTPOINT_RETURN_IF_FAILED(pass_chunk(each, **chunk));
    }
    waiting_.clear();
    chunks_.clear();
    waiting_bytes_ = 0;
    return {};
  }
  /// Returns the position of the next byte to pass on.
  [[nodiscard]] std::uint64_t position() const noexcept { return at_; }

 private:
  struct waiting_extent {
    stored_extent extent;
    std::uint64_t position;  ///< in the file
  };
  static constexpr std::size_t most_waiting = std::size_t{1} << 16;

  [[nodiscard]] std::uint64_t end_of(const waiting_extent& each) const {
    return std::min(each.position + each.extent.bytes(), end_);
  }
  status pass_zeros(const waiting_extent& hole) {
    zeros_.resize(std::min<std::uint64_t>(MiB, hole.extent.bytes()));
    while (at_ < end_of(hole)) {
      const std::uint64_t count = std::min<std::uint64_t>(zeros_.size(), end_of(hole) - at_);
      CUTPOINT_RETURN_IF_FAILED(take_(byte_span(zeros_).first(count)));
      at_ += count;
    }
    return {};
  }
  status pass_chunk(const waiting_extent& each, byte_span content) {
    while (at_ < end_of(each)) {
      const std::uint64_t skipped = (at_ - each.position) % content.size();
      const byte_span bytes = content.subspan(skipped, std::min(content.size() - skipped, end_of(each) - at_));
      CUTPOINT_RETURN_IF_FAILED(take_(bytes));
      at_ += bytes.size();
    }
    return {};
  }

  std::uint64_t at_;
  std::uint64_t end_;
  record_source& records_;
  const std::function<status(byte_span)>& take_;
  std::vector<waiting_extent> waiting_;
  std::vector<record_reference> chunks_;  ///< of those that are no holes
  std::uint64_t waiting_bytes_ = 0;
  std::vector<std::uint8_t> zeros_;
};

}  // namespace

status dump_file(const folder_entry& file, std::uint64_t begin, std::uint64_t end, record_source& records,
                 const std::function<status(byte_span)>& take) {
  if (file.kind != file_kind::regular_file) {
    return {status_code::invalid_argument,
            fmt::format("{}: it is a {}, which has no content", file.name, to_string(file.kind))};
  }
  end = std::min(end, file.size);
  if (begin >= end) return {};
  file_dump dump(begin, end, records, take);
  status added;
  const status visited =
      visit_file(file, begin, end, records, [&](const stored_extent& extent, std::uint64_t position) {
        added = dump.add(extent, position);
        return added;
      });
  if (!added.ok()) return added;
  CUTPOINT_RETURN_IF_FAILED(dump.pass());
  CUTPOINT_RETURN_IF_FAILED(visited);
  return dump.position() == end ? status() : damage(file.name, "its content is shorter than its size");
}

namespace {

struct listed_folder {
  folder_cursor entries;
  std::size_t path_bytes;  ///< length of its path, with a slash at the end
};

}  // namespace

status visit_tree(const folder_entry& top, const std::string& path, node_source& nodes,
                  const std::function<status(const std::string& path, const folder_entry& entry)>& visit) {
  CUTPOINT_RETURN_IF_FAILED(visit(path, top));
  std::vector<listed_folder> open;
  std::string here = path;
  const auto enter = [&](const folder_entry& folder) {
    if (!here.ends_with('/')) here += '/';
    open.push_back({folder_cursor(*folder.node, nodes), here.size()});
  };
  if (top.kind == file_kind::directory && top.node) enter(top);
  while (!open.empty()) {
    here.resize(open.back().path_bytes);
    CUTPOINT_TRY(auto entry, open.back().entries.next());
    if (!entry) {
      open.pop_back();
      continue;
    }
    here += entry->name;
    if (here.size() > longest_stored_path) return damage(here.substr(0, 64) + "...", "the path is too long");
    CUTPOINT_RETURN_IF_FAILED(visit(here, *entry));
    if (entry->kind != file_kind::directory || !entry->node) continue;
    enter(*entry);
    if (open.size() > most_folders_with_nodes) {
      open[open.size() - 1 - most_folders_with_nodes].entries.release_nodes();
    }
  }
  return {};
}

}  // namespace cutpoint::store
