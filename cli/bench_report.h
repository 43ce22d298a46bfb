// What `bench` tells: tables for people, JSON for programs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/bench_rounds.h"

namespace cutpoint::cli {

/// All that was found out.
struct bench_facts {
  std::string processor_model;
  std::string file;  ///< empty: the data are random bytes
  std::uint64_t data_bytes = 0;
  std::uint64_t l2_bytes = 0;  ///< of the data that were measured in the second cache
  std::uint64_t rounds = 0;
  bool is_interrupted = false;
  std::vector<bench_row> rows;
};

[[nodiscard]] std::string bench_report(const bench_facts& facts);
[[nodiscard]] std::string bench_json(const bench_facts& facts);

}  // namespace cutpoint::cli
