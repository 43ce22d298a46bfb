// Where measured costs are kept between runs: a file for each machine, in the user's cache.
#pragma once

#include <string>

#include <cutpoint/cost_model.h>

namespace cutpoint::cli {

/// The file for the machine of this key: in the folder that the environment's CUTPOINT_CACHE_DIR names, else in
/// $XDG_CACHE_HOME/cutpoint, else in ~/.cache/cutpoint. Errors: unavailable, where the environment names none.
[[nodiscard]] result<std::string> costs_file(const std::string& machine);

/// The costs that a file has for this machine and build. Errors: io_error, for what cannot be read; invalid_argument,
/// for what is no costs, or those of another format, build or machine.
[[nodiscard]] result<cost_model> load_costs(const std::string& path, const std::string& machine,
                                            const std::string& build);

/// Puts a new file in the place of what is there, whole or not at all, and makes the folders above it. Errors:
/// io_error.
[[nodiscard]] status save_costs(const std::string& path, const cost_model& costs, const std::string& build);

}  // namespace cutpoint::cli
