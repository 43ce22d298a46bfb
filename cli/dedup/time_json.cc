// Plans, stages, devices, lanes and queues as JSON.
#include <fmt/format.h>

#include "cli/dedup/report.h"
#include "cli/dedup/time_rows.h"

namespace cutpoint::cli {

namespace {

json prediction_json(const plan_prediction& predicted) {
  return {{"plan", to_string(predicted.plan)},
          {"bytes_per_second", predicted.bytes_per_second},
          {"device_cut_share", predicted.device_cut_share},
          {"device_fingerprint_share", predicted.device_fingerprint_share},
          {"limits", json_list(predicted.limits, [](const rate_limit& limit) {
             return json{{"name", limit.name}, {"bytes_per_second", limit.bytes_per_second}};
           })}};
}

/// Adds the fields that stages and devices share.
json with_work(json row, const stage_work& work, const rate_comparison& rate, double alone_seconds) {
  row["busy_seconds"] = work.seconds;
  row["bytes"] = work.bytes;
  row["bytes_per_second"] = or_null(rate.measured);
  row["predicted_bytes_per_second"] = or_null(rate.predicted);
  row["alone_seconds"] = alone_seconds;
  return row;
}

json lanes_json(const dedup_report& facts, const explanation& why) {
  json out = json::array();
  const std::vector<explained_lane> explained = why.lanes();
  for (std::size_t lane = 0; lane < facts.work.lanes.size(); ++lane) {
    const lane_record& record = facts.work.lanes[lane];
    json row = {{"lane", lane},
                {"name", explained[lane].name},
                {"device", record.device >= 0 ? json(record.device) : json()},
                {"reading_seconds", lane == 0 ? facts.reading.seconds : 0.0}};
    double busy = lane == 0 ? facts.reading.seconds : 0.0;
    for (std::size_t i = 0; i < stage_count; ++i) {
      const double seconds = record.work[i].seconds;
      row[fmt::format("{}_seconds", to_string(static_cast<stage>(i)))] = seconds;
      busy += seconds;
    }
    row["busy_share"] = facts.wall_seconds > 0 ? json(busy / facts.wall_seconds) : json();
    row["bytes_per_second"] = or_null(explained[lane].pace.measured);
    row["predicted_bytes_per_second"] = or_null(explained[lane].pace.predicted);
    out.push_back(std::move(row));
  }
  return out;
}

json queue_json(const explained_queue& queue) {
  const std::uint64_t capacity = queue.how_full.capacity;
  return {{"queue", queue.name},
          {"unit", queue.is_bytes ? "bytes" : "segments"},
          {"mean", queue.how_full.mean},
          {"most", queue.how_full.most},
          {"capacity", capacity != 0 ? json(capacity) : json()}};
}

}  // namespace

json json_of(const plan_bottleneck& bottleneck) {
  const auto& limit = bottleneck.tightest;
  return {{"plan", to_string(bottleneck.plan)},
          {"predicted_bytes_per_second", or_null(bottleneck.bytes_per_second)},
          {"limit", limit ? json(limit->name) : json()},
          {"limit_bytes_per_second", limit ? json(limit->bytes_per_second) : json()}};
}

json stages_json(std::span<const stage_cost> costs, const explanation& why, std::uint64_t thread_count) {
  return json_list(costs, [&](const stage_cost& cost) {
    return with_work({{"stage", cost.name}, {"is_parallel", cost.is_parallel}}, cost.work, why.rate_of(cost),
                     cost.alone_seconds(thread_count));
  });
}

json devices_json(std::span<const device_cost> costs, const explanation& why) {
  return json_list(costs, [&](const device_cost& cost) {
    return with_work({{"device", cost.device}, {"lane_count", cost.lane_count}}, cost.work, why.rate_of(cost),
                     cost.alone_seconds());
  });
}

json time_json(const dedup_report& facts) {
  const explanation why(facts.work, facts.feed->rates.get());
  const feed_statistics& work = facts.work;
  const throughput_model model = facts.model();
  return {{"plan", to_string(work.plan)},
          {"predictions", json_list(work.predictions, prediction_json)},
          {"before_offload", json_of(why.before_offload())},
          {"after_offload", json_of(why.after_offload())},
          {"device_cut_share", or_null(why.device_cut_share())},
          {"stages", stages_json(facts.stages(), why, facts.thread_count)},
          {"devices", devices_json(facts.devices(), why)},
          {"lanes", lanes_json(facts, why)},
          {"queues", json_list(why.queues(), queue_json)},
          {"model",
           {{"chunking_seconds_per_byte", model.chunking},
            {"fingerprinting_seconds_per_byte", model.fingerprinting},
            {"index_seconds_per_byte", model.index},
            {"serial_bytes_per_second", or_null(model.serial)},
            {"pipelined_bytes_per_second", or_null(model.pipelined)},
            {"parallel_bytes_per_second", or_null(model.parallel)}}},
          {"work",
           {{"run_bytes", work.run_bytes},
            {"twice_cut_bytes", work.twice_cut_bytes},
            {"twice_hashed_bytes", work.twice_hashed_bytes},
            {"segment_count", work.segment_count},
            {"speculated_segment_count", work.speculated_count},
            {"missed_segment_count", work.missed_count},
            {"ring_bytes", work.ring_bytes}}}};
}

}  // namespace cutpoint::cli
