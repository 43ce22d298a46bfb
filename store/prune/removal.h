// Removes containers in two steps that running sessions survive: a proposal, and a decision.
#pragma once

#include <cstddef>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "store/access/open_store.h"
#include "store/objects/lease.h"
#include "store/objects/removal_list.h"
#include "store/prune/live_records.h"
#include "store/storage/storage.h"

namespace cutpoint::store {

/// What marking needs of a store at one moment, in the order in which it must be read: snapshots are durable after the
/// shards that they need, and shards after their containers.
struct store_state {
  std::vector<open_store::listed_snapshot> snapshots;
  std::set<container_name> containers;
};

/// Reads the snapshots, maps the shards of `opened_store` anew, and lists the containers. Errors: those of the storage; damage,
/// if a snapshot cannot be read, because nobody knows what it needs.
[[nodiscard]] result<store_state> read_state(open_store& opened_store);

/// Marks everything that snapshots refer to, by tables that are read anew. Errors: as for `live_records::mark`.
[[nodiscard]] result<live_records> mark_snapshots(open_store& opened_store,
                                                  const std::vector<open_store::listed_snapshot>& snapshots,
                                                  const marking_options& options);

/// What became of a proposal.
struct removal_outcome {
  /// The sessions that began before the proposal and still run. While there are any, nothing is decided.
  std::vector<live_lease> awaited;
  removal_list decision;  ///< which was carried out; without a decision its epoch is 0
  /// The number of containers that stay, because a snapshot that was committed since the proposal refers to them.
  std::size_t kept_count = 0;
};

/// Proposes the removal of containers, durably. Its epoch must be the one after that of the newest list that was read before
/// the containers were chosen. Errors: those of the storage; unavailable, if another process has put a list since.
[[nodiscard]] status propose_removal(open_store& opened_store, const removal_list& proposal);

/// Goes on with the newest list, which is a proposal: if no session that began before it runs any more, decides which of its containers are removed,
/// and removes them. `marked` has the ids of the snapshots whose records the proposal is known to spare. If other snapshots
/// exist now, all are marked again. Errors: those of the storage and of `mark_snapshots`; unavailable, if another process
/// has put a list since.
[[nodiscard]] result<removal_outcome> complete_removal(open_store& opened_store, const removal_list& proposal,
                                                       const std::set<std::string>& marked,
                                                       const marking_options& options);

/// Removes the containers of the newest list, which is a decision, and all older lists. An interrupted prune may have left
/// some of them. Errors: those of the storage.
[[nodiscard]] status carry_out(storage& objects, const removal_list& decision);

/// Makes the newest list one that a repair need not heed, in a store that no other process uses: carries a decision out, and
/// puts an empty decision after a list that is damaged, which is passed to `damaged`. A proposal stays. Errors: as for
/// `carry_out`.
[[nodiscard]] status settle_removals(open_store& opened_store,
                                     const std::function<void(const std::string& object, const status& why)>& damaged);

}  // namespace cutpoint::store
