// The cache of measured costs: a file for each machine and job, in the user's cache folder.
#pragma once

#include <string>

#include <cutpoint/cost_model.h>

namespace cutpoint::cli {

/// Returns a key for this build of the program: its version, size and modification time.
[[nodiscard]] std::string build_key();

/// Returns the file for a machine with this key and for the cuts and the fingerprint of a job. Its folder is CUTPOINT_CACHE_DIR, else $XDG_CACHE_HOME/cutpoint, else
/// ~/.cache/cutpoint. Errors: unavailable, if the environment names no folder.
[[nodiscard]] result<std::string> costs_file(const std::string& machine, const feed_options& job);

/// Reads the costs of this machine and build. Errors: io_error, if the file cannot be read; invalid_argument, if it
/// contains no costs, or those of another format, build or machine.
[[nodiscard]] result<cost_model> load_costs(const std::string& path, const std::string& machine,
                                            const std::string& build);

/// Replaces the file by a new one, whole or not at all, and makes the folders above it. Errors: io_error.
[[nodiscard]] status save_costs(const std::string& path, const cost_model& costs, const std::string& build);

}  // namespace cutpoint::cli
