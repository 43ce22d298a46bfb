// The report of `cutpoint dedup` for people.
#pragma once

#include <string>

#include <cutpoint/dedup_report.h>

namespace cutpoint::cli {

/// What bars are drawn with.
enum class bar_style { ascii, blocks };

/// Blocks where LC_ALL, LC_CTYPE or LANG, the first that is set, says that text is UTF-8.
[[nodiscard]] bar_style usable_bars();

/// Less than 20 lines: the savings, what was read and cut, the time, and the kinds of files that have most of the bytes.
[[nodiscard]] std::string dedup_summary(const dedup_report& facts);
/// That, and how long chunks are, more kinds of files, and what each stage, device, lane and queue did.
[[nodiscard]] std::string dedup_details(const dedup_report& facts, bar_style bars);

}  // namespace cutpoint::cli
