// The public class of a view.
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>
#include <utility>

#include <cutpoint/store_view.h>
#include <fmt/format.h>

#include "store/format/failure.h"
#include "store/format/object_header.h"
#include "store/session/open_store.h"
#include "store/session/shared_reader.h"
#include "store/session/store_reading.h"

namespace cutpoint {

struct viewed_file::description {
  store::placed_entry entry;
};

const std::string& viewed_file::name() const noexcept { return description_->entry.name; }
const file_metadata& viewed_file::metadata() const noexcept { return description_->entry; }
const std::vector<extended_attribute>& viewed_file::attributes() const noexcept {
  return description_->entry.attributes;
}

viewed_place viewed_file::place() const noexcept {
  const auto& [node, number] = description_->entry.place;
  return {node.content, node.raw_bytes, node.hint, number};
}

struct viewed_folder::state {
  std::optional<store::folder_cursor> entries;  ///< none of a file that is no folder
};

viewed_folder::viewed_folder(std::unique_ptr<state> initial) noexcept : state_(std::move(initial)) {}
viewed_folder::viewed_folder(viewed_folder&&) noexcept = default;
viewed_folder& viewed_folder::operator=(viewed_folder&&) noexcept = default;
viewed_folder::~viewed_folder() = default;

result<std::optional<viewed_file>> viewed_folder::next() {
  if (!state_->entries) return std::optional<viewed_file>();
  CUTPOINT_TRY(auto entry, state_->entries->next());
  if (!entry) return std::optional<viewed_file>();
  viewed_file::description about{{std::move(*entry), state_->entries->place()}};
  return std::optional(viewed_file(std::make_shared<const viewed_file::description>(std::move(about))));
}

void viewed_folder::go_behind(std::string_view name) {
  if (state_->entries) state_->entries->go_behind(name);
}

struct store_view::shared_view {
  shared_view(backup_store source, store::open_store& inside, std::uint64_t memory_bytes)
      : backups(std::move(source)), objects(inside.objects()), records(inside, memory_bytes) {}

  [[nodiscard]] result<store::record_reference> root_of(const std::string& id);

  std::mutex mutex;                       ///< for the next five
  backup_store backups;                   ///< an object for one thread at a time
  std::uint64_t log_number = 0;           ///< of the newest entry when `snapshots` was read
  std::vector<std::string> snapshot_ids;  ///< sorted: those that `snapshots` has read
  std::vector<store_snapshot> snapshots;
  std::map<std::string, store::record_reference> roots;  ///< of the snapshots that were looked into, by id

  store::storage& objects;
  store::shared_reader records;
};

result<store_view> store_view::make(backup_store backups, const store_view_options& options) {
  store::open_store& inside = backups.internals();  // stays where it is
  return store_view(std::make_unique<shared_view>(std::move(backups), inside, options.memory_bytes));
}

store_view::store_view(std::unique_ptr<shared_view> inside) noexcept : implementation_(std::move(inside)) {}
store_view::store_view(store_view&&) noexcept = default;
store_view& store_view::operator=(store_view&&) noexcept = default;
store_view::~store_view() = default;

result<std::vector<store_snapshot>> store_view::snapshots(const store_problem& problem) {
  const std::lock_guard lock(implementation_->mutex);
  // The object of a snapshot may be there before its entry in the log, and gone while the entry stays.
  CUTPOINT_TRY(const std::uint64_t log_number, implementation_->backups.log_number());
  CUTPOINT_TRY(auto ids, implementation_->objects.list(store::object_kind::snapshot));
  std::ranges::sort(ids);
  if (log_number != implementation_->log_number || ids != implementation_->snapshot_ids) {
    CUTPOINT_TRY(implementation_->snapshots, implementation_->backups.snapshots(problem));
    implementation_->log_number = log_number;
    implementation_->snapshot_ids = std::move(ids);
  }
  return implementation_->snapshots;
}

result<store::record_reference> store_view::shared_view::root_of(const std::string& id) {
  const std::lock_guard lock(mutex);
  const auto position = roots.find(id);
  if (position != roots.end()) return position->second;
  const status unknown(status_code::invalid_argument, fmt::format("no snapshot has the id {}", id));
  if (!store::is_valid_id(id)) return unknown;  // it could name another object
  const auto snapshot = backups.internals().read(id);
  if (!snapshot) return store::is_absence(snapshot.error()) ? unknown : snapshot.error();
  roots.emplace(id, snapshot->root);
  return snapshot->root;
}

result<viewed_file> store_view::find(const std::string& id, std::string_view path) {
  CUTPOINT_TRY(const auto root, implementation_->root_of(id));
  CUTPOINT_TRY(auto entry, store::find_path(root, path, implementation_->records));
  return viewed_file(std::make_shared<const viewed_file::description>(viewed_file::description{std::move(entry)}));
}

result<viewed_file> store_view::find_in(const viewed_file& folder, std::string_view name) {
  const store::folder_entry& entry = folder.description_->entry;
  std::optional<store::placed_entry> child;
  if (entry.kind == file_kind::directory && entry.node) {
    CUTPOINT_TRY(child, store::find_entry(*entry.node, name, implementation_->records));
  }
  if (!child) return status(status_code::io_error, fmt::format("{}: the folder has no such file", name), ENOENT);
  return viewed_file(std::make_shared<const viewed_file::description>(viewed_file::description{std::move(*child)}));
}

result<viewed_file> store_view::entry_at(const viewed_place& place) {
  const store::entry_place at{{place.node, place.node_bytes, place.hint}, place.number};
  CUTPOINT_TRY(auto entry, store::entry_at(at, implementation_->records));
  viewed_file::description about{{std::move(entry), at}};
  return viewed_file(std::make_shared<const viewed_file::description>(std::move(about)));
}

result<viewed_folder> store_view::open_folder(const viewed_file& folder) {
  auto state = std::make_unique<viewed_folder::state>();
  const store::folder_entry& entry = folder.description_->entry;
  if (entry.kind == file_kind::directory && entry.node) state->entries.emplace(*entry.node, implementation_->records);
  return viewed_folder(std::move(state));
}

result<std::size_t> store_view::read(const viewed_file& file, std::uint64_t offset,
                                     std::span<std::uint8_t> destination) {
  std::size_t filled = 0;
  const auto take = [&](byte_span bytes) {
    std::memcpy(destination.data() + filled, bytes.data(), bytes.size());
    filled += bytes.size();
    return status();
  };
  const store::folder_entry& entry = file.description_->entry;
  const std::uint64_t begin = std::min(offset, entry.size);
  const std::uint64_t end = begin + std::min<std::uint64_t>(destination.size(), entry.size - begin);
  CUTPOINT_RETURN_IF_FAILED(store::dump_file(entry, begin, end, implementation_->records, take));
  return filled;
}

result<std::vector<viewed_data>> store_view::data_of(const viewed_file& file) {
  std::vector<viewed_data> data;
  const store::folder_entry& entry = file.description_->entry;
  const auto add = [&](const store::stored_extent& extent, std::uint64_t position) {
    if (extent.kind == store::extent_kind::hole) return status();
    const std::uint64_t end = std::min(position + extent.bytes(), entry.size);
    if (!data.empty() && data.back().end == position) {
      data.back().end = end;
    } else {
      data.push_back({position, end});
    }
    return status();
  };
  const status visited = store::visit_file(entry, 0, entry.size, implementation_->records, add);
  return visited.ok() ? result(std::move(data)) : visited;
}

}  // namespace cutpoint
