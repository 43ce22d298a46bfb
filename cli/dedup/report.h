// The report of `cutpoint dedup` for people.
#pragma once

#include <string>

#include "cli/dedup/facts.h"

namespace cutpoint::cli {

/// What bars are drawn with.
enum class bar_style { ascii, blocks };

/// Blocks where LC_ALL, LC_CTYPE or LANG, the first that is set, says that text is UTF-8.
[[nodiscard]] bar_style usable_bars();

[[nodiscard]] std::string dedup_report(const dedup_facts& facts, bar_style bars);

}  // namespace cutpoint::cli
