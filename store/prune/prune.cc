#include "store/prune/prune.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "store/access/held_session.h"
#include "store/format/failure.h"
#include "store/prune/live_records.h"
#include "store/prune/removal.h"
#include "store/session/record_writer.h"

namespace cutpoint::store {

namespace {

/// A container is small if it has less than this part of the bytes to which containers are filled.
constexpr std::uint64_t small_share = 8;

/// So many small containers are merged. Fewer stay, so that backups of little data do not have it copied each time.
constexpr std::size_t least_merged = 8;

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
      : opened_store_(opened_store), options_(options) {}

  result<store_prune_summary> prune();

 private:
  [[nodiscard]] marking_options marking() const { return {{}, {}, options_.threads, options_.cancel}; }
  status finish_earlier_prune();
  status find_waste();
  void choose_rewrites();
  void choose_merges();
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
  status complete(const removal_list& proposal);
  status rewrite();
  status copy_records(const removable_container& source, record_writer& records);
  status clean_index();
  [[nodiscard]] const container_name& name(const removable_container& container) const {
    return marks_->name(container.index);
  }

  open_store& opened_store_;
  const store_prune_options& options_;
  store_prune_summary summary_;
  std::uint64_t epoch_ = 0;  ///< of the newest removal list
  std::set<std::string> marked_;
  std::optional<live_records> marks_;
  std::vector<removable_container> dead_;
  std::vector<removable_container> partly_live_;
  std::vector<removable_container> small_;  ///< that are not rewritten for what is unused in them
  std::vector<removable_container> rewritten_;
  std::uint64_t chosen_bytes_ = 0;  ///< of the live records of `rewritten_`
};

result<store_prune_summary> pruner::prune() {
  if (status finished = finish_earlier_prune(); !finished.ok()) return finished;
  if (!summary_.awaited.empty()) return summary_;
  if (status outcome = find_waste(); !outcome.ok()) return outcome;
  choose_rewrites();
  if (options_.most_unused < 1) choose_merges();
  if (options_.is_dry_run) {
    count_removable();
    return summary_;
  }
  // Dead containers go first, because rewriting takes room.
  if (status removed = remove(dead_); !removed.ok()) return removed;
  if (summary_.awaited.empty()) {
    if (status rewritten = rewrite(); !rewritten.ok()) return rewritten;
  }
  if (status cleaned = clean_index(); !cleaned.ok()) return cleaned;
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

/// Goes on with the list that an earlier prune has left.
status pruner::finish_earlier_prune() {
  const auto newest = read_newest_list(opened_store_.objects(), opened_store_.key());
  if (!newest) return newest.error();
  epoch_ = newest->epoch;
  if (options_.is_dry_run || epoch_ == 0) return {};
  return newest->state == removal_state::proposed ? complete(*newest) : carry_out(opened_store_.objects(), *newest);
}

status pruner::find_waste() {
  auto state = read_state(opened_store_);
  if (!state) return state.error();
  if (options_.is_dry_run) {
    std::erase_if(state->snapshots, [&](const auto& each) { return options_.forgotten.contains(each.id); });
  }
  for (const auto& each : state->snapshots) marked_.insert(each.id);
  marking_options marking = this->marking();
  marking.usable = std::move(state->containers);
  auto marks = mark_snapshots(opened_store_, state->snapshots, marking);
  if (!marks) return marks.error();
  marks_ = std::move(*marks);
  for (std::size_t i = 0; i < marks_->container_count(); ++i) {
    const std::string id = id_of(marks_->name(i));
    const auto bytes = opened_store_.objects().size({object_kind::container, id});
    if (!bytes) return bytes.error();
    ++summary_.containers;
    summary_.container_bytes += *bytes;
    const std::uint64_t live = marks_->live_count(i);
    removable_container container{i, *bytes, 0, 0};
    if (live == marks_->record_count(i)) {
      container.live_bytes = *bytes;
      if (is_small(container)) small_.push_back(container);
      continue;
    }
    if (live == 0) {
      container.unused_bytes = *bytes;
      dead_.push_back(container);
      summary_.unused_bytes += container.unused_bytes;
      continue;
    }
    const auto table = read_container_table(opened_store_.objects(), id, opened_store_.key());
    if (!table && is_damage(table.error())) continue;  // a repair saves what is whole
    if (!table) return table.error();
    for (std::uint32_t ordinal = 0; ordinal < table->records.size(); ++ordinal) {
      const record_description& record = table->records[ordinal].description;
      if (record.kind == record_kind::padding) continue;
      (marks_->is_live(i, ordinal) ? container.live_bytes : container.unused_bytes) +=
          record_bytes(record.stored_bytes);
    }
    partly_live_.push_back(container);
    summary_.unused_bytes += container.unused_bytes;
  }
  summary_.left_unused_bytes = summary_.unused_bytes;
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

status pruner::remove(const std::vector<removable_container>& containers) {
  if (containers.empty()) return {};
  removal_list proposal{epoch_ + 1, removal_state::proposed, {}};
  for (const removable_container& each : containers) proposal.containers.insert(name(each));
  if (status proposed = propose_removal(opened_store_, proposal); !proposed.ok()) return proposed;
  if (status completed = complete(proposal); !completed.ok()) return completed;
  if (!summary_.awaited.empty()) return {};
  for (const removable_container& each : containers) summary_.left_unused_bytes -= each.unused_bytes;
  return {};
}

status pruner::complete(const removal_list& proposal) {
  std::map<container_name, std::uint64_t> bytes;
  for (const container_name& each : proposal.containers) {
    const auto size = opened_store_.objects().size({object_kind::container, id_of(each)});
    if (!size && !is_absence(size.error())) return size.error();
    bytes[each] = size ? *size : 0;
  }
  const auto outcome = complete_removal(opened_store_, proposal, marked_, marking());
  if (!outcome) return outcome.error();
  if (outcome->decision.epoch != 0) {
    epoch_ = outcome->decision.epoch;
    summary_.kept_containers += outcome->kept_count;
    summary_.removed_containers += outcome->decision.containers.size();
    for (const container_name& each : outcome->decision.containers) summary_.removed_bytes += bytes[each];
    return {};
  }
  for (const live_lease& each : outcome->awaited) summary_.awaited.push_back(each.facts.owner);
  summary_.waiting_containers = proposal.containers.size();
  return {};
}

/// Copies the live records of the chosen containers, except those that are damaged. The copies and shards that have them are durable before the
/// containers are proposed.
status pruner::rewrite() {
  if (rewritten_.empty()) return {};
  std::vector<removable_container> copied;
  {
    const auto session = held_session::begin(opened_store_);
    if (!session) return session.error();
    auto records =
        record_writer::make((*session)->objects(), opened_store_.key(), opened_store_.config().container_bytes);
    if (!records) return records.error();
    for (const removable_container& each : rewritten_) {
      if (options_.cancel != nullptr && options_.cancel->is_requested()) return stopped_as_asked();
      const status outcome = copy_records(each, *records);
      if (is_damage(outcome)) continue;  // a repair saves what is whole
      if (!outcome.ok()) return outcome;
      copied.push_back(each);
      count_rewritten(each);
    }
    if (const auto finished = records->finish(); !finished) return finished.error();
  }
  return remove(copied);
}

status pruner::copy_records(const removable_container& source, record_writer& records) {
  storage& objects = opened_store_.objects();
  const auto table = read_container_table(objects, id_of(name(source)), opened_store_.key());
  if (!table) return table.error();
  for (std::uint32_t ordinal = 0; ordinal < table->records.size(); ++ordinal) {
    if (!marks_->is_live(source.index, ordinal)) continue;
    const placed_record& place = table->records[ordinal];
    const auto payload = read_payload(objects, *table, place, opened_store_.key());
    if (!payload) return payload.error();
    if (const auto hint = records.append(place.description, *payload); !hint) return hint.error();
  }
  return {};
}

/// Removes the entries of containers that do not exist any more from the index.
status pruner::clean_index() {
  const auto state = read_state(opened_store_);
  if (!state) return state.error();
  return opened_store_.shards().drop_containers(
      [&](const container_name& each) { return state->containers.contains(each); });
}

}  // namespace

result<store_prune_summary> prune_store(open_store& opened_store, const store_prune_options& options) {
  return pruner(opened_store, options).prune();
}

}  // namespace cutpoint::store
