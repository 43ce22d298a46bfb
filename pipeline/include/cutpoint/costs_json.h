// The cost model as JSON text, for programs and for caches. A library of its own, cutpoint_costs_json: who keeps costs in
// another way needs no parser.
#pragma once

#include <string>
#include <string_view>

#include <cutpoint/cost_model.h>

namespace cutpoint {

/// One object on one line.
[[nodiscard]] std::string costs_json(const cost_model& costs);

/// The costs that `costs_json` made. Errors: invalid_argument, naming the field, for what it cannot have made: text that
/// is no JSON object, a field that is missing or of another kind, rates that are negative or beyond all machines, unknown
/// names, endless lists.
[[nodiscard]] result<cost_model> parse_costs(std::string_view json);

}  // namespace cutpoint
