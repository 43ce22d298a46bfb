// What `tune` has found, for people and for programs.
#pragma once

#include <string>

#include <cutpoint/tune/facts.h>

namespace cutpoint::cli {

[[nodiscard]] std::string tune_report(const tune_facts& facts);
[[nodiscard]] std::string tune_json(const tune_facts& facts);

}  // namespace cutpoint::cli
