// A setting as options, and why it is recommended.
#pragma once

#include <string>

#include <cutpoint/tune/facts.h>

namespace cutpoint::cli {

/// The options of `chunk` and `dedup` that name the candidate.
[[nodiscard]] std::string options_of(const tune_candidate& candidate);

/// Why the first row is the recommendation, in a sentence.
[[nodiscard]] std::string why_recommended(const tune_facts& facts);

}  // namespace cutpoint::cli
