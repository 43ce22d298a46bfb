// What a prune did, as `prune` and `forget --prune` print it.
#pragma once

#include <string>

#include <cutpoint/store.h>

#include "cli/common/exit_code.h"
#include "cli/common/json.h"

namespace cutpoint::cli {

/// Returns what a prune did, or what it would do if `options` ask for a dry run, in sentences.
[[nodiscard]] std::string prune_text(const store_prune_summary& done, const store_prune_options& options);
[[nodiscard]] json prune_json(const store_prune_summary& done);
/// Returns how a command ends after a prune whose report ended with `written`.
[[nodiscard]] exit_code exit_code_of(const store_prune_summary& done, exit_code written);

}  // namespace cutpoint::cli
