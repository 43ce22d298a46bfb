// Reports what the containers of a store have, and how snapshots lie in them.
#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include <cutpoint/context.h>
#include <cutpoint/dedup.h>
#include <cutpoint/store_report.h>

#include "host/core/parallel.h"
#include "store/format/failure.h"
#include "store/index/shard_writer.h"
#include "store/session/store_reading.h"
#include "store/upkeep/live_records.h"
#include "store/upkeep/removal.h"
#include "store/upkeep/upkeep.h"

namespace cutpoint::store {

// Finds where the contents of a snapshot's files are.

struct snapshot_survey {
  snapshot_layout layout;  ///< without the id
  std::vector<kind_totals> kinds;
};

/// Walks a tree. Memory: a bit for each record of the containers that have chunks of it, and what a walk takes. Errors:
/// damage; those of the storage; cancelled.
[[nodiscard]] result<snapshot_survey> survey_snapshot(const store_reading& store, const chunking_context& context,
                                                      const record_reference& root, const cancellation* cancel);

namespace {

class reporter {
 public:
  reporter(open_store& opened_store, const store_report_options& options)
      : opened_store_(opened_store), options_(options) {}

  result<store_report> report() {
    for (std::size_t i = 0; i < live_share_bin_count; ++i) {
      report_.live_shares[i].at_most = static_cast<double>(i) / (live_share_bin_count - 1);
    }
    // Snapshots are durable after the shards that they need, and these after their containers.
    CUTPOINT_TRY(const auto snapshots, opened_store_.snapshots(options_.problem));
    CUTPOINT_RETURN_IF_FAILED(opened_store_.reopen_shards());
    marking_options marking;
    marking.threads = options_.threads;
    marking.cancel = options_.cancel;
    CUTPOINT_TRY(const auto log, opened_store_.read_log([](const object_name&, const status&) {}));
    marking.lost = log.lost();
    CUTPOINT_TRY(const auto live, mark_snapshots(opened_store_, snapshots, marking));
    CUTPOINT_RETURN_IF_FAILED(try_parallel(opened_store_.objects().parallel_requests(), live.container_count(),
                                           [&](std::size_t, std::size_t i) { return count_container(live, i); }));
    if (snapshots.empty()) return report_;
    CUTPOINT_RETURN_IF_FAILED(survey(snapshots.back(), report_.newest));
    if (snapshots.size() == 1) {
      report_.oldest = report_.newest;
    } else
      CUTPOINT_RETURN_IF_FAILED(survey(snapshots.front(), report_.oldest));
    return report_;
  }

 private:
  status count_container(const live_records& live, std::size_t container) {
    if (options_.cancel != nullptr && options_.cancel->is_requested()) return stopped_as_asked();
    const object_name name{object_kind::container, id_of(live.name(container))};
    const auto table = read_container_table(opened_store_.objects(), name.id, opened_store_.key());
    const std::lock_guard lock(mutex_);
    if (!table && is_absence(table.error())) return {};  // it was pruned meanwhile
    if (!table && is_damage(table.error())) {
      if (options_.problem) options_.problem(path_of(name), table.error());
      return {};
    }
    if (!table) return table.error();
    std::uint64_t bytes = 0;
    std::uint64_t live_bytes = 0;
    for (std::uint32_t i = 0; i < table->records.size(); ++i) {
      const record_description& record = table->records[i].description;
      if (record.kind == record_kind::padding) continue;
      record_totals& totals = record.kind == record_kind::chunk ? report_.chunks : report_.nodes;
      const std::size_t whole_bytes = record_bytes(record.stored_bytes);
      ++totals.count;
      totals.raw_bytes += record.raw_bytes;
      totals.stored_bytes += record.stored_bytes;
      bytes += whole_bytes;
      if (!live.is_live(container, i)) continue;
      ++totals.live_count;
      totals.live_stored_bytes += record.stored_bytes;
      live_bytes += whole_bytes;
    }
    const double share = bytes == 0 ? 0 : static_cast<double>(live_bytes) / static_cast<double>(bytes);
    auto& bin = report_.live_shares[static_cast<std::size_t>(std::ceil(share * (live_share_bin_count - 1)))];
    ++bin.containers;
    bin.bytes += table->container_bytes;
    return {};
  }

  status survey(const open_store::listed_snapshot& snapshot, snapshot_layout& layout) {
    CUTPOINT_TRY(auto survey, survey_snapshot(opened_store_.reading(), opened_store_.config().context,
                                              snapshot.facts.root, options_.cancel));
    layout = std::move(survey.layout);
    layout.id = snapshot.id;
    if (&layout == &report_.newest) report_.kinds = std::move(survey.kinds);
    return {};
  }

  open_store& opened_store_;
  const store_report_options& options_;
  std::mutex mutex_;  ///< for the report while containers are counted
  store_report report_;
};

}  // namespace

result<store_report> report_store(open_store& opened_store, const store_report_options& options) {
  return reporter(opened_store, options).report();
}

namespace {

class surveyor {
 public:
  surveyor(const store_reading& store, const chunking_context& context, record_fingerprinter check)
      : store_(store), context_(context), nodes_(store.objects, store.key, store.shards, std::move(check)) {}

  result<snapshot_survey> survey(const record_reference& root, const cancellation* cancel) {
    folder_entry top;
    top.kind = file_kind::directory;
    top.node = root;
    const status walked =
        visit_tree(top, "/", nodes_, [&](const std::string& path, const folder_entry& entry) -> status {
          if (cancel != nullptr && cancel->is_requested()) return stopped_as_asked();
          return entry.kind == file_kind::regular_file ? add(path, entry) : status();
        });
    if (!walked.ok()) return walked;
    survey_.layout.containers = seen_.size();
    for (auto& [rule_and_name, kind] : kinds_) {
      kind.class_name = context_.class_name(rule_and_name.first);
      kind.kind = rule_and_name.second;
      survey_.kinds.push_back(kind);
    }
    std::ranges::stable_sort(survey_.kinds, std::greater(), &kind_totals::bytes);
    return survey_;
  }

 private:
  status add(const std::string& path, const folder_entry& file) {
    if (file.link_count > 1 && !linked_files_.insert({file.device, file.inode}).second) return {};
    kind_totals& kind = kinds_[{context_.rule_of(path), kind_of_file(path)}];
    ++kind.files;
    kind.bytes += file.size;
    const status visited = visit_file(file, 0, UINT64_MAX, nodes_, [&](const stored_extent& extent, std::uint64_t) {
      if (extent.kind == extent_kind::hole) return status();
      survey_.layout.bytes += extent.bytes();
      chunks_.push_back(extent.record.content);
      return chunks_.size() < located_at_once ? status() : locate(kind);
    });
    return visited.ok() ? locate(kind) : visited;
  }

  status locate(kind_totals& kind) {
    located_.assign(chunks_.size(), std::nullopt);
    CUTPOINT_RETURN_IF_FAILED(store_.shards.locate(record_kind::chunk, chunks_, located_));
    for (std::size_t i = 0; i < located_.size(); ++i) {
      if (!located_[i]) return damage("the record " + to_hex(chunks_[i]), "no container has it");
      std::vector<bool>& seen = seen_[located_[i]->container->id];
      if (seen.size() <= located_[i]->ordinal) seen.resize(located_[i]->ordinal + std::size_t{1});
      if (seen[located_[i]->ordinal]) continue;
      seen[located_[i]->ordinal] = true;
      const std::uint64_t bytes = located_[i]->place.description.stored_bytes;
      survey_.layout.stored_bytes += bytes;
      kind.stored_bytes += bytes;
    }
    chunks_.clear();
    return {};
  }

  const store_reading& store_;
  const chunking_context& context_;
  record_reader nodes_;
  snapshot_survey survey_;
  std::map<std::pair<std::size_t, std::string>, kind_totals> kinds_;  ///< by rules and names
  std::set<std::pair<std::uint64_t, std::uint64_t>> linked_files_;    ///< with several names, by device and inode
  std::unordered_map<std::string, std::vector<bool>> seen_;           ///< records of each container, by its id
  std::vector<digest> chunks_;                                        ///< that are not located yet
  std::vector<std::optional<found_record>> located_;
};

}  // namespace

result<snapshot_survey> survey_snapshot(const store_reading& store, const chunking_context& context,
                                        const record_reference& root, const cancellation* cancel) {
  CUTPOINT_TRY(auto check, store.make_fingerprinter());
  return surveyor(store, context, std::move(check)).survey(root, cancel);
}

}  // namespace cutpoint::store
