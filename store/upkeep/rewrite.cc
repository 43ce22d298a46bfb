// Writes other versions of snapshots: with other tags, or without some files.
#include <algorithm>
#include <utility>
#include <vector>

#include "host/io/entry_filter.h"
#include "store/format/failure.h"
#include "store/session/leased_session.h"
#include "store/session/store_reading.h"
#include "store/upkeep/upkeep.h"

namespace cutpoint::store {

namespace {

constexpr std::string_view rewrite_tag = "rewrite";

void add_tag(std::vector<std::string>& tags, std::string_view tag) {
  if (std::ranges::find(tags, tag) == tags.end()) tags.emplace_back(tag);
}

using listed_snapshot = open_store::listed_snapshot;

/// The snapshots that are edited, one after the other. What fails for one of them alone is reported.
class snapshot_edit {
 public:
  snapshot_edit(open_store& opened_store, const std::set<std::string>& ids, const store_problem& problem,
                const cancellation* cancel)
      : opened_store_(opened_store), ids_(ids), problem_(problem), cancel_(cancel) {}

  /// Takes a lease, so that nothing is removed that the new versions refer to. Errors: those of sessions.
  [[nodiscard]] status begin_session() {
    CUTPOINT_TRY(session_, leased_session::begin(opened_store_));
    // A container that a prune proposes may have the only copy of a record. If a snapshot needs it, the prune finds out.
    return opened_store_.reopen_shards();
  }
  [[nodiscard]] leased_session& session() noexcept { return *session_; }

  /// Calls `edit` for each snapshot, the oldest first. It returns whether there is a new version. Errors: those of the storage,
  /// and those of `edit` except damage and absence; cancelled.
  template <class Edit>
  [[nodiscard]] result<store_edit_summary> run(Edit edit) {
    CUTPOINT_TRY(const auto log, opened_store_.read_log());
    CUTPOINT_TRY(const auto snapshots, opened_store_.snapshots(log, {}));
    std::set<std::string> left = ids_;
    store_edit_summary summary;
    for (const listed_snapshot& each : snapshots) {
      if (cancel_ != nullptr && cancel_->is_requested()) return stopped_as_asked();
      if (left.erase(each.id) == 0) continue;
      const result<bool> edited = edit(each);
      if (edited) {
        ++(*edited ? summary.edited : summary.unchanged);
      } else if (is_damage(edited.error()) || is_absence(edited.error())) {
        report(each.id, edited.error(), summary);
      } else {
        return edited.error();
      }
    }
    for (const std::string& id : left) {
      const status unknown(status_code::invalid_argument, "no snapshot has the id " + id);
      const auto read = log.snapshots.contains(id) ? opened_store_.read(id) : unknown;
      report(id, read || is_absence(read.error()) ? unknown : read.error(), summary);
    }
    return summary;
  }

  [[nodiscard]] result<std::string> commit(const listed_snapshot& old, snapshot facts, bool is_replaced) {
    auto committed =
        commit_snapshot(*session_, std::move(facts), original_snapshot{.id = old.id, .is_replaced = is_replaced});
    return committed ? result<std::string>(std::move(committed->id)) : committed.error();
  }

 private:
  void report(const std::string& id, const status& why, store_edit_summary& summary) const {
    ++summary.problems;
    if (problem_) problem_(id, why);
  }

  open_store& opened_store_;
  const std::set<std::string>& ids_;
  const store_problem& problem_;
  const cancellation* cancel_;
  std::unique_ptr<leased_session> session_;
};

/// Chooses what patterns do not leave out, as those of a backup, and counts it.
class exclusion final : public tree_filter {
 public:
  /// The arguments must outlive the filter, and `matched` is called as `walk_callbacks::matched` is.
  exclusion(const walk_options& walking, const walk_callbacks& callbacks, const std::vector<std::string>& paths,
            std::function<void(const std::string& path)> left_out)
      : walking_(walking), callbacks_(callbacks), left_out_(std::move(left_out)) {
    for (const std::string& each : paths) named_.emplace_back(each, entry_filter(walking, callbacks, each));
  }

  result<choice> choose(const std::string& path, const folder_entry& entry) override {
    const bool is_folder = entry.kind == file_kind::directory;
    if (is_excluded(path, is_folder)) {
      ++left_out_count_;
      left_out_(is_folder ? path + '/' : path);
      return choice::leave_out;
    }
    if (is_folder) {
      ++statistics_.folders;
      return choice::enter;
    }
    ++statistics_.files;
    const bool is_first = entry.link_count < 2 || names_.insert({entry.device, entry.inode}).second;
    if (entry.kind == file_kind::regular_file && is_first) statistics_.bytes += entry.size;
    return choice::keep;
  }
  status pass_lost_entries(const std::string& folder, const status& why) override {
    return damage(folder, "entries of the folder are lost, repair the store first: " + why.message());
  }

  [[nodiscard]] std::uint64_t left_out_count() const noexcept { return left_out_count_; }
  /// Puts down how much the new tree has.
  void count_in(snapshot_statistics& statistics) const {
    statistics.files = statistics_.files;
    statistics.folders = statistics_.folders;
    statistics.bytes = statistics_.bytes;
  }

 private:
  /// Matches a path relative to the named path that it is below. Named paths match as absolute ones, and those above do not.
  [[nodiscard]] bool is_excluded(const std::string& path, bool is_folder) {
    for (auto& [named, filter] : named_) {
      if (path == named) return is_excluded_by_name(path.substr(1), is_folder);
      const std::size_t begin = named.ends_with('/') ? named.size() : named.size() + 1;
      if (path.size() > begin && path.starts_with(named) && path[begin - 1] == '/') {
        return filter.is_excluded(std::string_view(path).substr(begin), is_folder);
      }
    }
    return false;
  }
  [[nodiscard]] bool is_excluded_by_name(const std::string& path, bool is_folder) const {
    bool is_excluded = false;
    for (std::size_t i = 0; i < walking_.exclude.size(); ++i) {
      const path_pattern& pattern = walking_.exclude[i];
      if (!pattern.begins_with_slash() || !pattern.matches_absolute(path, is_folder)) continue;
      is_excluded = !pattern.is_negated();
      callbacks_.matched(i);
    }
    return is_excluded;
  }

  const walk_options& walking_;
  const walk_callbacks& callbacks_;
  std::vector<std::pair<std::string, entry_filter>> named_;  ///< by the paths of the snapshot
  std::function<void(const std::string& path)> left_out_;
  std::uint64_t left_out_count_ = 0;
  snapshot_statistics statistics_;
  std::set<std::pair<std::uint64_t, std::uint64_t>> names_;  ///< devices and inodes of files with several names
};

}  // namespace

status check_tags(const std::vector<std::string>& tags) {
  for (const std::string& each : tags) {
    if (!each.empty() && each.find(',') == std::string::npos) continue;
    return {status_code::invalid_argument, "tag '" + each + "': a tag is not empty and has no comma"};
  }
  return {};
}

result<store_edit_summary> change_tags(open_store& opened_store, const store_tag_options& options) {
  for (const auto& tags : {options.tags.value_or(std::vector<std::string>()), options.added, options.removed}) {
    CUTPOINT_RETURN_IF_FAILED(check_tags(tags));
  }
  snapshot_edit edit(opened_store, options.snapshots, options.problem, options.cancel);
  CUTPOINT_RETURN_IF_FAILED(edit.begin_session());
  return edit.run([&](const listed_snapshot& old) -> result<bool> {
    snapshot facts = old.facts;
    facts.tags.clear();
    for (const std::string& each : options.tags ? *options.tags : old.facts.tags) add_tag(facts.tags, each);
    for (const std::string& each : options.added) add_tag(facts.tags, each);
    for (const std::string& each : options.removed) std::erase(facts.tags, each);
    if (facts.tags == old.facts.tags) return false;
    CUTPOINT_TRY(const auto id, edit.commit(old, std::move(facts), true));
    if (options.edited) options.edited(old.id, id);
    return true;
  });
}

result<store_edit_summary> rewrite_snapshots(open_store& opened_store, const store_rewrite_options& options) {
  snapshot_edit edit(opened_store, options.snapshots, options.problem, options.cancel);
  std::unique_ptr<store_writer> writer;
  if (!options.is_dry_run) {
    CUTPOINT_RETURN_IF_FAILED(edit.begin_session());
    CUTPOINT_TRY(writer, edit.session().open_writer());
  }
  CUTPOINT_TRY(auto check, record_fingerprinter::fastest(opened_store.fingerprint()));
  record_reader source(opened_store.objects(), opened_store.key(), opened_store.shards(), std::move(check));
  discarding_receiver none;
  node_receiver& nodes = writer ? static_cast<node_receiver&>(writer->records) : none;
  pattern_list exclude(options.exclude);
  const walk_options walking{.exclude = options.exclude};
  walk_callbacks callbacks;
  callbacks.matched = [&](std::size_t pattern) { exclude.set_matched(pattern); };
  auto summary = edit.run([&](const listed_snapshot& old) -> result<bool> {
    exclusion filter(walking, callbacks, old.facts.paths, [&](const std::string& path) {
      if (options.left_out) options.left_out(old.id, path);
    });
    CUTPOINT_TRY(const auto root, rewrite_tree(old.facts.root, source, filter, nodes, options.cancel));
    if (filter.left_out_count() == 0) return false;
    std::string id;
    if (writer) {
      CUTPOINT_RETURN_IF_FAILED(writer->records.finish());
      snapshot facts = old.facts;
      facts.root = root;
      filter.count_in(facts.statistics);
      if (!options.replaces_originals) add_tag(facts.tags, rewrite_tag);
      CUTPOINT_TRY(id, edit.commit(old, std::move(facts), options.replaces_originals));
      static_cast<void>(
          writer->records.merge_shards());  // the snapshot is committed; a storage that has failed says so again
    }
    if (options.edited) options.edited(old.id, id);
    return true;
  });
  if (summary && options.warning) {
    exclude.visit_unmatched(
        [&](const path_pattern& pattern, const status& why) { options.warning(pattern.text(), why); });
  }
  return summary;
}

namespace {

struct level {
  folder_entry entry;
  folder_cursor old_entries;
  node_list_writer entries;
  std::size_t path_bytes;  ///< length of the folder's path with a slash at its end
};

}  // namespace

result<record_reference> rewrite_tree(const record_reference& root, node_source& source, tree_filter& filter,
                                      node_receiver& nodes, const cancellation* cancel) {
  std::string path = "/";
  std::vector<level> levels;
  levels.push_back({{}, folder_cursor(root, source), node_list_writer(node_kind::folder, nodes), path.size()});
  for (;;) {
    if (cancel != nullptr && cancel->is_requested()) return stopped_as_asked();
    path.resize(levels.back().path_bytes);
    auto next = levels.back().old_entries.next();
    if (!next && !is_damage(next.error())) return next.error();
    if (!next) {  // the cursor goes on behind the entries that are lost
      CUTPOINT_RETURN_IF_FAILED(filter.pass_lost_entries(path, next.error()));
      continue;
    }
    if (!*next) {
      CUTPOINT_TRY(const auto node, levels.back().entries.finish());
      folder_entry folder = std::move(levels.back().entry);
      levels.pop_back();
      if (levels.empty()) return node;
      folder.node = node;
      CUTPOINT_RETURN_IF_FAILED(levels.back().entries.add(folder));
      continue;
    }
    folder_entry& entry = **next;
    path += entry.name;
    CUTPOINT_TRY(const auto chosen, filter.choose(path, entry));
    if (chosen == tree_filter::choice::keep) {
      CUTPOINT_RETURN_IF_FAILED(levels.back().entries.add(entry));
    } else if (chosen == tree_filter::choice::enter) {
      if (!entry.node) return damage(path, "it is a folder without entries");
      if (path.size() >= longest_stored_path) return damage(path.substr(0, 64) + "...", "the path is too long");
      path += '/';
      const record_reference node = *entry.node;
      levels.push_back(
          {std::move(entry), folder_cursor(node, source), node_list_writer(node_kind::folder, nodes), path.size()});
      if (levels.size() > most_folders_with_nodes) {
        levels[levels.size() - 1 - most_folders_with_nodes].old_entries.release_nodes();
      }
    }
  }
}

}  // namespace cutpoint::store
