// Prunes a store: removes what no snapshot refers to, beside running backups.
#pragma once

#include <cutpoint/store.h>

#include "store/access/open_store.h"

namespace cutpoint::store {

/// As `backup_store::prune`. `opened_store` maps the shards anew. Errors: also those of `live_records::mark`.
[[nodiscard]] result<store_prune_summary> prune_store(open_store& opened_store, const store_prune_options& options);

}  // namespace cutpoint::store
