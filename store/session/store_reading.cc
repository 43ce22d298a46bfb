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

status dump_file(const folder_entry& file, std::uint64_t begin, std::uint64_t end, record_source& records,
                 const std::function<status(byte_span)>& take) {
  if (file.kind != file_kind::regular_file) {
    return {status_code::invalid_argument,
            fmt::format("{}: it is a {}, which has no content", file.name, to_string(file.kind))};
  }
  end = std::min(end, file.size);
  std::vector<std::uint8_t> zeros;
  std::uint64_t at = begin;  // the next byte to pass on
  const auto take_extent = [&](const stored_extent& extent, std::uint64_t position) -> status {
    const std::uint64_t extent_end = std::min(position + extent.bytes(), end);
    if (extent.kind == extent_kind::hole) {
      zeros.resize(std::min<std::uint64_t>(MiB, extent.bytes()));
      while (at < extent_end) {
        const std::uint64_t count = std::min<std::uint64_t>(zeros.size(), extent_end - at);
        CUTPOINT_RETURN_IF_FAILED(take(byte_span(zeros).first(count)));
        at += count;
      }
      return {};
    }
    CUTPOINT_TRY(const auto shared, records.share_chunk(extent.record));
    const std::vector<std::uint8_t>* const content = shared.get();
    while (at < extent_end) {
      const std::uint64_t skipped = (at - position) % content->size();
      const byte_span bytes =
          byte_span(*content).subspan(skipped, std::min(content->size() - skipped, extent_end - at));
      CUTPOINT_RETURN_IF_FAILED(take(bytes));
      at += bytes.size();
    }
    return {};
  };
  if (begin >= end) return {};
  CUTPOINT_RETURN_IF_FAILED(visit_file(file, begin, end, records, take_extent));
  return at == end ? status() : damage(file.name, "its content is shorter than its size");
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
