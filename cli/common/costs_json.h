// The cost model as JSON, for programs and for the cache. The library gives and takes a plain structure and knows no
// format: what keeps costs elsewhere needs neither this one nor a parser.
#pragma once

#include <string_view>

#include <cutpoint/cost_model.h>
#include <nlohmann/json.hpp>

namespace cutpoint::cli {

[[nodiscard]] nlohmann::ordered_json costs_json(const cost_model& costs);

/// The costs that `costs_json` made. Errors: invalid_argument, naming the field, for what it cannot have made: a field
/// that is missing or of another kind, rates that are negative or beyond all machines, unknown names, endless lists.
[[nodiscard]] result<cost_model> parse_costs(const nlohmann::ordered_json& from);

}  // namespace cutpoint::cli
