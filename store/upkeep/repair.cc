// Stores whole records of damaged containers again, and snapshots without what is lost.
#include <algorithm>
#include <set>
#include <utility>

#include "store/format/failure.h"
#include "store/index/shard_writer.h"
#include "store/session/leased_session.h"
#include "store/session/tree_audit.h"
#include "store/upkeep/container_audit.h"
#include "store/upkeep/upkeep.h"

namespace cutpoint::store {

namespace {

class repairer {
 public:
  repairer(open_store& opened_store, const store_repair_options& options)
      : opened_store_(opened_store), options_(options) {}

  result<store_repair_summary> repair() {
    CUTPOINT_RETURN_IF_FAILED(mend_config());
    CUTPOINT_RETURN_IF_FAILED(mend_log());
    CUTPOINT_RETURN_IF_FAILED(commit_lost_snapshots());
    CUTPOINT_RETURN_IF_FAILED(complete_index());
    CUTPOINT_RETURN_IF_FAILED(condemn_containers());
    CUTPOINT_RETURN_IF_FAILED(replace_snapshots());
    return summary_;
  }

 private:
  void report(const object_name& name, const status& why, std::uint64_t saved) {
    ++summary_.damaged_objects;
    summary_.saved_records += saved;
    if (options_.damaged) options_.damaged(path_of(name), why, saved);
  }
  [[nodiscard]] storage& objects() const { return opened_store_.objects(); }
  /// Returns the ids of the containers that exist and count.
  [[nodiscard]] result<std::vector<std::string>> list_containers(const store_log& log) const {
    CUTPOINT_TRY(auto ids, objects().list(object_kind::container));
    std::erase_if(ids, [lost = log.lost()](const std::string& id) {
      const auto name = container_name_of(id);
      return !name || lost.contains(*name);
    });
    return ids;
  }

  status mend_config();
  status mend_log();
  status commit_lost_snapshots();
  status complete_index();
  status condemn_containers();
  status save(const audited_container& audited, const container_auditor& auditor, record_writer& records);
  status replace_snapshots();
  status replace(const open_store::listed_snapshot& old, tree_audit& trees, leased_session& session,
                 store_writer& writer);

  open_store& opened_store_;
  const store_repair_options& options_;
  store_repair_summary summary_;
  std::set<container_name> damaged_containers_;
};

/// Puts the config, or its copy, again where it is missing or damaged.
status repairer::mend_config() {
  std::vector<std::pair<object_name, status>> damaged;
  CUTPOINT_RETURN_IF_FAILED(
      compare_configs(objects(), opened_store_.config_bytes(),
                      [&](const object_name& name, const status& why) { damaged.emplace_back(name, why); }));
  for (const auto& [name, why] : damaged) {
    report(name, why, 0);
    CUTPOINT_RETURN_IF_FAILED(remove_object(objects(), name));
    CUTPOINT_RETURN_IF_FAILED(objects().sync());
    CUTPOINT_RETURN_IF_FAILED(objects().put(name, opened_store_.config_bytes()));
    CUTPOINT_RETURN_IF_FAILED(objects().sync());
  }
  return {};
}

/// Sums the log up by a decision that removes nothing, if entries of it cannot be read. Nobody knows what they have committed,
/// so all snapshots count that can be read; those that are not whole are replaced like others.
status repairer::mend_log() {
  for (std::set<std::string> reported;;) {
    std::vector<std::pair<object_name, status>> damaged;
    CUTPOINT_TRY(auto log, opened_store_.read_log(
                               [&](const object_name& entry, const status& why) { damaged.emplace_back(entry, why); }));
    if (damaged.empty()) return {};
    for (const auto& [entry, why] : damaged) {
      if (reported.insert(entry.id).second) report(entry, why, 0);
    }
    log_entry summary;
    summary.kind = log_entry_kind::decision;
    summary.removed_containers = log.decided;
    summary.condemned_containers = log.condemned;
    summary.removed_keys = log.removed_keys;
    summary.snapshots = log.snapshots;
    const auto number =
        append_to_log(*opened_store_.open_storage_of(new_session_id()), opened_store_.key(), log, summary);
    if (!number) return number.error();
  }
}

/// Commits the snapshots whose entries of the log are lost. Those that are not whole are replaced like others.
status repairer::commit_lost_snapshots() {
  CUTPOINT_TRY(const auto log, opened_store_.read_log());
  CUTPOINT_TRY(const auto lost, find_lost_commits(opened_store_.reading(), log));
  if (lost.empty()) return {};
  log_entry commit;
  for (const open_store::listed_snapshot& each : lost) {
    const object_name name{object_kind::snapshot, each.id};
    report(name, damage(path_of(name), "the entry of the log that commits it was lost"), 0);
    commit.snapshots.insert(each.id);
  }
  CUTPOINT_TRY(const auto session, leased_session::begin(opened_store_));
  return append_change(*session, commit);
}

/// Puts shards for the containers that no whole shard names, and then removes the shards that are damaged: a shard that is
/// missing must not make records look lost.
status repairer::complete_index() {
  CUTPOINT_RETURN_IF_FAILED(opened_store_.reopen_shards());
  std::vector<std::string> damaged = opened_store_.shards().damaged_shards();
  std::set<container_name> indexed;
  for (const shard& each : opened_store_.shards().shards()) {
    CUTPOINT_TRY(const auto is_intact, each.is_intact());
    if (!is_intact) {
      damaged.push_back(each.id());
      continue;
    }
    for (std::uint32_t i = 0; i < each.container_count(); ++i) indexed.insert(each.container_at(i).name);
  }
  CUTPOINT_TRY(const auto log, opened_store_.read_log());
  CUTPOINT_TRY(auto containers, list_containers(log));
  std::erase_if(containers, [&](const std::string& id) { return indexed.contains(*container_name_of(id)); });
  CUTPOINT_RETURN_IF_FAILED(put_shards_of(objects(), opened_store_.key(), containers));
  CUTPOINT_RETURN_IF_FAILED(objects().sync());
  for (const std::string& each : damaged) {
    const object_name name{object_kind::shard, each};
    report(name, damage(path_of(name), "its entries were read from the containers again"), 0);
    // Where it cannot be removed, it is passed over by everybody but a prune, which needs the right to remove it.
    if (objects().may_remove(name.kind)) CUTPOINT_RETURN_IF_FAILED(remove_object(objects(), name));
  }
  return objects().sync();
}

/// Stores the whole records of damaged containers again, and then condemns the containers.
status repairer::condemn_containers() {
  CUTPOINT_TRY(const auto session, leased_session::begin(opened_store_));
  CUTPOINT_TRY(const auto ids, list_containers(session->log()));
  CUTPOINT_TRY(auto records, session->open_records());
  CUTPOINT_RETURN_IF_FAILED(audit_containers(opened_store_.reading(), ids, options_.threads, options_.cancel,
                                             [&](const audited_container& each, const container_auditor& auditor) {
                                               return each.outcome.ok() ? status() : save(each, auditor, records);
                                             }));
  CUTPOINT_RETURN_IF_FAILED(records.finish());
  if (damaged_containers_.empty()) return {};
  log_entry condemnation;
  condemnation.condemned_containers = damaged_containers_;
  // The copies must exist still: a prune that takes the repair for dead sees them as containers that nothing refers to.
  return append_change(*session, condemnation, [&](const store_log& log) -> status {
    if (log.decision == session->log().decision) return {};
    const std::set<container_name> lost = log.lost();
    for (const container_name& each : records.put_containers()) {
      const auto size = lost.contains(each) ? result<std::uint64_t>(status(status_code::io_error, "", ENOENT))
                                            : objects().size({object_kind::container, id_of(each)});
      if (!size && is_absence(size.error())) {
        return {status_code::unavailable,
                "a prune has removed what the repair had saved; nothing was changed: repair again"};
      }
      if (!size) return size.error();
    }
    return {};
  });
}

status repairer::save(const audited_container& audited, const container_auditor& auditor, record_writer& records) {
  compressor compress(std::max<int>(opened_store_.config().level, 1));
  for (const placed_record& each : audited.whole.records) {
    CUTPOINT_TRY(const auto content, auditor.content(each));
    std::vector<std::uint8_t> frame;
    const bool pays = opened_store_.config().codec == record_codec::zstd && compress.compress(content, frame);
    const byte_span payload = pays ? byte_span(frame) : byte_span(content);
    record_description description = each.description;
    description.codec = pays ? record_codec::zstd : record_codec::none;
    description.stored_bytes = static_cast<std::uint32_t>(payload.size());
    const auto hint = records.append(description, payload);
    if (!hint) return hint.error();
  }
  if (const auto name = container_name_of(audited.id)) damaged_containers_.insert(*name);
  report({object_kind::container, audited.id}, audited.outcome, audited.whole.records.size());
  return {};
}

/// Chooses what can be read of a tree that was audited.
class whole_entries final : public tree_filter {
 public:
  explicit whole_entries(tree_audit& audited) : audited_(audited) {}

  result<choice> choose(const std::string& path, const folder_entry& entry) override {
    if (entry.kind == file_kind::directory) {
      if (!entry.node) return choice::leave_out;
      if (audited_.is_whole_folder(*entry.node)) return choice::keep;
      return path.size() < longest_stored_path ? choice::enter : choice::leave_out;
    }
    const status whole = audited_.audit_file(entry);
    if (!whole.ok() && !is_damage(whole)) return whole;
    return whole.ok() ? choice::keep : choice::leave_out;
  }
  status pass_lost_entries(const std::string&, const status&) override { return {}; }

 private:
  tree_audit& audited_;
};

/// Replaces the snapshots that lost files.
status repairer::replace_snapshots() {
  CUTPOINT_TRY(const auto session, leased_session::begin(opened_store_));
  // A container that a prune proposes may have the only whole copy of a record. If a snapshot needs it, the prune finds out.
  CUTPOINT_RETURN_IF_FAILED(opened_store_.reopen_shards());
  std::vector<std::pair<std::string, status>> unreadable;
  CUTPOINT_TRY(const auto snapshots,
               opened_store_.snapshots(session->log(), [&](const std::string& path, const status& why) {
                 unreadable.emplace_back(path, why);
               }));
  log_entry removal;
  for (const auto& [path, why] : unreadable) {
    if (!is_damage(why)) return why;
    const object_name name{object_kind::snapshot, path.substr(path.find('/') + 1)};
    report(name, why, 0);
    removal.removed_snapshots.insert(name.id);
  }
  if (!unreadable.empty()) CUTPOINT_RETURN_IF_FAILED(append_change(*session, removal));
  const lost_records none;
  CUTPOINT_TRY(auto trees, tree_audit::make(opened_store_.reading(), none, options_.cancel));
  CUTPOINT_TRY(auto writer, session->open_writer());
  for (const auto& each : snapshots) CUTPOINT_RETURN_IF_FAILED(replace(each, trees, *session, *writer));
  return {};
}

/// Puts a snapshot in the place of one that lost files. It does not if the rest of the tree is the whole tree: what was lost
/// had no entries, and is there again.
status repairer::replace(const open_store::listed_snapshot& old, tree_audit& trees, leased_session& session,
                         store_writer& writer) {
  status failure;  // that is no damage: it may pass, and must cost no file
  CUTPOINT_TRY(const auto is_whole, trees.audit(old.facts.root, [&](const std::string&, const status& why) {
    if (!is_damage(why)) failure = why;
  }));
  if (!failure.ok()) return failure;
  if (is_whole) return {};
  whole_entries rest(trees);
  CUTPOINT_TRY(const auto root, rewrite_tree(old.facts.root, trees.nodes(), rest, writer.records, options_.cancel));
  CUTPOINT_RETURN_IF_FAILED(writer.records.finish());
  if (root.content == old.facts.root.content && root.raw_bytes == old.facts.root.raw_bytes) return {};
  const auto reported = trees.audit(old.facts.root, [&](const std::string& path, const status& why) {
    ++summary_.lost_files;
    if (options_.lost) options_.lost(old.id, path, why);
  });
  if (!reported) return reported.error();
  snapshot facts = old.facts;
  facts.root = root;
  facts.is_incomplete = true;
  const auto committed = commit_snapshot(session, std::move(facts), original_snapshot{old.id});
  if (!committed && is_absence(committed.error())) return {};  // somebody has removed it meanwhile
  if (!committed) return committed.error();
  static_cast<void>(
      writer.records.merge_shards());  // the snapshot is committed; a storage that has failed says so again
  ++summary_.replaced_snapshots;
  if (options_.replaced) options_.replaced(old.id, committed->id);
  return {};
}

}  // namespace

result<store_repair_summary> repair_store(open_store& opened_store, const store_repair_options& options) {
  return repairer(opened_store, options).repair();
}

}  // namespace cutpoint::store
