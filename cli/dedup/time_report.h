// The part of the report of `cutpoint dedup` that says where the time went, beside what was predicted.
#pragma once

#include <string>

#include "cli/dedup/facts.h"

namespace cutpoint::cli {

[[nodiscard]] std::string time_report(const dedup_facts& facts);

}  // namespace cutpoint::cli
