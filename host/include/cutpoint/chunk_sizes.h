// Chunk sizes as text, MIN:AVG:MAX, and the chunker of a named algorithm for such sizes.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <cutpoint/catalog.h>
#include <cutpoint/chunker.h>
#include <cutpoint/status.h>

namespace cutpoint {

/// The sizes at which algorithms are compared by default.
inline constexpr std::string_view usual_sizes = "2K:8K:64K";

/// What cuts in a store that names no chunker and has no key, chosen in docs/choosing.md.
inline constexpr std::string_view usual_store_algorithm = "fastcdc";
inline constexpr std::string_view usual_store_sizes = "16K:64K:256K";

/// Parses MIN:AVG:MAX, in which fields may be empty, or AVG alone. Errors: invalid_argument, if the text has another
/// form.
[[nodiscard]] result<std::vector<parameter_setting>> size_settings(const std::string& size);

/// Makes the chunker called `name` for the given sizes. An algorithm that cannot take all of them gets those that it
/// can: without the minimum, the average alone, or the sizes as powers of two. Errors: unknown_name; invalid_argument,
/// if it takes no such sizes or a size is out of bounds.
[[nodiscard]] result<chunker> chunker_at(std::string_view name, std::span<const parameter_setting> sizes);

}  // namespace cutpoint
