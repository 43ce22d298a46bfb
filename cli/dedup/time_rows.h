// What the reports of `dedup` and `backup` say alike of bottlenecks, stages and devices.
#pragma once

#include <span>
#include <string>

#include <cutpoint/stage_costs.h>

#include "cli/common/json.h"
#include "cli/dedup/explanation.h"

namespace cutpoint::cli {

/// Returns the plan, its predicted speed and its tightest limits, without a line's end.
[[nodiscard]] std::string text_of(const plan_bottleneck& bottleneck);
[[nodiscard]] json json_of(const plan_bottleneck& bottleneck);
/// Returns an object for each stage, or each device.
[[nodiscard]] json stages_json(std::span<const stage_cost> costs, const explanation& why, std::uint64_t thread_count);
[[nodiscard]] json devices_json(std::span<const device_cost> costs, const explanation& why);

}  // namespace cutpoint::cli
