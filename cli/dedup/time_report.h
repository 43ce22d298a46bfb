// The part of the report of `cutpoint dedup` that says where the time went, beside what was predicted.
#pragma once

#include <string>

#include <cutpoint/dedup_report.h>

namespace cutpoint::cli {

[[nodiscard]] std::string time_report(const dedup_report& facts);

}  // namespace cutpoint::cli
