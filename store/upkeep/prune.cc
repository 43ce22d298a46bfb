// Removes what no snapshot refers to, beside running sessions.
#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>

#include "host/core/parallel.h"
#include "store/format/failure.h"
#include "store/session/leased_session.h"
#include "store/session/records.h"
#include "store/upkeep/live_records.h"
#include "store/upkeep/removal.h"
#include "store/upkeep/upkeep.h"

namespace cutpoint::store {

namespace {

/// A container is small if it has less than this part of the bytes to which containers are filled.
constexpr std::uint64_t small_share = 8;

/// So many small containers are merged. Fewer stay, so that backups of little data do not have it copied each time.
constexpr std::size_t least_merged = 8;

/// A log with more entries that count is summed up, also where nothing else is to be done.
constexpr std::uint64_t most_entries = 1000;

/// A container that may be removed, perhaps after its live records were copied.
struct removable_container {
  std::size_t index = 0;  ///< in the marks
  std::uint64_t bytes = 0;
  std::uint64_t live_bytes = 0;  ///< of whole records
  std::uint64_t unused_bytes = 0;
};

class pruner {
 public:
  pruner(open_store& opened_store, const store_prune_options& options)
      : opened_store_(opened_store),
        options_(options),
        meter_(options.progress),
        copies_(
            opened_store,
            [this](const std::string& object, const status& why) {
              ++summary_.damaged_copies;
              if (options_.damaged) options_.damaged(object, why);
            },
            options.cancel) {}

  result<store_prune_summary> prune();

 private:
  [[nodiscard]] marking_options marking() {
    return {.lost = {}, .avoided = {}, .threads = options_.threads, .cancel = options_.cancel, .meter = &meter_};
  }
  status begin_session();
  status finish_earlier_prune();
  status find_waste();
  void choose_rewrites();
  void choose_merges();
  [[nodiscard]] status count_records(removable_container& container) const;
  [[nodiscard]] result<std::map<container_name, std::uint64_t>> sizes_of(const std::set<container_name>& containers);
  [[nodiscard]] bool choose_rewrite(const removable_container& container);
  void count_removable();
  void count_rewritten(const removable_container& container) {
    ++summary_.rewritten_containers;
    summary_.rewritten_bytes += container.live_bytes;
  }
  [[nodiscard]] bool is_small(const removable_container& container) const {
    return container.bytes < opened_store_.config().container_bytes / small_share;
  }
  status remove(const std::vector<removable_container>& containers);
  status complete(const removal& proposed);
  status rewrite();
  status rewrite_batch(std::span<const removable_container> batch);
  status copy_records(const removable_container& source, record_writer& records);
  [[nodiscard]] const container_name& name(const removable_container& container) const {
    return marks_->name(container.index);
  }

  open_store& opened_store_;
  const store_prune_options& options_;
  progress_meter meter_;
  store_prune_summary summary_;
  std::unique_ptr<leased_session> session_;  ///< none in a dry run
  std::vector<std::string> files_before_;    ///< temporary files that were there when the prune began
  kept_copies copies_;
  std::optional<remover> remover_;
  store_log log_;                       ///< as it was before the containers were chosen
  std::set<std::string> marked_;        ///< ids of the snapshots that `marks_` is of
  std::set<container_name> condemned_;  ///< that `marks_` leaves out
  std::optional<live_records> marks_;
  std::vector<removable_container> dead_;
  std::vector<removable_container> partly_live_;
  std::vector<removable_container> small_;  ///< that are not rewritten for what is unused in them
  std::vector<removable_container> rewritten_;
  std::uint64_t chosen_bytes_ = 0;  ///< of the live records of `rewritten_`
};

result<store_prune_summary> pruner::prune() {
  if (!options_.is_dry_run) {
    CUTPOINT_RETURN_IF_FAILED(begin_session());
    CUTPOINT_RETURN_IF_FAILED(finish_earlier_prune());
    if (!summary_.awaited.empty()) return summary_;
  }
  CUTPOINT_RETURN_IF_FAILED(find_waste());
  choose_rewrites();
  if (options_.most_unused < 1) choose_merges();
  if (options_.is_dry_run) {
    count_removable();
    return summary_;
  }
  // Dead containers go first, because rewriting takes room.
  CUTPOINT_RETURN_IF_FAILED(remove(dead_));
  if (summary_.awaited.empty()) CUTPOINT_RETURN_IF_FAILED(rewrite());
  CUTPOINT_RETURN_IF_FAILED(remove_abandoned_files(*session_->open_storage(), files_before_));
  return summary_;
}

/// Counts what would be done.
void pruner::count_removable() {
  for (const auto* chosen : {&dead_, &rewritten_}) {
    for (const removable_container& each : *chosen) {
      ++summary_.removed_containers;
      summary_.removed_bytes += each.bytes;
      summary_.left_unused_bytes -= each.unused_bytes;
    }
  }
  for (const removable_container& each : rewritten_) count_rewritten(each);
}

status pruner::begin_session() {
  for (const object_kind kind : {object_kind::container, object_kind::shard, object_kind::snapshot, object_kind::key,
                                 object_kind::log_entry, object_kind::removal}) {
    CUTPOINT_RETURN_IF_FAILED(check_removal(opened_store_.objects(), kind));
  }
  CUTPOINT_TRY(session_, leased_session::begin(opened_store_));
  CUTPOINT_TRY(files_before_, opened_store_.objects().list(object_kind::temporary));
  remover_.emplace(*session_, copies_);
  return {};
}

/// Goes on with what an earlier prune has left.
status pruner::finish_earlier_prune() {
  CUTPOINT_TRY(const auto log, opened_store_.read_log());
  if (log.decision != 0) CUTPOINT_RETURN_IF_FAILED(remover_->carry_out(log));
  return log.proposal == 0 ? status() : complete({log.proposal, log.proposed, {}, {}});
}

status pruner::find_waste() {
  CUTPOINT_TRY(auto state, read_state(opened_store_));
  if (!options_.is_dry_run) {
    CUTPOINT_RETURN_IF_FAILED(opened_store_.shards().rebuild_damaged());
  } else {
    std::erase_if(state.snapshots, [&](const auto& each) { return options_.forgotten.contains(each.id); });
  }
  for (const auto& each : state.snapshots) marked_.insert(each.id);
  marking_options marking = this->marking();
  marking.lost = state.log.lost();
  auto marks = mark_snapshots(opened_store_, state.snapshots, marking);
  if (!marks && is_damage(marks.error()) && session_) {  // a shard may be lost
    CUTPOINT_RETURN_IF_FAILED(index_containers(opened_store_, *session_->open_storage(), ""));
    marks = mark_snapshots(opened_store_, state.snapshots, marking);
  }
  if (!marks) return marks.error();
  marks_ = std::move(*marks);
  log_ = std::move(state.log);
  condemned_ = log_.condemned;
  CUTPOINT_TRY(const auto condemned_bytes, sizes_of(condemned_));
  for (const auto& [container, bytes] : condemned_bytes) {
    ++summary_.containers;
    summary_.container_bytes += bytes;
    summary_.unused_bytes += bytes;
  }
  meter_.begin("examining containers", marks_->container_count());
  for (std::size_t i = 0; i < marks_->container_count(); ++i) {
    meter_.add(1, 0, id_of(marks_->name(i)));
    const std::uint64_t bytes = marks_->container_bytes(i);
    ++summary_.containers;
    summary_.container_bytes += bytes;
    const std::uint64_t live = marks_->live_count(i);
    removable_container container{i, bytes, 0, 0};
    if (live == marks_->record_count(i)) {
      container.live_bytes = bytes;
      if (is_small(container)) small_.push_back(container);
      continue;
    }
    if (live == 0) {
      container.unused_bytes = bytes;
      dead_.push_back(container);
      summary_.unused_bytes += container.unused_bytes;
      continue;
    }
    partly_live_.push_back(container);
  }
  CUTPOINT_RETURN_IF_FAILED(try_parallel(opened_store_.objects().parallel_requests(), partly_live_.size(),
                                         [&](std::size_t, std::size_t i) { return count_records(partly_live_[i]); }));
  // A repair saves what is whole of a container without a table.
  std::erase_if(partly_live_, [](const removable_container& each) { return each.live_bytes + each.unused_bytes == 0; });
  for (const removable_container& each : partly_live_) summary_.unused_bytes += each.unused_bytes;
  summary_.left_unused_bytes = summary_.unused_bytes;
  return {};
}

/// Counts the bytes of a container's records, by its table. Leaves them 0 if that is damaged or gone.
status pruner::count_records(removable_container& container) const {
  const auto table = read_container_table(opened_store_.objects(), id_of(name(container)), opened_store_.key());
  if (!table) return is_damage(table.error()) || is_absence(table.error()) ? status() : table.error();
  for (std::uint32_t ordinal = 0; ordinal < table->records.size(); ++ordinal) {
    const record_description& record = table->records[ordinal].description;
    if (record.kind == record_kind::padding) continue;
    (marks_->is_live(container.index, ordinal) ? container.live_bytes : container.unused_bytes) +=
        record_bytes(record.stored_bytes);
  }
  return {};
}

/// Chooses the containers with the smallest live shares, until few enough bytes stay unused.
void pruner::choose_rewrites() {
  std::uint64_t kept_bytes = summary_.container_bytes;
  std::uint64_t unused_bytes = summary_.unused_bytes;
  for (const removable_container& each : dead_) {
    kept_bytes -= each.bytes;
    unused_bytes -= each.unused_bytes;
  }
  const auto live_share = [](const removable_container& each) {
    return static_cast<double>(each.live_bytes) / static_cast<double>(each.live_bytes + each.unused_bytes);
  };
  std::ranges::sort(partly_live_, {}, live_share);
  for (const removable_container& each : partly_live_) {
    const bool are_too_many =
        static_cast<double>(unused_bytes) > options_.most_unused * static_cast<double>(kept_bytes);
    if (are_too_many && choose_rewrite(each)) {
      kept_bytes -= each.unused_bytes;
      unused_bytes -= each.unused_bytes;
    } else if (is_small(each)) {
      small_.push_back(each);
    }
  }
}

/// Chooses small containers to be merged, the smallest first, if there are many. A store without them is opened and read
/// faster.
void pruner::choose_merges() {
  if (small_.size() < least_merged) return;
  std::ranges::sort(small_, {}, &removable_container::bytes);
  for (const removable_container& each : small_) {
    if (!choose_rewrite(each)) return;
  }
}

/// Returns false if too many bytes would be copied.
bool pruner::choose_rewrite(const removable_container& container) {
  if (container.live_bytes > options_.most_rewritten_bytes - chosen_bytes_) return false;
  rewritten_.push_back(container);
  chosen_bytes_ += container.live_bytes;
  return true;
}

/// Returns the lengths of containers; 0 for those that do not exist.
result<std::map<container_name, std::uint64_t>> pruner::sizes_of(const std::set<container_name>& containers) {
  std::map<container_name, std::uint64_t> sizes;
  for (const container_name& each : containers) sizes[each] = 0;
  std::vector<std::pair<const container_name, std::uint64_t>*> items;
  for (auto& each : sizes) items.push_back(&each);
  storage& objects = opened_store_.objects();
  CUTPOINT_RETURN_IF_FAILED(try_parallel(objects.parallel_requests(), items.size(), [&](std::size_t, std::size_t i) {
    const auto bytes = objects.size({object_kind::container, id_of(items[i]->first)});
    if (bytes) items[i]->second = *bytes;
    return bytes || is_absence(bytes.error()) ? status() : bytes.error();
  }));
  return sizes;
}

status pruner::remove(const std::vector<removable_container>& containers) {
  removal proposed{0, {}, marked_, condemned_};
  for (const removable_container& each : containers) proposed.containers.insert(name(each));
  CUTPOINT_RETURN_IF_FAILED(copies_.spare(*marks_, log_.lost(), proposed.containers));
  std::uint64_t unused = 0;
  for (const removable_container& each : containers) {
    if (proposed.containers.contains(name(each))) unused += each.unused_bytes;
  }
  CUTPOINT_TRY(const auto condemned_bytes, sizes_of(log_.condemned));
  for (const auto& [each, bytes] : condemned_bytes) {  // they hold nothing
    unused += condemned_.contains(each) ? bytes : 0;
    proposed.containers.insert(each);
  }
  if (proposed.containers.empty() && log_.newest - log_.decision <= most_entries) return {};
  meter_.begin("removing containers", proposed.containers.size());
  CUTPOINT_RETURN_IF_FAILED(remover_->propose(proposed, log_));
  CUTPOINT_RETURN_IF_FAILED(complete(proposed));
  if (summary_.awaited.empty()) summary_.left_unused_bytes -= unused;
  return {};
}

status pruner::complete(const removal& proposed) {
  CUTPOINT_TRY(auto bytes, sizes_of(proposed.containers));
  CUTPOINT_TRY(const auto outcome, remover_->complete(proposed, marking()));
  if (outcome.awaited.empty()) {
    CUTPOINT_TRY(log_, opened_store_.read_log());
    summary_.kept_containers += outcome.kept_count;
    summary_.removed_containers += outcome.removed.size();
    for (const container_name& each : outcome.removed) summary_.removed_bytes += bytes[each];
    return {};
  }
  for (const listed_lease& each : outcome.awaited) summary_.awaited.push_back(each.facts.owner);
  summary_.waiting_containers = proposed.containers.size();
  return {};
}

/// Copies the live records of containers, except those that are damaged. The copies and shards that have them are durable before the
/// containers are proposed.
status pruner::rewrite_batch(std::span<const removable_container> batch) {
  std::vector<removable_container> copied;
  CUTPOINT_TRY(auto records, session_->open_records());
  for (const removable_container& each : batch) {
    if (options_.cancel != nullptr && options_.cancel->is_requested()) return stopped_as_asked();
    const status outcome = copy_records(each, records);
    if (is_damage(outcome)) continue;  // a repair saves what is whole
    if (!outcome.ok()) return outcome;
    copied.push_back(each);
    count_rewritten(each);
    meter_.add(1, each.live_bytes, id_of(name(each)));
  }
  CUTPOINT_RETURN_IF_FAILED(records.finish());
  return remove(copied);
}

/// Rewrites the chosen containers in batches that fit into the room that is left, so that a disk which is nearly full is freed in
/// steps.
status pruner::rewrite() {
  const auto live_bytes_of = [](std::span<const removable_container> batch) {
    std::uint64_t bytes = 0;
    for (const removable_container& each : batch) bytes += each.live_bytes;
    return bytes;
  };
  // What a copy may take beyond the records: the end of its container, its padding, and a shard.
  const auto room_of = [](const removable_container& each) { return each.live_bytes + each.live_bytes / 4 + MiB; };
  for (std::span<const removable_container> left = rewritten_; !left.empty() && summary_.awaited.empty();) {
    CUTPOINT_TRY(const auto free, opened_store_.objects().free_bytes());
    std::size_t count = 0;
    std::uint64_t room = 0;
    while (count < left.size() && room_of(left[count]) <= free - room) room += room_of(left[count++]);
    if (count == 0) {
      summary_.missing_bytes = room_of(left.front()) - free;
      return {};
    }
    meter_.begin("copying containers", count, live_bytes_of(left.first(count)));
    CUTPOINT_RETURN_IF_FAILED(rewrite_batch(left.first(count)));
    left = left.subspan(count);
  }
  return {};
}

status pruner::copy_records(const removable_container& source, record_writer& records) {
  storage& objects = opened_store_.objects();
  CUTPOINT_TRY(const auto table, read_container_table(objects, id_of(name(source)), opened_store_.key()));
  std::vector<placed_record> live;
  for (std::uint32_t ordinal = 0; ordinal < table.records.size(); ++ordinal) {
    if (marks_->is_live(source.index, ordinal)) live.push_back(table.records[ordinal]);
  }
  return read_payloads(objects, table, live, opened_store_.key(), [&](const placed_record& place, byte_span payload) {
    const auto hint = records.append(place.description, payload);
    return hint ? status() : hint.error();
  });
}

}  // namespace

result<store_prune_summary> prune_store(open_store& opened_store, const store_prune_options& options) {
  return pruner(opened_store, options).prune();
}

}  // namespace cutpoint::store
