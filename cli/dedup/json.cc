// The report of `dedup` as JSON. The keys are stable: new ones may be added, but none change.
#include <cutpoint/version.h>
#include <fmt/format.h>

#include "cli/costs/costs.h"
#include "cli/dedup/report.h"
#include "cli/options/chunking_options.h"

namespace cutpoint::cli {

// --- Where the time went ---------------------------------------------------------------------------------------------

namespace {

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
    json row = {
        {"lane", lane}, {"name", explained[lane].name}, {"device", record.device >= 0 ? json(record.device) : json()}};
    double busy = 0;
    for (std::size_t i = 0; i < stage_count; ++i) {
      const double seconds = facts.lane_seconds(lane, static_cast<stage>(i));
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
    return with_work({{"stage", cost.name}, {"is_parallel", cost.serial_seconds < cost.work.seconds}}, cost.work,
                     why.rate_of(cost), cost.alone_seconds(thread_count));
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

// --- The report ------------------------------------------------------------------------------------------------------

namespace {

json json_of(const dedup_counts& counts) {
  return {{"stream_count", counts.stream_count},
          {"bytes", counts.bytes},
          {"chunk_count", counts.chunk_count},
          {"unique_bytes", counts.unique_bytes},
          {"unique_chunk_count", counts.unique_chunk_count},
          {"duplicate_bytes", counts.duplicate_bytes()},
          {"savings_share", or_null(counts.savings())},
          {"elimination_ratio", or_null(counts.elimination_ratio())}};
}

json json_of(const length_distribution& lengths, const std::optional<double>& expected) {
  json out = {{"mean_bytes", or_null(lengths.mean())},
              {"expected_mean_bytes", or_null(expected)},
              {"min_bytes", or_null(lengths.min())},
              {"max_bytes", or_null(lengths.max())}};
  for (const int percent : reported_percentiles) {
    out[fmt::format("percentile_{}_bytes", percent)] = or_null(lengths.percentile(percent));
  }
  out["histogram"] = json::array();
  for (const auto& bucket : lengths.buckets(reported_fineness)) {
    if (bucket.chunk_count == 0) continue;
    out["histogram"].push_back(
        {{"least_bytes", bucket.least}, {"most_bytes", bucket.most}, {"chunk_count", bucket.chunk_count}});
  }
  return out;
}

json json_of(const fingerprint_index& index) {
  return {{"entry_count", index.size()},
          {"memory_bytes", index.memory_bytes()},
          {"bytes_per_entry", or_null(bytes_per_entry(index))}};
}

json json_of(const dedup_tally& tally, const std::optional<double>& expected) {
  json out = json_of(tally.total());
  out["chunks"] = json_of(tally.lengths(), expected);
  out["index"] = json_of(tally.index());
  return out;
}

json kinds_json(const dedup_report& facts) {
  return json_list(facts.kinds_by_bytes(), [&](std::size_t kind) {
    json row = {{"kind", facts.kind_names[kind]}};
    if (!facts.context.rules().empty()) row["class"] = facts.context.class_name(facts.kind_rules[kind]);
    row.update(json_of(facts.tally->kinds()[kind]));
    return row;
  });
}

json classes_json(const dedup_report& facts) {
  const std::vector<dedup_counts> counts = facts.classes();
  json rows = json::array();
  for (std::size_t rule = 0; rule < counts.size(); ++rule) {
    const chunker& cuts = facts.feed->cuts_of(rule);
    json row = {{"class", facts.context.class_name(rule)}, {"cuts", cuts.canonical()}};
    row.update(json_of(counts[rule]));
    rows.push_back(std::move(row));
  }
  return rows;
}

json comparison_json(const dedup_report& facts, const std::optional<double>& expected) {
  const exact_comparison& exact = *facts.exact;
  const cut_differences& differences = exact.differences;
  return {{"exact", json_of(*exact.tally, expected)},
          {"missed_duplicate_bytes", exact.missed_bytes(facts.tally->total())},
          {"missed_duplicate_share", or_null(exact.missed_share(facts.tally->total()))},
          {"dirty_chunk_count", differences.dirty_chunk_count},
          {"dirty_bytes", differences.dirty_bytes},
          {"boundary_count", differences.boundary_count},
          {"dirty_bytes_per_boundary", or_null(differences.dirty_bytes_per_boundary())}};
}

}  // namespace

std::string dedup_json(const dedup_report& facts) {
  const feed_options& feed = *facts.feed;
  const auto expected = feed.cuts.expected_chunk_bytes();
  json out = {
      {"version", version()},
      {"interrupted", facts.is_interrupted},
      {"cuts", feed.cuts.canonical()},
      {"fingerprint", name_of(feed.fingerprint)},
      {"join", name_of(feed.join)},
      {"thread_count", facts.thread_count},
      {"segment_bytes", facts.segment_bytes()},
      {"memory_limit_bytes", facts.memory_limit_bytes},
      {"input_count", facts.input_count},
      {"failed_input_count", facts.failed_count},
      {"repeated_input_count", facts.repeated_count},
      {"result", json_of(*facts.tally, expected)},
      {"classes", classes_json(facts)},
      {"kinds", kinds_json(facts)},
      {"wall_seconds", facts.wall_seconds},
      {"bytes_per_second", or_null(facts.bytes_per_second())},
      {"bottleneck", or_null(facts.bottleneck())},
      {"backends",
       {{"chunking", to_string(facts.work.chunked_on)}, {"fingerprinting", to_string(facts.work.fingerprinted_on)}}},
      {"comparison", facts.exact ? comparison_json(facts, expected) : json()}};
  out.update(time_json(facts));
  return json_text(out);
}

}  // namespace cutpoint::cli
