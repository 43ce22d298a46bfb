// The report of `bench`: tables for people, JSON for programs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/bench/measure.h"

namespace cutpoint::cli {

/// The results of a run.
struct bench_facts {
  std::string processor_model;
  std::vector<std::string> files;  ///< empty if the data are random bytes
  std::uint64_t data_bytes = 0;
  std::uint64_t l2_bytes = 0;  ///< the part of the data that was measured in the L2 cache
  std::uint64_t rounds = 0;
  bool is_interrupted = false;
  bool has_kernels = true;
  std::vector<bench_row> rows;
  bool has_engine = true;
  engine_options threads;  ///< of the engine
  std::vector<engine_setup> setups;
  std::vector<engine_row> engine_rows;
};

[[nodiscard]] std::string bench_report(const bench_facts& facts);
[[nodiscard]] std::string bench_json(const bench_facts& facts);

}  // namespace cutpoint::cli
