#include "store/files/store_reading.h"

#include "store/format/failure.h"

namespace cutpoint::store {

result<std::uint8_t> store_reading::digest_bytes() const {
  auto fingerprinter_of_store = make_fingerprinter();
  if (!fingerprinter_of_store) return fingerprinter_of_store.error();
  const auto empty = (*fingerprinter_of_store)({});
  return empty ? result<std::uint8_t>(empty->size) : empty.error();
}

result<folder_entry> find_path(const record_reference& root, std::string_view path, node_source& nodes) {
  folder_entry at;
  at.kind = file_kind::directory;
  at.node = root;
  for (std::string_view rest = path; !rest.empty();) {
    const std::size_t slash = std::min(rest.find('/'), rest.size());
    const std::string_view name = rest.substr(0, slash);
    rest.remove_prefix(std::min(slash + 1, rest.size()));
    if (name.empty()) continue;
    std::optional<folder_entry> entry;
    if (at.kind == file_kind::directory && at.node) {
      auto looked_up = find_entry(*at.node, name, nodes);
      if (!looked_up) return looked_up.error();
      entry = std::move(*looked_up);
    }
    if (!entry) return status(status_code::io_error, fmt::format("{}: the snapshot has no such file", path), ENOENT);
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
    if (position < end && next > begin) {
      if (status visited = visit(each, position); !visited.ok()) return visited;
    }
    position = next;  // a sum of two lengths of 63 bits does not overflow
    if (position > largest_file_bytes) return damage(file.name, "it is longer than a file can be");
  }
  return {};
}

}  // namespace cutpoint::store
