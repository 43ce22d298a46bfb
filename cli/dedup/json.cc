// The report as JSON. The keys are stable: new ones may be added, but none change.
#include <cutpoint/version.h>
#include <fmt/format.h>

#include "cli/dedup/report.h"
#include "cli/options/segment_options.h"

namespace cutpoint::cli {

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
