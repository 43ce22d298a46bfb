// Reports what a store's containers have, and how snapshots lie in them.
#pragma once

#include <cutpoint/store_report.h>

#include "store/access/open_store.h"

namespace cutpoint::store {

/// As `backup_store::report`. `opened_store` maps the shards anew.
[[nodiscard]] result<store_report> report_store(open_store& opened_store, const store_report_options& options);

}  // namespace cutpoint::store
