// Removes containers in two steps that running sessions survive, a proposal and a decision, and keeps the copies that must stay.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <cutpoint/source.h>

#include "store/session/leased_session.h"
#include "store/session/open_store.h"
#include "store/upkeep/live_records.h"

namespace cutpoint::store {

/// Reads the copy that is kept of each record of which another is given up, once. A table of a container says that it has a
/// record, and nobody may have read the bytes since they were written. Not thread-safe.
class kept_copies {
 public:
  /// `damaged` receives the container of a copy that is not whole. `store` must outlive this.
  kept_copies(open_store& opened_store, problem_function damaged, const cancellation* cancel)
      : opened_store_(opened_store), damaged_(std::move(damaged)), cancel_(cancel) {}

  /// Takes the containers out of `removed` which have a record whose marked copy elsewhere is not whole. Containers that are
  /// `lost` hold nothing and stay in it. Errors: those of the storage, except damage; cancelled.
  [[nodiscard]] status spare(const live_records& marks, const std::set<container_name>& lost,
                             std::set<container_name>& removed);

 private:
  using place = std::pair<container_name, std::uint32_t>;

  [[nodiscard]] result<bool> is_whole(const found_record& copy, record_fingerprinter& check);

  open_store& opened_store_;
  problem_function damaged_;
  const cancellation* cancel_;
  std::set<place> whole_;
  std::set<place> broken_;
};

/// What marking needs of a store at one moment, in the order in which it must be read: snapshots are durable after the
/// shards that they need.
struct store_state {
  store_log log;
  std::vector<open_store::listed_snapshot> snapshots;
};

/// Reads the log and the snapshots, and maps the shards of `opened_store` anew. Errors: those of the storage; damage, if an entry
/// of the log or a snapshot cannot be read, because nobody knows what it needs.
[[nodiscard]] result<store_state> read_state(open_store& opened_store);

/// Marks everything that snapshots refer to, by tables that are read anew. The marks are of the places that shards name, and no
/// table of a container confirms them: whoever removes something by them replaces damaged shards before. Errors: as for `live_records::mark`.
[[nodiscard]] result<live_records> mark_snapshots(open_store& opened_store,
                                                  const std::vector<open_store::listed_snapshot>& snapshots,
                                                  const marking_options& options);

/// Containers that are to be removed, and what is known of them.
struct removal {
  std::uint64_t number = 0;  ///< of the proposal
  std::set<container_name> containers;
  /// Ids of the snapshots whose records the removal is known to spare, as long as no other containers are condemned than these.
  std::set<std::string> marked;
  std::set<container_name> condemned;
};

/// What became of a proposal.
struct removal_outcome {
  /// The sessions that began before the proposal and still run. While there are any, nothing is decided.
  std::vector<listed_lease> awaited;
  std::set<container_name> removed;
  /// The number of containers that stay, because a snapshot that was committed since the proposal refers to them.
  std::size_t kept_count = 0;
};

/// Removes containers for one session.
class remover {
 public:
  /// `copies` verifies what stays. The references must outlive the remover.
  remover(leased_session& session, kept_copies& copies) noexcept : session_(session), copies_(copies) {}

  /// Proposes a removal, durably, and sets its number. Errors: those of the storage; unavailable, if another process has
  /// proposed or decided since `known` was read.
  [[nodiscard]] status propose(removal& proposed, store_log known);

  /// Goes on with a proposal: if no session that began before it runs any more, decides which of its containers are removed,
  /// and removes them. If snapshots or condemnations have come since the containers were chosen, everything is marked again.
  /// Errors: those of the storage and of `mark_snapshots`; unavailable, if another process has decided since.
  [[nodiscard]] result<removal_outcome> complete(const removal& proposed, const marking_options& options);

  /// Does what the newest decision says; an interrupted prune may have left some of it. Errors: those of the storage.
  [[nodiscard]] status carry_out(const store_log& log);

 private:
  [[nodiscard]] result<std::vector<listed_lease>> sessions_before(std::uint64_t number);
  [[nodiscard]] status spare_needed(const store_state& state, const removal& proposed, marking_options options,
                                    std::set<container_name>& containers);
  [[nodiscard]] status sweep(const std::vector<std::string>& snapshots, const std::set<std::string>& committed);

  leased_session& session_;
  kept_copies& copies_;
};

}  // namespace cutpoint::store
