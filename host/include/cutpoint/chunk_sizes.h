// Chunk sizes as text, MIN:AVG:MAX, for one name or in whatever way each of many takes them.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <cutpoint/catalog.h>
#include <cutpoint/chunker.h>
#include <cutpoint/status.h>

namespace cutpoint {

/// What algorithms are compared at, where nothing is said.
inline constexpr std::string_view usual_sizes = "2K:8K:64K";

/// MIN:AVG:MAX, or AVG; an empty part is left out. Errors: invalid_argument, for another form.
[[nodiscard]] result<std::vector<parameter_setting>> size_settings(const std::string& size);

/// The chunker of a name at these sizes, or at as many of them as it takes: without the minimum, with the average alone,
/// or as powers of two. Errors: unknown_name; invalid_argument, where it takes none, and for a size out of its bounds.
[[nodiscard]] result<chunker> chunker_at(std::string_view name, std::span<const parameter_setting> sizes);

}  // namespace cutpoint
