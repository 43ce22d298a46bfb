// What was predicted of a machine that is not there, and what came of it on the virtual clock.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <cutpoint/status.h>
#include <nlohmann/json.hpp>

#include "bench/simulation/question.h"

namespace cutpoint::bench {

/// Shares are of the bytes that lanes cut or fingerprinted.
struct simulation_facts {
  work_plan plan = work_plan::processor;
  double bytes_per_second = 0;
  double device_cut_share = 0;
  double device_fingerprint_share = 0;
  double cores_busy = 0;  ///< in the mean over the run
  double gpu_lanes_busy = 0;
  double mean_batch_bytes = 0;  ///< of a GPU; 0 where none took anything
  double mean_piece_bytes = 0;  ///< of a core
};

struct simulation_answer {
  std::string line;
  job_rates rates;
  std::vector<plan_prediction> predictions;  ///< the fastest first
  std::optional<simulation_facts> ran;       ///< nothing where it was only predicted

  /// By the plan that ran; else by the one that a feed would begin with.
  [[nodiscard]] const plan_prediction& predicted() const;
  [[nodiscard]] const plan_prediction& by(work_plan plan) const;
};

[[nodiscard]] simulation_answer predict(const simulation_question& asked);

/// Predicts and runs it; the stream is the sample over and over. Errors: as `simulate_feed`; backend_failure where bytes
/// are missing in what came out.
[[nodiscard]] result<simulation_answer> run(const simulation_question& asked, byte_span sample);

[[nodiscard]] std::string csv_header();
[[nodiscard]] std::string csv_row(const simulation_answer& answer);
[[nodiscard]] nlohmann::ordered_json json_of(const simulation_answer& answer);

}  // namespace cutpoint::bench
