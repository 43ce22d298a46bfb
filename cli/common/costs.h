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

/// Returns the stored costs of this machine and build, or measures new ones. If the stored file cannot be used, a note
/// says why. Errors: as `calibrate`.
[[nodiscard]] result<known_costs> machine_costs(const topology& machine, const std::vector<gpu_info>& gpus,
                                                measurement_policy when, const console& say);

/// Returns the costs that a feed needs to share its work with GPUs, and measures them if they are not stored. Returns
/// nullopt if the back end is neither auto nor hybrid, if no GPU can be used, or if measuring fails, which a note says.
[[nodiscard]] std::optional<cost_model> dispatch_costs(backend where, const console& say);

/// Returns the expected rates of a job's lanes, for `feed_options::rates`. Returns null without costs.
[[nodiscard]] std::shared_ptr<const job_rates> expected_rates(const std::optional<cost_model>& costs,
                                                              const feed_options& job, std::uint64_t thread_count);

/// Formats the costs as lines of `info`.
[[nodiscard]] std::string costs_text(const known_costs& known);

}  // namespace cutpoint::cli
