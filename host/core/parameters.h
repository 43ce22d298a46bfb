// Checks and completes parameters, and writes them as canonical strings.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <cutpoint/algorithms.h>
#include <cutpoint/status.h>

#include "host/algorithms/reference.h"

namespace cutpoint {

/// Fills in the fields that are left out, and checks all bounds and rules. The message of an error begins with `name`. The ratios and the
/// name of the algorithm stand in for those that are not given.
[[nodiscard]] result<algorithm_parameters> complete(const algorithm_parameters& values,
                                                    std::optional<size_ratios> ratios = {},
                                                    std::optional<std::string_view> name = {});

/// Returns the canonical string of complete parameters.
[[nodiscard]] std::string canonical_of(const algorithm_parameters& parameters);

}  // namespace cutpoint
