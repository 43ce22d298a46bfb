// The measured costs of this machine, in a cache.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include <cutpoint/cost_model.h>
#include <cutpoint/engine.h>

#include "cli/common/console.h"
#include "cli/common/json.h"

namespace cutpoint::cli {

// --- JSON ------------------------------------------------------------------------------------------------------------

[[nodiscard]] json costs_json(const cost_model& costs);

/// Errors: invalid_argument, with the first field that is missing or wrong.
[[nodiscard]] result<cost_model> parse_costs(const json& object);

/// Reads costs of any machine from what `info --json` printed, or from its `costs` alone. "-" is standard input. Errors: io_error;
/// invalid_argument, with the file and the field.
[[nodiscard]] result<cost_model> read_costs(const std::string& file);

[[nodiscard]] json prediction_json(const plan_prediction& predicted);

// --- Cache -----------------------------------------------------------------------------------------------------------

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

// --- Costs -----------------------------------------------------------------------------------------------------------

enum class measurement_policy { never, when_missing, always };

struct known_costs {
  std::optional<cost_model> costs;  ///< nullopt if they are not stored and must not be measured
  std::string file;                 ///< the file that stores them; empty if none does
  status problem;                   ///< why they could not be stored
};

/// Returns the stored costs of a job on this machine and build, or measures new ones. If the stored file cannot be used, a
/// note says why. Errors: as `calibrate`.
[[nodiscard]] result<known_costs> machine_costs(const std::vector<gpu_info>& gpus, const feed_options& job,
                                                measurement_policy when, const console& say);

/// Returns the rates that a feed needs to share its work with GPUs, for `feed_options::rates`. Measures them if they are
/// not stored. Returns null if the back end is neither auto nor hybrid, if no GPU can be used, or if measuring fails,
/// which a note says.
[[nodiscard]] std::shared_ptr<const job_rates> expected_rates(const feed_options& job, std::uint64_t thread_count,
                                                              const console& say);

/// Formats a rate in GB/s.
[[nodiscard]] std::string gigabytes(double rate);
/// Formats the costs of a job as lines of `info`.
[[nodiscard]] std::string costs_text(const known_costs& known, const feed_options& job);

}  // namespace cutpoint::cli
