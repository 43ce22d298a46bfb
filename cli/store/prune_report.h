// What a prune did, as `prune` and `forget --prune` print it.
#pragma once

#include <string>

#include <cutpoint/store.h>

#include "cli/common/json.h"

namespace cutpoint::cli {

/// Returns what a prune did, or what it would do if `options` ask for a dry run, in sentences.
[[nodiscard]] std::string prune_text(const store_prune_summary& done, const store_prune_options& options);
[[nodiscard]] ordered_json prune_json(const store_prune_summary& done);

}  // namespace cutpoint::cli
