#include "store/access/commit.h"

#include <utility>

#include <cutpoint/batch_fingerprinter.h>

namespace cutpoint::store {

result<open_store::listed_snapshot> commit_snapshot(open_store& opened, storage& objects, held_lease& lease,
                                                    snapshot taken) {
  const auto all = opened.snapshots({});
  if (!all) return all.error();
  taken.sequence = all->empty() ? 1 : all->back().taken.sequence + 1;
  const auto names = make_one_by_one_fingerprinter(*fingerprinter::make(fingerprint_kind::blake3));
  auto id = put_snapshot(objects, taken, opened.key(), *names);
  if (!id) return id.error();
  if (status synced = objects.sync(); !synced.ok()) return synced;
  const auto is_held = lease.is_held();
  if (is_held && *is_held) {
    if (status given = lease.give_up(); !given.ok()) return given;
    return open_store::listed_snapshot{std::move(*id), std::move(taken)};
  }
  if (status removed = objects.remove({object_kind::snapshot, *id}); !removed.ok()) return removed;
  if (status synced = objects.sync(); !synced.ok()) return synced;
  if (!is_held) return is_held.error();
  return status(status_code::io_error,
                "the lease of the backup was not renewed in time, so nothing was committed: back up again; what is "
                "stored already will be used");
}

}  // namespace cutpoint::store
