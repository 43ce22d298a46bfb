// The report of `cutpoint dedup` for programs; docs/dedup.md has every field.
#pragma once

#include <string>

#include "cli/dedup/facts.h"

namespace cutpoint::cli {

[[nodiscard]] std::string dedup_json(const dedup_facts& facts);

}  // namespace cutpoint::cli
