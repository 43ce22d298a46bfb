// The report as JSON. The keys are stable: new ones may be added, but none change.
#include "cli/common/json.h"

#include <cmath>

#include <cutpoint/text.h>
#include <cutpoint/version.h>

#include "cli/tune/report.h"

namespace cutpoint::cli {

namespace {

json json_of(const seqcdc_values& values) {
  return {{"seq_length", values.seq_length}, {"skip_trigger", values.skip_trigger}, {"skip_size", values.skip_size}};
}

json json_of(const seqcdc_bounds& bounds) {
  return {{"target_bytes", bounds.target_bytes},
          {"run_count", bounds.run_count},
          {"run_bytes", bounds.bytes_each},
          {"trial_count", bounds.trial_count},
          {"close_count", bounds.close_count},
          {"lowest", json_of(bounds.lowest)},
          {"highest", json_of(bounds.highest)},
          {"nearest", json_of(bounds.nearest)},
          {"nearest_mean_bytes", bounds.nearest_mean_bytes}};
}

json json_of(const model_row& row) {
  return {{"seq_length", row.seq_length},
          {"sequence_bytes", row.seq_length + 1},
          {"expected_mean_bytes", row.expected_bytes},
          {"mean_bytes", row.measured_bytes},
          {"chunk_count", row.chunk_count},
          {"error_share", row.error_share()}};
}

json savings_json(const dedup_counts& counts) {
  return {{"bytes", counts.bytes},
          {"chunk_count", counts.chunk_count},
          {"unique_bytes", counts.unique_bytes},
          {"unique_chunk_count", counts.unique_chunk_count},
          {"savings_share", or_null(counts.savings())}};
}

json json_of(const tune_row& row, std::uint64_t chunk_cost) {
  const std::uint64_t target = row.candidate.target_bytes;
  json parameters = json::object();
  for (const parameter_setting& setting : row.candidate.settings) parameters[setting.name] = *parse_size(setting.value);
  return {{"name", row.candidate.name},
          {"cuts", row.candidate.cuts.canonical()},
          {"options", options_of(row.candidate)},
          {"parameters", parameters},
          {"target_bytes", target != 0 ? json(target) : json()},
          {"tried_count", row.tried_count},
          {"mean_bytes", row.mean_bytes},
          {"sample", savings_json(row.counts)},
          {"whole", row.whole ? savings_json(*row.whole) : json()},
          {"net_savings_share", row.net_savings(chunk_cost)},
          {"back_end", to_string(backend_of(row.candidate.cuts))},
          {"cut_bytes_per_second", row.speed ? json(row.speed->cut_bytes_per_second) : json()},
          {"hash_bytes_per_second", row.speed ? or_null(row.speed->hash_bytes_per_second) : json()},
          {"bytes_per_second", row.speed ? json(row.speed->bytes_per_second()) : json()},
          {"compressed_share", row.compression ? json(row.compression->compressed_share) : json()},
          {"on_front", row.is_on_front}};
}

json json_of(const extension_facts& each) {
  const tune_row& chosen = each.rows.front();
  return {{"extension", each.extension},
          {"class", each.class_name.empty() ? std::string(other_files) : each.class_name},
          {"cuts", chosen.candidate.cuts.canonical()},
          {"sample", savings_json(chosen.counts)},
          {"usual", savings_json(each.usual.counts)},
          {"bytes_per_second", chosen.speed->bytes_per_second()},
          {"compressed_share", chosen.compression->compressed_share},
          {"compress_bytes_per_second", chosen.compression->bytes_per_second},
          {"is_compressible", chosen.compression->pays()},
          {"stored_bytes", std::llround(chosen.stored_bytes())},
          {"usual_stored_bytes", std::llround(each.usual.stored_bytes())}};
}

json context_of(const tune_facts& facts) {
  if (!facts.context) return {};
  const auto extension = [](const extension_facts& each) { return json_of(each); };
  return {{"extensions", json_list(facts.context->extensions, extension)},
          {"sample", savings_json(facts.context->counts)},
          {"usual", savings_json(facts.context->usual_counts)},
          {"stored_bytes", std::llround(facts.context->stored_bytes)},
          {"usual_stored_bytes", std::llround(facts.context->usual_stored_bytes)}};
}

json sample_of(const tune_facts& facts) {
  if (!facts.has_inputs) return {};
  return {{"bytes", facts.sample_bytes}, {"stream_count", facts.sample_stream_count}, {"share", facts.sample_share}};
}

}  // namespace

std::string tune_json(const tune_facts& facts) {
  const auto bounds = [](const seqcdc_bounds& each) { return json_of(each); };
  const auto model = [](const model_row& each) { return json_of(each); };
  const auto candidate = [&](const tune_row& each) { return json_of(each, facts.chunk_cost); };
  json recommendation;
  if (facts.is_recommended) {
    const tune_candidate& best = facts.rows.front().candidate;
    const std::string warning = warning_about(facts);
    recommendation = {{"candidate", 0},
                      {"cuts", best.cuts.canonical()},
                      {"options", options_of(best)},
                      {"why", why_recommended(facts)},
                      {"warning", warning.empty() ? json() : json(warning)}};
  }
  return json_text({{"version", version()},
                    {"interrupted", facts.is_interrupted},
                    {"goal", to_string(facts.goal)},
                    {"fingerprint", name_of(facts.fingerprint)},
                    {"chunk_cost_bytes", facts.chunk_cost},
                    {"thread_count", facts.thread_count},
                    {"memory_limit_bytes", facts.memory_bytes},
                    {"input_count", facts.input_count},
                    {"failed_input_count", facts.failed_count},
                    {"input_bytes", facts.input_bytes},
                    {"sample", sample_of(facts)},
                    {"skipped_target_bytes", facts.skipped_targets},
                    {"bounds", json_list(facts.bounds, bounds)},
                    {"model", json_list(facts.model, model)},
                    {"candidates", json_list(facts.rows, candidate)},
                    {"recommendation", recommendation},
                    {"context", context_of(facts)}});
}

}  // namespace cutpoint::cli
