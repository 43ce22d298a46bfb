// The part of `stats` that needs all tables and trees of a store.
#pragma once

#include <string>
#include <vector>

#include <cutpoint/store_report.h>

#include "cli/common/json.h"

namespace cutpoint::cli {

/// The snapshots in the order of their commits, with what each added. docs/store.md lists the fields.
[[nodiscard]] json growth_json(const std::vector<store_snapshot>& snapshots);
[[nodiscard]] std::string growth_text(const std::vector<store_snapshot>& snapshots);

[[nodiscard]] json details_json(const store_report& report);
[[nodiscard]] std::string details_text(const store_report& report);

}  // namespace cutpoint::cli
