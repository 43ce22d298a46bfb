// What a store was made with, as `init` and `stats` show it.
#pragma once

#include <string>

#include <cutpoint/store.h>

#include "cli/common/json.h"

namespace cutpoint::cli {

/// Returns a line for each setting, and for each rule of the context.
[[nodiscard]] std::string settings_lines(const store_settings& settings);

/// Returns a list of the rules of a context.
[[nodiscard]] json context_json(const chunking_context& context);

}  // namespace cutpoint::cli
