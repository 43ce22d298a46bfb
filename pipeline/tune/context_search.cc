// The proposal of a context. Extensions with the same rule make one class.
#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include <cutpoint/context.h>
#include <cutpoint/text.h>
#include <cutpoint/tune/context_search.h>
#include <fmt/format.h>

#include "pipeline/tune/count.h"

namespace cutpoint {

namespace {

/// 16 chunks of 64 KiB, as `search` wants of a mean.
constexpr std::uint64_t least_extension_bytes = 1 * MiB;
/// A sample shows what these save: each of its super-chunks has at least 64 KiB.
constexpr std::array<std::uint64_t, 2> sampled_lengths = {8 * KiB, 64 * KiB};
/// A sample of some super-chunks does not show whether the rest of a file differs.
constexpr std::uint64_t whole_file_length = 8 * MiB;
constexpr std::uint64_t timing_rounds = 3;

result<std::vector<tune_candidate>> candidates_of(const tune_facts& facts, bool is_all_sampled) {
  std::vector<tune_candidate> candidates;
  const auto add = [&](tune_candidate candidate) {
    const bool is_new = std::ranges::none_of(candidates, [&](const tune_candidate& known) {
      return known.name == candidate.name && known.target_bytes == candidate.target_bytes;
    });
    if (is_new) candidates.push_back(std::move(candidate));
  };
  const tune_candidate& usual = facts.rows.front().candidate;
  add(usual);
  for (const tune_row& row : facts.rows) {
    if (row.candidate.name == usual.name && !usual.cuts.fixed_chunk_bytes()) add(row.candidate);
  }
  std::vector<std::uint64_t> lengths(sampled_lengths.begin(), sampled_lengths.end());
  if (is_all_sampled) lengths.push_back(whole_file_length);
  for (const std::uint64_t length : lengths) {
    CUTPOINT_TRY(auto fixed, candidate_at("fixed", length, length));
    add(std::move(fixed));
  }
  return candidates;
}

/// A name for the class of all extensions with this rule, such as "fixed-64k-uncompressed".
std::string class_name_of(const tune_candidate& candidate, bool is_compressible) {
  const std::string size =
      candidate.target_bytes != 0 ? fmt::format("-{}", lower_case(format_size(candidate.target_bytes))) : std::string();
  return fmt::format("{}{}{}", candidate.name, size, is_compressible ? "" : "-uncompressed");
}

/// Counts and times the candidates on the files of one extension, and orders them. The facts have the conditions.
result<extension_facts> measure_extension(const content_sample& sample, const std::vector<sampled_range>& streams,
                                          const std::vector<tune_candidate>& candidates, const tune_facts& facts,
                                          const cancellation& cancel) {
  tune_facts compared{.goal = facts.goal, .fingerprint = facts.fingerprint, .chunk_cost = facts.chunk_cost};
  for (const tune_candidate& candidate : candidates) {
    if (cancel.is_requested()) return stopped_as_asked();
    CUTPOINT_TRY(const auto counts, count_on(sample, streams, candidate.cuts, new_chunks::compressed));
    compared.rows.push_back({.candidate = candidate,
                             .counts = counts.total,
                             .mean_bytes = counts.mean_bytes,
                             .compression = counts.compression});
  }
  const tune_row usual = compared.rows.front();
  const aligned_bytes data = timing_data(sample, streams);
  CUTPOINT_RETURN_IF_FAILED(measure_rows(compared.rows, facts.fingerprint, data.view(), timing_rounds, {}, cancel));
  if (cancel.is_requested()) return stopped_as_asked();
  choose(compared);
  const bool has_duplicates = std::ranges::any_of(compared.rows, [&](const tune_row& row) {
    return row.counts.duplicate_bytes() > row.counts.chunk_count * facts.chunk_cost;
  });
  if (!has_duplicates) {
    const std::string& cuts = usual.candidate.cuts.canonical();
    const auto is_usual = [&](const tune_row& row) { return row.candidate.cuts.canonical() == cuts; };
    const auto net_savings = [&](const tune_row& row) { return compared.net_savings(row); };
    const auto preferred = usual.compression->pays() ? std::ranges::find_if(compared.rows, is_usual)
                                                     : std::ranges::max_element(compared.rows, {}, net_savings);
    std::rotate(compared.rows.begin(), preferred, preferred + 1);
  }
  return extension_facts{.extension = {}, .class_name = {}, .usual = usual, .rows = std::move(compared.rows)};
}

}  // namespace

status propose_context(const content_sample& sample, const std::vector<std::string>& extensions,
                       const progress_sink& progress, const cancellation& cancel, tune_facts& facts) {
  const chunker usual = facts.rows.front().candidate.cuts;
  CUTPOINT_TRY(const auto candidates, candidates_of(facts, sample.bytes().size() == sample.read_bytes()));
  std::map<std::string, std::vector<sampled_range>> streams_by_extension;
  for (const sampled_range& range : sample.streams()) {
    streams_by_extension[extensions[range.input]].push_back(range);
  }
  context_proposal proposal;
  std::vector<sampled_range> other_streams;
  std::map<std::string, context_rule> rules;  // by the names of their classes
  for (const auto& [extension, streams] : streams_by_extension) {
    std::uint64_t bytes = 0;
    for (const sampled_range& range : streams) bytes += range.length;
    context_rule rule{.name = "extension", .extensions = {extension}, .cuts = usual};
    if (bytes < least_extension_bytes || !chunking_context::make({rule})) {
      other_streams.insert(other_streams.end(), streams.begin(), streams.end());
      continue;
    }
    if (progress) progress(fmt::format("rules for {}", extension));
    auto measured = measure_extension(sample, streams, candidates, facts, cancel);
    if (!measured) {
      if (progress) progress({});
      return measured.error();
    }
    const tune_row& chosen = measured->rows.front();
    const bool is_compressible = chosen.compression->pays();
    proposal.counts += chosen.counts;
    proposal.usual_counts += measured->usual.counts;
    proposal.stored_bytes += chosen.stored_bytes();
    proposal.usual_stored_bytes += measured->usual.stored_bytes();
    measured->extension = extension;
    if (!is_compressible || chosen.candidate.cuts.canonical() != usual.canonical()) {
      rule.name = class_name_of(chosen.candidate, is_compressible);
      rule.cuts = chosen.candidate.cuts;
      if (!is_compressible) rule.compression_level = 0;
      measured->class_name = rule.name;
      const auto [known, is_new] = rules.try_emplace(rule.name, rule);
      if (!is_new) known->second.extensions.push_back(extension);
    }
    proposal.extensions.push_back(*std::move(measured));
  }
  if (progress) progress({});
  CUTPOINT_TRY(const auto others, count_on(sample, other_streams, usual, new_chunks::compressed));
  const tune_row other_row{
      .candidate = facts.rows.front().candidate, .counts = others.total, .compression = others.compression};
  proposal.counts += others.total;
  proposal.usual_counts += others.total;
  proposal.stored_bytes += other_row.stored_bytes();
  proposal.usual_stored_bytes += other_row.stored_bytes();
  std::vector<context_rule> listed;
  for (auto& [name, rule] : rules) listed.push_back(std::move(rule));
  CUTPOINT_TRY(auto context, chunking_context::make(std::move(listed)));
  proposal.content = {.rules = std::move(context), .others = usual};
  facts.context = std::move(proposal);
  return {};
}

}  // namespace cutpoint
