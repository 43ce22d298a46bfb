#include "bench/simulation/answer.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace cutpoint::bench {

namespace {

using nlohmann::ordered_json;

class counting_receiver final : public chunk_receiver {
 public:
  status begin_stream(std::uint64_t) override { return {}; }
  status take(const delivered_chunk& c) override {
    bytes += c.length * c.count;
    return {};
  }
  status end_stream(std::uint64_t, const status& outcome) override { return outcome; }
  std::uint64_t bytes = 0;
};

double share_of(double part, double whole) { return whole > 0 ? part / whole : 0; }

simulation_facts facts_of(const simulated_run& made) {
  simulation_facts facts{.plan = made.statistics.plan, .bytes_per_second = made.bytes_per_second()};
  std::array<double, 2> cut = {};  // by the processor, by devices
  std::array<double, 2> fingerprinted = {};
  std::array<double, 2> handled = {};
  std::array<double, 2> tasks = {};
  for (std::size_t i = 0; i < made.lanes.size(); ++i) {
    const simulated_lane& lane = made.lanes[i];
    const std::size_t owner = lane.device >= 0 ? 1 : 0;
    const auto of_cuts = static_cast<double>(made.statistics.lanes[i].at(stage::chunking).bytes);
    const auto of_fingerprints = static_cast<double>(made.statistics.lanes[i].at(stage::fingerprinting).bytes);
    cut[owner] += of_cuts;
    fingerprinted[owner] += of_fingerprints;
    handled[owner] += std::max(of_cuts, of_fingerprints);
    tasks[owner] += static_cast<double>(lane.task_count);
    (owner == 1 ? facts.gpu_lanes_busy : facts.cores_busy) += share_of(lane.busy_seconds, made.seconds);
  }
  facts.device_cut_share = share_of(cut[1], cut[0] + cut[1]);
  facts.device_fingerprint_share = share_of(fingerprinted[1], fingerprinted[0] + fingerprinted[1]);
  facts.mean_piece_bytes = share_of(handled[0], tasks[0]);
  facts.mean_batch_bytes = share_of(handled[1], tasks[1]);
  return facts;
}

ordered_json json_of(const plan_prediction& prediction) {
  ordered_json limits = ordered_json::array();
  for (const rate_limit& each : prediction.limits) {
    limits.push_back({{"name", each.name}, {"bytes_per_second", each.bytes_per_second}});
  }
  return {{"plan", to_string(prediction.plan)},
          {"bytes_per_second", prediction.bytes_per_second},
          {"device_cut_share", prediction.device_cut_share},
          {"device_fingerprint_share", prediction.device_fingerprint_share},
          {"limits", limits}};
}

ordered_json json_of(const job_rates& rates) {
  ordered_json out = {{"cores", rates.processor.lane_count},
                      {"chunking", rates.processor.chunking},
                      {"fingerprinting", rates.processor.fingerprinting},
                      {"memory", rates.processor.memory},
                      {"reading", rates.reading},
                      {"joining", rates.joining},
                      {"delivery", rates.delivery},
                      {"gpus", ordered_json::array()}};
  for (const device_rates& each : rates.devices) {
    out["gpus"].push_back({{"chunking", each.chunking},
                           {"fingerprinting", each.fingerprinting},
                           {"link_in", each.link_in},
                           {"link_out", each.link_out},
                           {"out_share", each.out_share},
                           {"latency_seconds", each.latency_seconds},
                           {"batch_bytes", each.batch_bytes}});
  }
  return out;
}

}  // namespace

const plan_prediction& simulation_answer::by(work_plan plan) const { return *prediction_of(predictions, plan); }

const plan_prediction& simulation_answer::predicted() const { return ran ? by(ran->plan) : predictions.front(); }

simulation_answer predict(const simulation_question& asked) {
  return {
      .line = asked.line, .rates = asked.machine.rates, .predictions = predict_plans(asked.machine.rates), .ran = {}};
}

result<simulation_answer> run(const simulation_question& asked, byte_span sample) {
  simulation_answer made = predict(asked);
  counting_receiver receiver;
  const std::vector<simulated_stream> streams = {{.sample = sample, .bytes = asked.bytes}};
  const auto ran = simulate_feed(asked.machine, asked.options, streams, receiver);
  if (!ran) return ran.error();
  if (receiver.bytes != asked.bytes) {
    return status(status_code::backend_failure, fmt::format("{} of {} bytes came out", receiver.bytes, asked.bytes));
  }
  made.ran = facts_of(*ran);
  return made;
}

std::string csv_header() {
  return "machine,plan,predicted_gb_s,bottleneck,simulated_gb_s,processor_only_gb_s,device_cut_share,"
         "device_fingerprint_share,cores_busy,gpu_lanes_busy,mean_batch_mib,mean_piece_mib\n";
}

std::string csv_row(const simulation_answer& answer) {
  const plan_prediction& predicted = answer.predicted();
  std::string row =
      fmt::format("\"{}\",{},{:.3f},{},", answer.line, to_string(predicted.plan), predicted.bytes_per_second / giga,
                  predicted.limits.empty() ? "" : predicted.limits.front().name);
  const double processor_only = answer.by(work_plan::processor).bytes_per_second / giga;
  if (!answer.ran) return row + fmt::format(",{:.3f},,,,,,\n", processor_only);
  const simulation_facts& ran = *answer.ran;
  return row + fmt::format("{:.3f},{:.3f},{:.3f},{:.3f},{:.2f},{:.2f},{:.2f},{:.2f}\n", ran.bytes_per_second / giga,
                           processor_only, ran.device_cut_share, ran.device_fingerprint_share, ran.cores_busy,
                           ran.gpu_lanes_busy, ran.mean_batch_bytes / static_cast<double>(MiB),
                           ran.mean_piece_bytes / static_cast<double>(MiB));
}

ordered_json json_of(const simulation_answer& answer) {
  ordered_json out = {{"machine", answer.line},
                      {"rates", json_of(answer.rates)},
                      {"predictions", ordered_json::array()},
                      {"simulated", nullptr}};
  for (const plan_prediction& each : answer.predictions) out["predictions"].push_back(json_of(each));
  if (!answer.ran) return out;
  const simulation_facts& ran = *answer.ran;
  out["simulated"] = {{"plan", to_string(ran.plan)},
                      {"bytes_per_second", ran.bytes_per_second},
                      {"device_cut_share", ran.device_cut_share},
                      {"device_fingerprint_share", ran.device_fingerprint_share},
                      {"cores_busy", ran.cores_busy},
                      {"gpu_lanes_busy", ran.gpu_lanes_busy},
                      {"mean_batch_bytes", ran.mean_batch_bytes},
                      {"mean_piece_bytes", ran.mean_piece_bytes}};
  return out;
}

}  // namespace cutpoint::bench
