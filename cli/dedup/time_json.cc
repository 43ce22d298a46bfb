// Plans, stages, devices, lanes, queues.
#include "cli/dedup/time_json.h"

#include <fmt/format.h>

#include "cli/dedup/explanation.h"

namespace cutpoint::cli {

namespace {

using nlohmann::ordered_json;

ordered_json json_of(const plan_bottleneck& bottleneck) {
  return {{"plan", to_string(bottleneck.plan)},
          {"predicted_bytes_per_second", or_null(bottleneck.bytes_per_second)},
          {"limit", bottleneck.tightest ? ordered_json(bottleneck.tightest->name) : ordered_json()},
          {"limit_bytes_per_second",
           bottleneck.tightest ? ordered_json(bottleneck.tightest->bytes_per_second) : ordered_json()}};
}

ordered_json predictions_of(const feed_statistics& work) {
  ordered_json out = ordered_json::array();
  for (const plan_prediction& predicted : work.predictions) {
    ordered_json row = {{"plan", to_string(predicted.plan)},
                        {"bytes_per_second", predicted.bytes_per_second},
                        {"device_cut_share", predicted.device_cut_share},
                        {"device_fingerprint_share", predicted.device_fingerprint_share},
                        {"limits", ordered_json::array()}};
    for (const rate_limit& limit : predicted.limits) {
      row["limits"].push_back({{"name", limit.name}, {"bytes_per_second", limit.bytes_per_second}});
    }
    out.push_back(std::move(row));
  }
  return out;
}

ordered_json stages_json(const dedup_report& facts, const explanation& why) {
  ordered_json out = ordered_json::array();
  for (const stage_cost& cost : facts.stages()) {
    out.push_back({{"stage", cost.name},
                   {"is_parallel", cost.is_parallel},
                   {"busy_seconds", cost.work.seconds},
                   {"bytes", cost.work.bytes},
                   {"bytes_per_second", or_null(cost.bytes_per_second())},
                   {"predicted_bytes_per_second", or_null(why.rate_of(cost).predicted)},
                   {"alone_seconds", cost.alone_seconds(facts.thread_count)}});
  }
  return out;
}

ordered_json devices_of(const dedup_report& facts, const explanation& why) {
  ordered_json out = ordered_json::array();
  for (const device_cost& cost : facts.devices()) {
    out.push_back({{"device", cost.device},
                   {"lane_count", cost.lane_count},
                   {"busy_seconds", cost.work.seconds},
                   {"bytes", cost.work.bytes},
                   {"bytes_per_second", or_null(cost.bytes_per_second())},
                   {"predicted_bytes_per_second", or_null(why.rate_of(cost).predicted)},
                   {"alone_seconds", cost.alone_seconds()}});
  }
  return out;
}

ordered_json lanes_json(const dedup_report& facts, const explanation& why) {
  ordered_json out = ordered_json::array();
  const std::vector<explained_lane> explained = why.lanes();
  for (std::size_t lane = 0; lane < facts.work.lanes.size(); ++lane) {
    const lane_record& record = facts.work.lanes[lane];
    ordered_json row = {{"lane", lane},
                        {"name", explained[lane].name},
                        {"device", record.device >= 0 ? ordered_json(record.device) : ordered_json()},
                        {"reading_seconds", lane == 0 ? facts.reading.seconds : 0.0}};
    double busy = row["reading_seconds"];
    for (std::size_t i = 0; i < stage_count; ++i) {
      const double seconds = record.work[i].seconds;
      row[fmt::format("{}_seconds", to_string(static_cast<stage>(i)))] = seconds;
      busy += seconds;
    }
    row["busy_share"] = facts.wall_seconds > 0 ? ordered_json(busy / facts.wall_seconds) : ordered_json();
    row["bytes_per_second"] = or_null(explained[lane].pace.measured);
    row["predicted_bytes_per_second"] = or_null(explained[lane].pace.predicted);
    out.push_back(std::move(row));
  }
  return out;
}

ordered_json queues_json(const explanation& why) {
  ordered_json out = ordered_json::array();
  for (const explained_queue& queue : why.queues()) {
    out.push_back(
        {{"queue", queue.name},
         {"unit", queue.is_bytes ? "bytes" : "segments"},
         {"mean", queue.how_full.mean},
         {"most", queue.how_full.most},
         {"capacity", queue.how_full.capacity != 0 ? ordered_json(queue.how_full.capacity) : ordered_json()}});
  }
  return out;
}

ordered_json model_json(const dedup_report& facts) {
  const throughput_model model = facts.model();
  return {{"chunking_seconds_per_byte", model.chunking},
          {"fingerprinting_seconds_per_byte", model.fingerprinting},
          {"index_seconds_per_byte", model.index},
          {"serial_bytes_per_second", or_null(model.serial)},
          {"pipelined_bytes_per_second", or_null(model.pipelined)},
          {"parallel_bytes_per_second", or_null(model.parallel)}};
}

ordered_json work_of(const dedup_report& facts) {
  const feed_statistics& work = facts.work;
  return {{"run_bytes", work.run_bytes},
          {"twice_cut_bytes", work.twice_cut_bytes},
          {"twice_hashed_bytes", work.twice_hashed_bytes},
          {"segment_count", work.segment_count},
          {"speculated_segment_count", work.speculated_count},
          {"missed_segment_count", work.missed_count},
          {"ring_bytes", work.ring_bytes}};
}

}  // namespace

ordered_json time_json(const dedup_report& facts) {
  const explanation why(facts);
  return {{"plan", to_string(facts.work.plan)},
          {"predictions", predictions_of(facts.work)},
          {"before_offload", json_of(why.before_offload())},
          {"after_offload", json_of(why.after_offload())},
          {"device_cut_share", or_null(why.device_cut_share())},
          {"stages", stages_json(facts, why)},
          {"devices", devices_of(facts, why)},
          {"lanes", lanes_json(facts, why)},
          {"queues", queues_json(why)},
          {"model", model_json(facts)},
          {"work", work_of(facts)}};
}

}  // namespace cutpoint::cli
