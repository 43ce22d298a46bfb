#include "store/upkeep/snapshot_copier.h"

#include <algorithm>
#include <tuple>

namespace cutpoint::store {

snapshot_copier::snapshot_copier(engine& threads, open_store& source, open_store& target, const copy_options& options)
    : threads_(threads),
      source_(source),
      target_(target),
      options_(options),
      reader_(source, options.memory_bytes - options.memory_bytes / 4),
      tables_(source.objects(), source.key(), options.memory_bytes / 4) {}

status snapshot_copier::begin(const problem_function& problem) {
  CUTPOINT_TRY(originals_, source_.snapshots(problem));
  for (std::size_t i = 0; i < originals_.size(); ++i) {
    originals_by_id_[originals_[i].id] = i;
    originals_by_source_[{originals_[i].facts.host, originals_[i].facts.paths}].push_back(i);
  }
  return find_copies();
}

/// Adds the snapshots that the target has got since the last call.
status snapshot_copier::find_copies() {
  CUTPOINT_TRY(const auto log, target_.follow_log([](const object_name&, const status&) {}));
  CUTPOINT_TRY(auto later, target_.snapshots_after(last_entry_));
  last_entry_ = log->newest;
  for (listed_snapshot& each : later) copies_.emplace(std::pair(each.facts.session, each.facts.time), std::move(each));
  return {};
}

/// Whether both stores have the same chunks of the same contents, under the same digests.
bool snapshot_copier::keeps_records() const {
  return source_.fingerprint() == target_.fingerprint() && source_.cuts().canonical() == target_.cuts().canonical() &&
         source_.context() == target_.context();
}

bool snapshot_copier::is_copy(const snapshot& original, const snapshot& other) const {
  const auto version = [](const snapshot& each) { return std::tie(each.original, each.edited); };
  // A repair of the target may have left files out of a version of its own.
  if (other.is_incomplete && !other.original.empty() && version(original) != version(other)) return false;
  const auto facts = [](const snapshot& each) {
    return std::tie(each.session, each.time, each.duration, each.is_incomplete, each.host, each.paths, each.tags,
                    each.statistics.files, each.statistics.folders, each.statistics.bytes);
  };
  return facts(original) == facts(other) && (!keeps_records() || original.root.content == other.root.content);
}

const snapshot_copier::listed_snapshot* snapshot_copier::find_copy(const snapshot& original) const {
  const auto [begin, end] = copies_.equal_range({original.session, original.time});
  const auto copy = std::find_if(begin, end, [&](const auto& each) {
    return is_copy(original, each.second.facts) && target_.known_log().snapshots.contains(each.second.id);
  });
  return copy == end ? nullptr : &copy->second;
}

const snapshot_copier::listed_snapshot* snapshot_copier::find_original(const std::string& id) const {
  const auto position = originals_by_id_.find(id);
  return position == originals_by_id_.end() ? nullptr : &originals_[position->second];
}

/// A session that began before something was removed or condemned would look up all records of each snapshot that it commits.
status snapshot_copier::begin_session() {
  CUTPOINT_TRY(const auto log, target_.follow_log());
  if (session_ && session_->log().decision == log->decision && session_->log().condemned == log->condemned) return {};
  end_session();
  CUTPOINT_TRY(session_, leased_session::begin(target_));
  CUTPOINT_TRY(writer_, session_->open_writer());
  // What was listed before the session may have been removed, with its data, by a prune that does not know of it.
  copies_.clear();
  last_entry_ = 0;
  return {};
}

void snapshot_copier::end_session() {
  if (writer_) writer_->records.add_work(work_);
  writer_.reset();
  session_.reset();
}

store_work snapshot_copier::work() {
  store_work sum = work_;
  if (writer_) writer_->records.add_work(sum);
  return sum;
}

result<snapshot_copier::listed_snapshot> snapshot_copier::copy(const listed_snapshot& original,
                                                               status& source_failure) {
  auto copied = copy_new(original, source_failure);
  // A writer that has failed takes chunks for stored that are not.
  if (!copied) end_session();
  return copied;
}

result<snapshot_copier::listed_snapshot> snapshot_copier::copy_new(const listed_snapshot& original,
                                                                   status& source_failure) {
  CUTPOINT_RETURN_IF_FAILED(begin_session());
  CUTPOINT_RETURN_IF_FAILED(find_copies());
  if (const listed_snapshot* const there = find_copy(original.facts)) return *there;
  CUTPOINT_TRY(const auto root, copy_contents(original.facts, source_failure));
  snapshot facts = original.facts;
  facts.root = root;
  CUTPOINT_RETURN_IF_FAILED(writer_->finish(facts.statistics));
  if (options_.cancel != nullptr && options_.cancel->is_requested()) return stopped_as_asked();
  const listed_snapshot* const parent = find_original(original.facts.parent);
  const listed_snapshot* const parent_copy = parent == nullptr ? nullptr : find_copy(parent->facts);
  facts.parent = parent_copy == nullptr ? std::string() : parent_copy->id;
  CUTPOINT_TRY(auto committed, commit_snapshot(*session_, std::move(facts)));
  // A failure costs speed alone, because the snapshot is committed: the next copy begins another session.
  if (!writer_->records.merge_shards().ok()) end_session();
  return committed;
}

result<record_reference> snapshot_copier::copy_records(const snapshot& original, status& source_failure) {
  if (!chunks_) {
    CUTPOINT_TRY(shards_, source_.open_index(source_.objects(), tables_));
    CUTPOINT_TRY(auto chunks, content_window::make(source_.reading(*shards_), options_.threads));
    chunks_.emplace(std::move(chunks));
  }
  deduplicator& writer = writer_->records;
  record_copier contents(reader_, *chunks_, source_.config(), writer, target_.config(), options_.meter);
  return copy_tree(original.root, reader_, contents, writer, options_.cancel, source_failure);
}

result<record_reference> snapshot_copier::copy_contents(const snapshot& original, status& source_failure) {
  deduplicator& writer = writer_->records;
  if (keeps_records()) return copy_records(original, source_failure);
  CUTPOINT_RETURN_IF_FAILED(target_.check_memory(options_.feed.memory_bytes));
  std::optional<record_reference> earlier_original;
  std::optional<record_reference> earlier_copy;
  const std::vector<std::size_t>& same_source = originals_by_source_[{original.host, original.paths}];
  auto next = std::ranges::lower_bound(same_source, original.sequence, {},
                                       [&](std::size_t each) { return originals_[each].facts.sequence; });
  while (next != same_source.begin() && !earlier_copy) {
    const snapshot& earlier = originals_[*--next].facts;
    const listed_snapshot* const copy = find_copy(earlier);
    if (copy == nullptr) continue;
    earlier_original = earlier.root;
    earlier_copy = copy->facts.root;
  }
  auto earlier_shards = session_->open_shards();  // an index is used by one thread
  if (!earlier_shards) return earlier_shards.error();
  CUTPOINT_TRY(auto in_source, parent_tree::make(source_.reading(), earlier_original));
  CUTPOINT_TRY(auto in_target, parent_tree::make(target_.reading(*earlier_shards), earlier_copy));
  recut_copier contents(threads_, options_.feed, writer, reader_, {std::move(in_source), std::move(in_target)},
                        options_.meter);
  auto root = copy_tree(original.root, reader_, contents, writer, options_.cancel, source_failure);
  contents.add_work(work_);
  return root;
}

}  // namespace cutpoint::store
