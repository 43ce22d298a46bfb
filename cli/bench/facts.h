// All that `bench` found out, before it is told.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/bench/engine.h"
#include "cli/bench/rounds.h"

namespace cutpoint::cli {

struct bench_facts {
  std::string processor_model;
  std::vector<std::string> files;  ///< none: the data are random bytes
  std::uint64_t data_bytes = 0;
  std::uint64_t l2_bytes = 0;  ///< of the data that were measured in the second cache
  std::uint64_t rounds = 0;
  bool is_interrupted = false;
  bool has_kernels = true;
  std::vector<bench_row> rows;
  bool has_engine = true;
  std::uint64_t thread_count = 0;  ///< of the engine
  std::vector<engine_setup> sides;
  std::vector<engine_row> engine_rows;
};

/// "read", "cuts", "fingerprint".
[[nodiscard]] std::string_view to_string(bench_kind kind);

}  // namespace cutpoint::cli
