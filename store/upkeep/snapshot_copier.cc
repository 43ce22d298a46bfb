#include "store/upkeep/snapshot_copier.h"

#include <algorithm>
#include <tuple>

namespace cutpoint::store {

snapshot_copier::snapshot_copier(engine& threads, open_store& source, open_store& target, const copy_options& options)
    : threads_(threads),
      source_(source),
      target_(target),
      options_(options),
      reader_(source.objects(), source.key(), source.reading().make_fingerprinter, options.memory_bytes) {}

status snapshot_copier::begin(const problem_function& problem) {
  CUTPOINT_TRY(originals_, source_.snapshots(problem));
  CUTPOINT_TRY(copies_, target_.snapshots({}));
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
  const auto copy =
      std::ranges::find_if(copies_, [&](const listed_snapshot& each) { return is_copy(original, each.facts); });
  return copy == copies_.end() ? nullptr : &*copy;
}

result<snapshot_copier::listed_snapshot> snapshot_copier::copy(const listed_snapshot& original,
                                                               status& source_failure) {
  CUTPOINT_TRY(auto session, leased_session::begin(target_));
  // What was listed before the session may have been removed, with its data, by a prune that does not know of it.
  CUTPOINT_TRY(copies_, target_.snapshots({}));
  if (const listed_snapshot* const there = find_copy(original.facts)) return *there;
  CUTPOINT_TRY(auto writer, session->open_writer());
  CUTPOINT_TRY(const auto root, copy_contents(original.facts, *session, writer->records, source_failure));
  snapshot facts = original.facts;
  facts.root = root;
  CUTPOINT_RETURN_IF_FAILED(writer->finish(facts.statistics));
  writer->records.add_work(work_);
  if (options_.cancel != nullptr && options_.cancel->is_requested()) return stopped_as_asked();
  const auto parent = std::ranges::find(originals_, original.facts.parent, &listed_snapshot::id);
  const listed_snapshot* const parent_copy = parent == originals_.end() ? nullptr : find_copy(parent->facts);
  facts.parent = parent_copy == nullptr ? std::string() : parent_copy->id;
  auto committed = commit_snapshot(*session, std::move(facts));
  if (committed) copies_.push_back(*committed);
  return committed;
}

result<record_reference> snapshot_copier::copy_contents(const snapshot& original, leased_session& session,
                                                        deduplicator& writer, status& source_failure) {
  if (keeps_records()) {
    record_copier contents(reader_, source_.config(), writer, target_.config(), options_.threads, options_.meter);
    return copy_tree(original.root, reader_, contents, writer, options_.cancel, source_failure);
  }
  CUTPOINT_RETURN_IF_FAILED(target_.check_memory(options_.feed.memory_bytes));
  std::optional<record_reference> earlier_original;
  std::optional<record_reference> earlier_copy;
  for (const listed_snapshot& each : originals_) {
    if (each.facts.sequence >= original.sequence) break;
    if (each.facts.host != original.host || each.facts.paths != original.paths) continue;
    const listed_snapshot* const copy = find_copy(each.facts);
    if (copy == nullptr) continue;
    earlier_original = each.facts.root;
    earlier_copy = copy->facts.root;
  }
  auto earlier_shards = session.open_shards();  // an index is used by one thread
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
