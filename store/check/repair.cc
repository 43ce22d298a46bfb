#include "store/check/repair.h"

#include <algorithm>
#include <map>
#include <set>

#include "store/check/container_audit.h"
#include "store/check/tree_audit.h"
#include "store/check/tree_rewrite.h"
#include "store/format/failure.h"
#include "store/index/shard_rebuild.h"
#include "store/objects/snapshot.h"
#include "store/session/session_writer.h"

namespace cutpoint::store {

namespace {

class repairer {
 public:
  repairer(const store_reading& store, const store_config& config, const repair_options& options)
      : store_(store), config_(config), options_(options) {}

  result<repair_summary> repair() {
    if (status saved = save_records(); !saved.ok()) return saved;
    if (status outcome = make_index(); !outcome.ok()) return outcome;
    if (status replaced = replace_snapshots(); !replaced.ok()) return replaced;
    if (status removed = remove(object_kind::container, damaged_containers_); !removed.ok()) return removed;
    return summary_;
  }

 private:
  void report(const object_name& name, const status& why, std::uint64_t saved) {
    ++summary_.damaged_objects;
    summary_.saved_records += saved;
    if (options_.events.damaged) options_.events.damaged(path_of(name), why, saved);
  }

  status save_records();
  status save(const audited_container& audited, const container_auditor& auditor, record_writer& records);
  status make_index();
  status replace_snapshots();
  result<bool> replace(const std::string& id, snapshot facts, tree_audit& trees, session_writer& writer);
  /// Removes objects when everything before is durable.
  status remove(object_kind kind, const std::vector<std::string>& ids) {
    if (ids.empty()) return {};
    if (status synced = store_.objects.sync(); !synced.ok()) return synced;
    for (const std::string& each : ids) {
      if (status removed = store_.objects.remove({kind, each}); !removed.ok()) return removed;
    }
    return store_.objects.sync();
  }

  const store_reading& store_;
  const store_config& config_;
  const repair_options& options_;
  repair_summary summary_;
  std::vector<std::string> damaged_containers_;
  std::map<std::string, snapshot> snapshots_;  ///< by id
};

/// Stores the whole records of damaged containers again.
status repairer::save_records() {
  const auto ids = store_.objects.list(object_kind::container);
  if (!ids) return ids.error();
  auto records = record_writer::make(store_.objects, store_.key, config_.container_bytes);
  if (!records) return records.error();
  const status audited = audit_containers(store_, *ids, options_.threads, options_.cancel,
                                          [&](const audited_container& each, const container_auditor& auditor) {
                                            return each.outcome.ok() ? status() : save(each, auditor, *records);
                                          });
  if (!audited.ok()) return audited;
  const auto shards = records->finish();
  return shards ? status() : shards.error();
}

status repairer::save(const audited_container& audited, const container_auditor& auditor, record_writer& records) {
  compressor compress(std::max<int>(config_.level, 1));
  for (const placed_record& each : audited.whole.records) {
    const auto content = auditor.content(each);
    if (!content) return content.error();
    std::vector<std::uint8_t> frame;
    const bool pays = config_.codec == record_codec::zstd && compress.compress(*content, frame);
    const byte_span payload = pays ? byte_span(frame) : byte_span(*content);
    record_description description = each.description;
    description.codec = pays ? record_codec::zstd : record_codec::none;
    description.stored_bytes = static_cast<std::uint32_t>(payload.size());
    const auto hint = records.append(description, payload);
    if (!hint) return hint.error();
  }
  damaged_containers_.push_back(audited.id);
  report({object_kind::container, audited.id}, audited.outcome, audited.whole.records.size());
  return {};
}

/// Puts shards with the records of all containers that are not damaged, and then removes those that were there before. A
/// shard that is missing must not make records look lost.
status repairer::make_index() {
  const auto old_shards =
      store_.objects.list(object_kind::shard);  // before the containers, which later shards may name
  if (!old_shards) return old_shards.error();
  auto containers = store_.objects.list(object_kind::container);
  if (!containers) return containers.error();
  std::erase_if(*containers, [&](const auto& each) { return std::ranges::count(damaged_containers_, each) != 0; });
  if (status put = put_shards_of(store_.objects, store_.key, *containers); !put.ok()) return put;
  return remove(object_kind::shard, *old_shards);
}

/// Replaces the snapshots that lost files.
status repairer::replace_snapshots() {
  const auto ids = store_.objects.list(object_kind::snapshot);
  if (!ids) return ids.error();
  const auto digest_bytes = store_.digest_bytes();
  if (!digest_bytes) return digest_bytes.error();
  std::vector<std::string> removed;
  for (const std::string& id : *ids) {
    auto facts = read_snapshot(store_.objects, id, *digest_bytes, store_.key);
    if (facts) {
      snapshots_.emplace(id, std::move(*facts));
    } else if (is_damage(facts.error())) {
      report({object_kind::snapshot, id}, facts.error(), 0);
      removed.push_back(id);
    } else {
      return facts.error();
    }
  }
  // The shards that `store_` has open name containers that are damaged.
  table_cache tables(store_.objects, store_.key, table_cache::usual_bytes);
  auto reading = shard_index::open(store_.objects, store_.key.kind(), tables);
  if (!reading) return reading.error();
  const lost_records none;
  auto trees =
      tree_audit::make({store_.objects, store_.key, *reading, store_.make_fingerprinter}, none, options_.cancel);
  if (!trees) return trees.error();
  auto node_names = store_.make_fingerprinter();
  if (!node_names) return node_names.error();
  auto writer = session_writer::open(config_, store_.objects, store_.key, tables, *std::move(node_names));
  if (!writer) return writer.error();
  const std::map<std::string, snapshot> before = snapshots_;
  for (const auto& [id, facts] : before) {
    const auto replaced = replace(id, facts, *trees, **writer);
    if (!replaced) return replaced.error();
    if (*replaced) removed.push_back(id);
  }
  return remove(object_kind::snapshot, removed);
}

/// Puts a snapshot in the place of one that lost files. Returns whether it did. It does not if the rest of the tree is the
/// whole tree: what was lost had no entries, and is there again.
result<bool> repairer::replace(const std::string& id, snapshot facts, tree_audit& trees, session_writer& writer) {
  status failure;  // that is no damage: it may pass, and must cost no file
  const auto is_whole = trees.audit(facts.root, [&](const std::string&, const status& why) {
    if (!is_damage(why)) failure = why;
  });
  if (!is_whole) return is_whole.error();
  if (!failure.ok()) return failure;
  if (*is_whole) return false;
  const auto root = write_rest_of_tree(facts.root, trees, writer.records, options_.cancel);
  if (!root) return root.error();
  if (status finished = writer.records.finish(); !finished.ok()) return finished;
  if (root->content == facts.root.content && root->raw_bytes == facts.root.raw_bytes) return false;
  const auto reported = trees.audit(facts.root, [&](const std::string& path, const status& why) {
    ++summary_.lost_files;
    if (options_.events.lost) options_.events.lost(id, path, why);
  });
  if (!reported) return reported.error();
  facts.root = *root;
  facts.is_incomplete = true;
  // A repair that was interrupted may have put it already. References are equal whatever their hints are.
  std::string new_id;
  for (const auto& [other_id, other] : snapshots_) {
    snapshot same = other;
    same.root.hint = root->hint;
    if (same == facts) new_id = other_id;
  }
  if (new_id.empty()) {
    auto put = put_snapshot(store_.objects, facts, store_.key);
    if (!put) return put.error();
    new_id = std::move(*put);
    snapshots_.emplace(new_id, facts);
  }
  ++summary_.replaced_snapshots;
  if (options_.events.replaced) options_.events.replaced(id, new_id);
  return true;
}

}  // namespace

result<repair_summary> repair_store(const store_reading& store, const store_config& config,
                                    const repair_options& options) {
  return repairer(store, config, options).repair();
}

}  // namespace cutpoint::store
