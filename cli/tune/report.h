// The report of `tune`: text for people and JSON for programs.
#pragma once

#include <string>

#include <cutpoint/tune/facts.h>

namespace cutpoint::cli {

[[nodiscard]] std::string tune_report(const tune_facts& facts);
[[nodiscard]] std::string tune_json(const tune_facts& facts);

// Parts of both.

/// Returns the options of `chunk` and `dedup` that name the candidate.
[[nodiscard]] std::string options_of(const tune_candidate& candidate);
/// Returns a sentence that says why the first row is recommended.
[[nodiscard]] std::string why_recommended(const tune_facts& facts);
/// Returns a sentence that warns about the recommendation, or an empty text.
[[nodiscard]] std::string warning_about(const tune_facts& facts);

}  // namespace cutpoint::cli
