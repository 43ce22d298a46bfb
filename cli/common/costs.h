// The costs of this machine, as commands ask for them: from the cache, or measured and kept there.
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
  std::optional<cost_model> costs;  ///< nothing where they may not be measured and are not kept
  std::string file;                 ///< where they are kept; empty where they are not
  status problem;                   ///< why they could not be kept
};

/// Costs that are kept for this machine and build, else new ones. A kept file that cannot be used counts as none, and a
/// note says why. Errors: as `calibrate`.
[[nodiscard]] result<known_costs> machine_costs(const topology& machine, const std::vector<gpu_info>& gpus,
                                                measurement_policy when, const console& say);

/// The costs by which it is chosen who does what. Nothing where there is nothing to choose: the back end is neither auto
/// nor hybrid, or there is no GPU that can be used. Costs that are not known are measured now, which a note tells; what
/// goes wrong is a note too, and gives nothing.
[[nodiscard]] std::optional<cost_model> dispatch_costs(backend where, const console& say);

/// What the lanes of a job are expected to run at, for `feed_options::rates`; null without costs.
[[nodiscard]] std::shared_ptr<const job_rates> expected_rates(const std::optional<cost_model>& costs,
                                                              const feed_options& job, std::uint64_t thread_count);

/// For people, in the lines of `info`.
[[nodiscard]] std::string costs_text(const known_costs& known);

}  // namespace cutpoint::cli
