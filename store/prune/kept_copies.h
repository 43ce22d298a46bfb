// Verifies the copies of records that stay when others are removed.
#pragma once

#include <functional>
#include <set>
#include <utility>

#include <cutpoint/source.h>

#include "store/access/open_store.h"
#include "store/prune/live_records.h"

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

}  // namespace cutpoint::store
