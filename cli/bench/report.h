// What `bench` tells: tables for people, JSON and comma-separated values for programs.
#pragma once

#include <string>

#include "cli/bench/facts.h"

namespace cutpoint::cli {

[[nodiscard]] std::string bench_report(const bench_facts& facts);
[[nodiscard]] std::string bench_json(const bench_facts& facts);
/// A header, and a line for each cell.
[[nodiscard]] std::string bench_csv(const bench_facts& facts);

}  // namespace cutpoint::cli
