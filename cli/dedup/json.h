// The report of `cutpoint dedup` for programs; docs/dedup.md has every field.
#pragma once

#include <string>

#include <cutpoint/dedup_report.h>

namespace cutpoint::cli {

[[nodiscard]] std::string dedup_json(const dedup_report& facts);

}  // namespace cutpoint::cli
