#include "store/session/tree_audit.h"

#include <algorithm>
#include <cstring>

#include "store/format/failure.h"

namespace cutpoint::store {

std::size_t tree_audit::list_hash::operator()(const whole_list& list) const noexcept {
  std::size_t hash = 0;
  std::memcpy(&hash, list.content.bytes.data(), sizeof hash);
  return hash;
}

tree_audit::tree_audit(const store_reading& store, const lost_records& lost, const cancellation* cancel,
                       record_fingerprinter check)
    : store_(store),
      lost_(lost),
      cancel_(cancel),
      nodes_(std::make_unique<record_reader>(store.objects, store.key, store.shards, std::move(check))) {}

result<tree_audit> tree_audit::make(const store_reading& store, const lost_records& lost, const cancellation* cancel) {
  CUTPOINT_TRY(auto check, store.make_fingerprinter());
  return tree_audit(store, lost, cancel, std::move(check));
}

status tree_audit::audit_records(const std::vector<record_reference>& records) {
  std::vector<digest> digests;
  std::vector<std::uint64_t> hints;
  for (const record_reference& each : records) {
    digests.push_back(each.content);
    hints.push_back(each.hint);
  }
  std::vector<std::optional<found_record>> records_by_digest(digests.size());
  CUTPOINT_RETURN_IF_FAILED(store_.shards.locate(record_kind::chunk, digests, records_by_digest, hints));
  for (std::size_t i = 0; i < records_by_digest.size(); ++i) {
    if (!records_by_digest[i] || is_lost(*records_by_digest[i])) {
      CUTPOINT_RETURN_IF_FAILED(find_elsewhere(digests[i], records_by_digest[i]));
    }
    if (records_by_digest[i]->place.description.raw_bytes != records[i].raw_bytes) {
      return damage("the record " + to_hex(digests[i]), "it has another length than the file says");
    }
    if (records[i].hint != 0 && records[i].hint != hint_of(records_by_digest[i]->container->salt)) ++moved_chunks_;
  }
  return {};
}

bool tree_audit::is_lost(const found_record& record) const {
  return !lost_.empty() && lost_.contains({to_hex(record.place.description.content), record.container->id});
}

/// Finds a chunk in all containers, also in those to which another process has moved it.
status tree_audit::find_elsewhere(const digest& chunk, std::optional<found_record>& elsewhere_record) {
  CUTPOINT_RETURN_IF_FAILED(store_.shards.refresh());
  std::vector<found_record> all;
  for (bool has_more = true; has_more;) {
    all.clear();
    CUTPOINT_RETURN_IF_FAILED(store_.shards.locate_all(record_kind::chunk, chunk, all));
    const auto whole = std::ranges::find_if(all, [&](const found_record& each) { return !is_lost(each); });
    if (whole != all.end()) {
      elsewhere_record = *whole;
      return {};
    }
    CUTPOINT_TRY(has_more, store_.shards.index_unnamed());
  }
  const std::string name = "the record " + to_hex(chunk);
  return damage(name,
                all.empty() ? "no container has it" : "its container " + all.front().container->id + " is damaged");
}

status tree_audit::audit_file(const folder_entry& file) {
  const std::uint64_t size = file.kind == file_kind::regular_file ? file.size : 0;
  if (file.node && whole_.contains(whole_list(*file.node, size))) return {};
  std::vector<record_reference> records;
  std::uint64_t bytes = 0;
  const auto audit_extent = [&](const stored_extent& extent, std::uint64_t) -> status {
    bytes += extent.bytes();
    if (extent.kind == extent_kind::hole) return {};
    records.push_back(extent.record);
    if (records.size() < located_at_once) return {};
    const status audited = audit_records(records);
    records.clear();
    return audited;
  };
  CUTPOINT_RETURN_IF_FAILED(visit_file(file, 0, UINT64_MAX, *nodes_, audit_extent));
  CUTPOINT_RETURN_IF_FAILED(audit_records(records));
  if (bytes != size) return damage(file.name, fmt::format("its content has {} bytes instead of {}", bytes, size));
  if (file.node) whole_.insert(whole_list(*file.node, size));
  return {};
}

result<bool> tree_audit::audit(const record_reference& root, const problem_function& problem) {
  if (is_whole_folder(root)) return true;
  std::string path = "/";
  std::vector<level> levels;
  levels.push_back({root, folder_cursor(root, *nodes_), path.size()});
  for (;;) {
    if (cancel_ != nullptr && cancel_->is_requested()) return stopped_as_asked();
    level& here = levels.back();
    path.resize(here.path_bytes);
    const auto next = here.entries.next();
    if (!next) {
      here.is_whole = false;
      problem(path, {next.error().code(), "entries of the folder are lost: " + next.error().message(),
                     next.error().system_error()});
      continue;
    }
    if (!*next) {
      const bool is_whole = here.is_whole;
      if (is_whole) whole_.insert(whole_list(here.node));
      levels.pop_back();
      if (levels.empty()) return is_whole;
      levels.back().is_whole = levels.back().is_whole && is_whole;
      continue;
    }
    const folder_entry& entry = **next;
    path += entry.name;
    if (entry.kind == file_kind::directory && entry.node && path.size() < longest_stored_path) {
      if (is_whole_folder(*entry.node)) continue;
      path += '/';
      levels.push_back({*entry.node, folder_cursor(*entry.node, *nodes_), path.size()});
      if (levels.size() > most_folders_with_nodes) {
        levels[levels.size() - 1 - most_folders_with_nodes].entries.release_nodes();
      }
      continue;
    }
    const status audited = entry.kind == file_kind::directory
                               ? damage("the entry", "it is a folder without entries, or too deep")
                               : audit_file(entry);
    if (audited.ok()) continue;
    here.is_whole = false;
    problem(path, audited);
  }
}

}  // namespace cutpoint::store
