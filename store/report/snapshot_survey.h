// Finds where the contents of a snapshot's files are.
#pragma once

#include <vector>

#include <cutpoint/context.h>
#include <cutpoint/store_report.h>

#include "store/files/store_reading.h"

namespace cutpoint::store {

struct snapshot_survey {
  snapshot_layout layout;  ///< without the id
  std::vector<kind_totals> kinds;
};

/// Walks a tree. Memory: a bit for each record of the containers that have chunks of it, and what a walk takes. Errors:
/// damage; those of the storage; cancelled.
[[nodiscard]] result<snapshot_survey> survey_snapshot(const store_reading& store, const chunking_context& context,
                                                      const record_reference& root, const cancellation* cancel);

}  // namespace cutpoint::store
