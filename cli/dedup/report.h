// The report of `cutpoint dedup`: text for people and JSON for programs. docs/dedup.md describes both.
#pragma once

#include <string>

#include <cutpoint/dedup_report.h>

#include "cli/common/json.h"

namespace cutpoint::cli {

/// Returns less than 20 lines: the savings, what was read and cut, the time, and the largest kinds of files.
[[nodiscard]] std::string dedup_summary(const dedup_report& facts);
/// Returns the summary with chunk lengths, more kinds of files, and the times of stages, devices, lanes and queues.
[[nodiscard]] std::string dedup_details(const dedup_report& facts);
[[nodiscard]] std::string dedup_json(const dedup_report& facts);

// The parts that say where the time went, with predictions.

[[nodiscard]] std::string time_report(const dedup_report& facts);
[[nodiscard]] json time_json(const dedup_report& facts);

}  // namespace cutpoint::cli
