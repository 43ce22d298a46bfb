// The costs of this machine: read from the cache, or measured and stored there.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include <cutpoint/cost_model.h>
#include <cutpoint/engine.h>

#include "cli/common/console.h"

namespace cutpoint::cli {

enum class measurement_policy { never, when_missing, always };

struct known_costs {
  std::optional<cost_model> costs;  ///< nullopt if they are not stored and must not be measured
  std::string file;                 ///< the file that stores them; empty if none does
  status problem;                   ///< why they could not be stored
};

/// Returns the stored costs of a job on this machine and build, or measures new ones. If the stored file cannot be used, a
/// note says why. Errors: as `calibrate`, and `discover_topology`.
[[nodiscard]] result<known_costs> machine_costs(const std::vector<gpu_info>& gpus, const feed_options& job,
                                                measurement_policy when, const console& say);

/// Returns the rates that a feed needs to share its work with GPUs, for `feed_options::rates`. Measures them if they are
/// not stored. Returns null if the back end is neither auto nor hybrid, if no GPU can be used, or if measuring fails,
/// which a note says.
[[nodiscard]] std::shared_ptr<const job_rates> expected_rates(const feed_options& job, std::uint64_t thread_count,
                                                              const console& say);

/// Formats the costs of a job as lines of `info`.
[[nodiscard]] std::string costs_text(const known_costs& known, const feed_options& job);

}  // namespace cutpoint::cli
