// Conversion of the cost model to and from JSON, for programs and for caches. It is a library of its own,
// cutpoint_costs_json, so that programs which do not need it do without a JSON parser.
#pragma once

#include <string>
#include <string_view>

#include <cutpoint/cost_model.h>

namespace cutpoint {

/// Returns the costs as one JSON object on one line. Thread-safe.
[[nodiscard]] std::string costs_json(const cost_model& costs);

/// Parses the text that `costs_json` made. Errors: invalid_argument, with the name of the field, if the text is not a
/// JSON object, if a field is missing or has the wrong type, if a number is negative or above 10^18, if a name is
/// unknown, or if a list has more than 10,000 elements or a string more than 100,000 bytes. Thread-safe.
[[nodiscard]] result<cost_model> parse_costs(std::string_view json);

}  // namespace cutpoint
