// The report of `dedup`: text for people and JSON for programs.
#pragma once

#include <span>
#include <string>

#include <cutpoint/dedup_report.h>
#include <cutpoint/stage_costs.h>

#include "cli/common/json.h"
#include "cli/dedup/explanation.h"

namespace cutpoint::cli {

/// Returns the summary with chunk lengths, more kinds of files, and the times of stages, devices, lanes and queues.
[[nodiscard]] std::string dedup_details(const dedup_report& facts);
[[nodiscard]] std::string dedup_json(const dedup_report& facts);

// The parts that say where the time went, with predictions.

[[nodiscard]] std::string time_report(const dedup_report& facts);
[[nodiscard]] json time_json(const dedup_report& facts);

/// Returns the plan, its predicted speed and its tightest limits, without a line's end.
[[nodiscard]] std::string text_of(const plan_bottleneck& bottleneck);
[[nodiscard]] json json_of(const plan_bottleneck& bottleneck);
[[nodiscard]] json stages_json(std::span<const stage_cost> costs, const explanation& why, std::uint64_t thread_count);
[[nodiscard]] json devices_json(std::span<const device_cost> costs, const explanation& why);

}  // namespace cutpoint::cli
