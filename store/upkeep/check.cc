// Checks a store, or a part of its data.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <cutpoint/storage.h>
#include <cutpoint/store.h>
#include <fmt/format.h>

#include "host/core/parallel.h"
#include "store/format/clock.h"
#include "store/format/failure.h"
#include "store/objects/log.h"
#include "store/objects/small_object.h"
#include "store/session/leased_session.h"
#include "store/session/tree_audit.h"
#include "store/upkeep/container_audit.h"
#include "store/upkeep/upkeep.h"

namespace cutpoint::store {

/// Moves the ids of a subset from `ids` to the result.
[[nodiscard]] std::vector<std::string> take_subset(const store_reading& store, const store_data_subset& subset,
                                                   std::vector<std::string>& ids);

namespace {

class checker {
 public:
  checker(const store_reading& store, const store_check_options& options)
      : store_(store), options_(options), meter_(options.progress) {}

  result<store_check_summary> check() {
    CUTPOINT_TRY(const auto config, read_config(store_.objects));
    CUTPOINT_RETURN_IF_FAILED(compare_configs(store_.objects, config.bytes,
                                              [&](const object_name& name, const status& why) { report(name, why); }));
    CUTPOINT_RETURN_IF_FAILED(check_log());
    CUTPOINT_RETURN_IF_FAILED(check_shards());
    CUTPOINT_RETURN_IF_FAILED(check_containers());
    CUTPOINT_RETURN_IF_FAILED(check_snapshots());
    return summary_;
  }

 private:
  void report(const object_name& name, const status& why) {
    ++summary_.object_problems;
    if (options_.object_problem) options_.object_problem(path_of(name), why);
  }

  /// Reads the log. Where entries cannot be read, all snapshots are checked, and sessions do not begin before a repair.
  status check_log() {
    CUTPOINT_TRY(const auto log,
                 log_reader_.read(store_.objects, store_.key,
                                  [&](const object_name& entry, const status& why) { report(entry, why); }));
    log_ = *log;
    CUTPOINT_TRY(const auto lost, find_lost_commits(store_, log_));
    for (const open_store::listed_snapshot& each : lost) {
      const object_name name{object_kind::snapshot, each.id};
      report(name, damage(path_of(name),
                          fmt::format("entry {} of the log was to commit it, and is not there; a repair commits it",
                                      each.facts.entry)));
    }
    return {};
  }

  status check_shards() {
    for (const std::string& each : store_.shards.damaged_shards()) {
      const object_name name{object_kind::shard, each};
      report(name, damage(path_of(name), "it cannot be used; the index can be made again"));
    }
    if (!options_.reads_data) return {};
    CUTPOINT_TRY(const auto ids, store_.objects.list(object_kind::shard));
    for (const std::string& each : ids) {
      const object_name name{object_kind::shard, each};
      auto object = store_.objects.open(name, shard::usual_end_bytes);
      if (!object && is_absence(object.error())) continue;  // merged meanwhile
      if (!object) return object.error();
      const auto shard_file = shard::open(std::move(*object), each);
      if (!shard_file && !is_damage(shard_file.error())) return shard_file.error();
      // One that cannot be opened has been reported already.
      CUTPOINT_TRY(const auto is_intact, shard_file ? shard_file->is_intact() : true);
      if (!is_intact) report(name, damage(path_of(name), "its bytes have changed"));
    }
    return {};
  }

  status check_containers() {
    CUTPOINT_TRY(auto ids, store_.objects.list(object_kind::container));
    // What a repair has condemned and what a prune has decided to remove holds nothing.
    std::erase_if(ids, [lost = log_.lost()](const std::string& id) {
      const auto name = container_name_of(id);
      return name && lost.contains(*name);
    });
    summary_.containers = ids.size();
    CUTPOINT_RETURN_IF_FAILED(check_index(ids));
    if (options_.reads_data) {
      const std::vector<std::string> read = take_subset(store_, options_.subset, ids);
      summary_.read_containers = read.size();
      meter_.begin("reading containers", read.size());
      const auto note = [&](const audited_container& each, const container_auditor&) {
        summary_.records += each.whole.records.size();
        for (const digest& lost : each.lost_chunks) lost_.insert({to_hex(lost), each.id});
        meter_.add(1, each.bytes, each.id);
        if (!each.outcome.ok()) report({object_kind::container, each.id}, each.outcome);
        return status();
      };
      CUTPOINT_RETURN_IF_FAILED(audit_containers(store_, read, options_.threads, options_.cancel, note));
    }
    meter_.begin("reading tables of containers", ids.size());
    std::mutex mutex;
    return try_parallel(store_.objects.parallel_requests(), ids.size(), [&](std::size_t, std::size_t i) -> status {
      if (options_.cancel != nullptr && options_.cancel->is_requested()) return stopped_as_asked();
      const auto table = read_container_table(store_.objects, ids[i], store_.key);
      const std::lock_guard lock(mutex);
      meter_.add(1, 0, ids[i]);
      if (table) summary_.records += table->records.size();
      if (table || is_absence(table.error())) return {};
      if (!is_damage(table.error())) return table.error();
      report({object_kind::container, ids[i]}, table.error());
      return {};
    });
  }

  /// Containers that no shard names are those of sessions that have leases. Without any shard the next session makes the index
  /// again.
  status check_index(std::vector<std::string> ids) {
    CUTPOINT_TRY(const auto leases, list_leases(store_.objects, store_.key));
    CUTPOINT_RETURN_IF_FAILED(store_.shards.refresh());
    if (store_.shards.shards().empty()) return {};
    store_.shards.leave_unnamed(ids);
    std::set<std::string_view> sessions;
    for (const listed_lease& each : leases) sessions.insert(session_of(each.id));
    for (const std::string& each : ids) {
      const object_name name{object_kind::container, each};
      if (sessions.contains(session_of(each)) || !store_.objects.size(name)) continue;
      report(name, damage("the index", "no shard names " + path_of(name) + "; a repair puts one"));
    }
    return {};
  }

  status check_snapshots() {
    CUTPOINT_TRY(const auto digest_bytes, store_.digest_bytes());
    CUTPOINT_TRY(auto trees, tree_audit::make(store_, lost_, options_.cancel));
    meter_.begin("checking snapshots", log_.snapshots.size());
    std::map<std::string, result<record_reference>> roots;  // by the ids of the snapshots that exist
    const std::vector<std::string> ids(log_.snapshots.begin(), log_.snapshots.end());
    const auto take = [&](const std::string& id, const result<snapshot>& facts) -> status {
      if (facts) roots.emplace(id, facts->root);
      if (facts || is_absence(facts.error())) return {};
      roots.emplace(id, facts.error());
      return is_damage(facts.error()) ? status() : facts.error();
    };
    CUTPOINT_RETURN_IF_FAILED(read_snapshots(store_.objects, ids, digest_bytes, store_.key, take));
    for (const auto& each : roots) {
      const std::string& id = each.first;
      const result<record_reference>& root = each.second;
      meter_.add(1, 0, id);
      ++summary_.snapshots;
      if (!root) {
        report({object_kind::snapshot, id}, root.error());
        continue;
      }
      bool is_removed = false;
      const auto whole = trees.audit(*root, [&](const std::string& path, const status& why) {
        // Another process may remove or replace a snapshot, and then what only that refers to.
        is_removed = is_removed || !is_committed(id);
        if (is_removed) return;
        ++summary_.file_problems;
        if (options_.file_problem) options_.file_problem(id, path, why);
      });
      if (!whole) return whole.error();
      if (is_removed) --summary_.snapshots;
    }
    summary_.moved_chunks = trees.moved_chunks();
    return {};
  }

  /// Asked for each file that is damaged.
  [[nodiscard]] bool is_committed(const std::string& id) {
    const auto size = store_.objects.size({object_kind::snapshot, id});
    if (!size && is_absence(size.error())) return false;
    const auto now = log_reader_.read(store_.objects, store_.key, [](auto&&...) {});
    return !now || (*now)->snapshots.contains(id);
  }

  const store_reading& store_;
  const store_check_options& options_;
  log_reader log_reader_;
  store_log log_;  ///< as it was when the check began
  store_check_summary summary_;
  progress_meter meter_;
  lost_records lost_;
};

}  // namespace

result<store_check_summary> check_store(const store_reading& store, const store_check_options& options) {
  return checker(store, options).check();
}

namespace {

/// FNV-1a: the same on all machines and in all releases, so that subsets in turn read everything once.
std::uint64_t hash_of(std::string_view id) noexcept {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char each : id) hash = (hash ^ static_cast<unsigned char>(each)) * 0x100000001b3;
  return hash;
}

}  // namespace

std::vector<std::string> take_subset(const store_reading& store, const store_data_subset& subset,
                                     std::vector<std::string>& ids) {
  std::vector<std::string> chosen;
  std::vector<std::string> rest;
  for (std::string& each : ids) {
    const bool is_in_subset = hash_of(each) % subset.subset_count == subset.number - 1;
    (is_in_subset ? chosen : rest).push_back(std::move(each));
  }
  std::size_t count = chosen.size();
  if (subset.share < 1 || subset.most_bytes != UINT64_MAX) {
    std::ranges::shuffle(chosen, std::mt19937_64(std::random_device()()));
    count = std::min(count, static_cast<std::size_t>(std::ceil(subset.share * static_cast<double>(count))));
  }
  if (subset.most_bytes != UINT64_MAX) {
    const std::vector<shard_container> named = store.shards.containers();  // which spares a request for each
    const auto bytes_of = [&](const std::string& id) -> std::uint64_t {
      const auto name = container_name_of(id).value_or(container_name());
      const auto position = std::ranges::lower_bound(named, name, {}, &shard_container::name);
      if (position != named.end() && position->name == name) return position->bytes;
      const auto size = store.objects.size({object_kind::container, id});
      return size ? *size : 0;
    };
    std::uint64_t bytes = 0;
    for (std::size_t i = 0; i < count; ++i) {
      bytes += bytes_of(chosen[i]);
      if (i != 0 && bytes > subset.most_bytes) count = i;
    }
  }
  std::move(chosen.begin() + static_cast<std::ptrdiff_t>(count), chosen.end(), std::back_inserter(rest));
  chosen.resize(count);
  ids = std::move(rest);
  return chosen;
}

}  // namespace cutpoint::store
