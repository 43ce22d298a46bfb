#include "store/report/store_report.h"

#include <cmath>
#include <utility>

#include "store/format/failure.h"
#include "store/index/shard_rebuild.h"
#include "store/prune/live_records.h"
#include "store/prune/removal.h"
#include "store/report/snapshot_survey.h"

namespace cutpoint::store {

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
    const auto snapshots = opened_store_.snapshots(options_.problem);
    if (!snapshots) return snapshots.error();
    if (status mapped = opened_store_.reopen_shards(); !mapped.ok()) return mapped;
    marking_options marking;
    marking.threads = options_.threads;
    marking.cancel = options_.cancel;
    const auto log = opened_store_.read_log([](const object_name&, const status&) {});
    if (!log) return log.error();
    marking.lost = log->lost();
    const auto live = mark_snapshots(opened_store_, *snapshots, marking);
    if (!live) return live.error();
    for (std::size_t i = 0; i < live->container_count(); ++i) {
      if (options_.cancel != nullptr && options_.cancel->is_requested()) return stopped_as_asked();
      if (status counted = count_container(*live, i); !counted.ok()) return counted;
    }
    if (snapshots->empty()) return report_;
    if (status surveyed = survey(snapshots->back(), report_.newest); !surveyed.ok()) return surveyed;
    if (snapshots->size() == 1) {
      report_.oldest = report_.newest;
    } else if (status surveyed = survey(snapshots->front(), report_.oldest); !surveyed.ok()) {
      return surveyed;
    }
    return report_;
  }

 private:
  status count_container(const live_records& live, std::size_t container) {
    const object_name name{object_kind::container, id_of(live.name(container))};
    const auto table = read_container_table(opened_store_.objects(), name.id, opened_store_.key());
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
    auto survey =
        survey_snapshot(opened_store_.reading(), opened_store_.config().context, snapshot.facts.root, options_.cancel);
    if (!survey) return survey.error();
    layout = std::move(survey->layout);
    layout.id = snapshot.id;
    if (&layout == &report_.newest) report_.kinds = std::move(survey->kinds);
    return {};
  }

  open_store& opened_store_;
  const store_report_options& options_;
  store_report report_;
};

}  // namespace

result<store_report> report_store(open_store& opened_store, const store_report_options& options) {
  return reporter(opened_store, options).report();
}

}  // namespace cutpoint::store
