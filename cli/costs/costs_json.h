// The JSON of the cost model, in `info --json` and in the files that store costs.
#pragma once

#include <cutpoint/cost_model.h>

#include "cli/common/json.h"

namespace cutpoint::cli {

[[nodiscard]] json costs_json(const cost_model& costs);

/// Errors: invalid_argument, if a field is missing or wrong.
[[nodiscard]] result<cost_model> parse_costs(const json& object);

}  // namespace cutpoint::cli
