// Writes what `tune` found.
#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include <cutpoint/text.h>
#include <cutpoint/tune/search.h>
#include <cutpoint/version.h>
#include <fmt/format.h>

#include "cli/common/json.h"
#include "cli/common/output.h"
#include "cli/tune/options.h"

namespace cutpoint::cli {

// --- Parts of both ---------------------------------------------------------------------------------------------------

namespace {

std::optional<std::uint64_t> size_called(std::string_view name, const tune_candidate& candidate) {
  const auto setting = std::ranges::find(candidate.settings, name, &parameter_setting::name);
  return setting != candidate.settings.end() ? std::optional(*parse_size(setting->value)) : std::nullopt;
}

/// Returns the mean that the candidate's sizes ask for, whatever the ends of files make of it; nullopt for a profile.
std::optional<double> nominal_bytes(const tune_candidate& candidate) {
  const auto average = size_called("avg_bytes", candidate);
  return average ? std::optional(as_double(*average)) : std::nullopt;
}

}  // namespace

std::string options_of(const tune_candidate& candidate) {
  const auto value = [&](std::string_view name) {
    const auto size = size_called(name, candidate);
    return size ? format_size(*size) : std::string();
  };
  const std::array<std::string, 3> sizes = {value("min_bytes"), value("avg_bytes"), value("max_bytes")};
  std::string out =
      fmt::format("--{} {}", candidate.kind == entry_kind::algorithm ? "algorithm" : "profile", candidate.name);
  const bool is_average_alone = sizes[0].empty() && sizes[2].empty();
  if (!sizes[1].empty()) out += " --size " + (is_average_alone ? sizes[1] : fmt::format("{}", fmt::join(sizes, ":")));
  for (const parameter_setting& s : candidate.settings) {
    if (!s.name.ends_with("_bytes")) out += fmt::format(" --param {}={}", s.name, s.value);
  }
  return out;
}

namespace {

/// Returns the words for a share by which a store is smaller or larger than another one.
std::string size_compared_to(double bytes, double other) {
  const double share = bytes / std::max(other, 1.0) - 1;
  return fmt::format("{} {}", human_percent(std::abs(share)), share < 0 ? "smaller" : "larger");
}

std::string why_for_a_store(const tune_facts& facts, const tune_row& best, std::span<const tune_row> measured) {
  const tune_row& chosen = facts.rows.front();
  const auto usual = std::ranges::find_if(measured, &tune_row::is_usual);
  const std::string size = human_bytes(facts.kept_bytes(chosen));
  if (usual == measured.end()) return fmt::format("its store is the smallest, {} for these bytes", size);
  if (!chosen.is_usual) {
    return fmt::format(
        "its store is the smallest, {} for these bytes, {} than that of the default ({}), which may be off by {}", size,
        size_compared_to(facts.kept_bytes(chosen), facts.kept_bytes(*usual)), options_of(usual->candidate),
        human_percent(facts.spread_between(chosen, *usual)));
  }
  if (&best == &chosen)
    return fmt::format("it is the default, and its store is the smallest, {} for these bytes", size);
  return fmt::format("it is the default, {} for these bytes; the smallest store, by {}, is {}, which may be off by {}",
                     size, options_of(best.candidate),
                     size_compared_to(facts.kept_bytes(best), facts.kept_bytes(chosen)),
                     human_percent(facts.spread_between(best, chosen)));
}

/// Returns words of `init` for an encrypted store, whose cuts need a key: those of about the recommended length.
std::string encrypted_options(const tune_facts& facts) {
  const auto nominal = nominal_bytes(facts.rows.front().candidate);
  if (facts.rows.front().is_usual || !nominal) return {};
  const long bits = std::clamp(std::lround(std::log2(*nominal)), 8L, 24L);
  return fmt::format("--algorithm toeplitz128-aes --param min_exp={} --param mask_bits={} --param max_exp={}", bits - 2,
                     bits, bits + 2);
}

}  // namespace

std::string why_recommended(const tune_facts& facts) {
  const auto net_savings = [&](const tune_row& row) { return facts.net_savings(row); };
  const tune_row& chosen = facts.rows.front();
  const auto unmeasured =
      std::find_if(facts.rows.begin(), facts.rows.end(), [](const tune_row& row) { return !row.speed; });
  const tune_row& best = *std::max_element(
      facts.rows.begin(), unmeasured, [&](const auto& a, const auto& b) { return net_savings(a) < net_savings(b); });
  const std::string speed = human_rate(chosen.speed->bytes_per_second());
  if (facts.goal == tune_goal::store) return why_for_a_store(facts, best, std::span(facts.rows.begin(), unmeasured));
  if (net_savings(best) <= 0) {
    return fmt::format("no setting saves more than its chunks cost; this one is the fastest, {} on one thread", speed);
  }
  const std::string saves = human_percent(net_savings(chosen));
  if (net_savings(chosen) == net_savings(best)) {
    return fmt::format("it saves the most, {} after the cost of chunks, at {} on one thread", saves, speed);
  }
  return fmt::format(
      "it is the fastest, {} on one thread, of those that save at least {} of what the best saves: {} after the cost "
      "of chunks, while {} saves {} at {}",
      speed, human_percent(required_savings_share(facts.goal)), saves, options_of(best.candidate),
      human_percent(net_savings(best)), human_rate(best.speed->bytes_per_second()));
}

std::string warning_about(const tune_facts& facts) {
  const tune_row& chosen = facts.rows.front();
  if (chosen.candidate.cuts.fixed_chunk_bytes()) {
    return "chunks of a fixed length save hardly anything once bytes are inserted or removed, which a single copy of "
           "the "
           "data does not show: give two versions of it";
  }
  const auto usual = std::ranges::find_if(facts.rows, &tune_row::is_usual);
  if (usual != facts.rows.end() && nominal_bytes(chosen.candidate) > nominal_bytes(usual->candidate)) {
    return "of a long chunk that changes in a later version, all is stored again, which a single copy of the data does "
           "not show: give "
           "two versions of it";
  }
  return {};
}

// --- For people ------------------------------------------------------------------------------------------------------

namespace {

std::string kib(double bytes) { return fmt::format("{:.1f}", bytes / static_cast<double>(KiB)); }
/// What stores keep is shown in KiB if all keep less, since candidates differ by a few percent.
constexpr std::uint64_t most_in_kib = 100 * MiB;
std::string mib(double bytes) { return fmt::format("{:.1f}", bytes / static_cast<double>(MiB)); }
std::string percent(double share) { return fmt::format("{:.2f}", 100 * share); }

std::string range(std::uint64_t lowest, std::uint64_t highest) {
  return lowest == highest ? fmt::format("{}", lowest) : fmt::format("{} to {}", lowest, highest);
}

std::string sample_lines(const tune_facts& facts) {
  const double share = facts.input_bytes == 0 ? 0 : as_double(facts.sample_bytes) / as_double(facts.input_bytes);
  return line("inputs", fmt::format("{} ({} failed), {}", human_count(facts.input_count),
                                    human_count(facts.failed_count), human_bytes(as_double(facts.input_bytes)))) +
         line("sample", fmt::format("{}, {} of them, in {} byte ranges", human_bytes(as_double(facts.sample_bytes)),
                                    human_percent(share), human_count(facts.sample_stream_count)));
}

std::string skipped_lines(const tune_facts& facts) {
  std::vector<std::string> targets;
  for (const std::uint64_t each : facts.skipped_targets) targets.push_back(format_size(each));
  std::string out;
  if (!targets.empty()) {
    out += line("not tried", fmt::format("means of {}: the sample has too few such chunks", fmt::join(targets, ", ")));
  }
  if (facts.skips_seqcdc_search) {
    out += line("SeqCDC", "its usual parameters alone, because no other setting saves more than its chunks cost");
  }
  return out;
}

std::string bounds_lines(const tune_facts& facts) {
  if (facts.bounds.empty()) return {};
  std::string out = fmt::format(
      "\nSeqCDC on random bytes: parameters whose mean is within {:.1f} % of the wanted one\n", 100 * close_share);
  out += fmt::format("{:>6}  {:<11} {:<13} {:<12} {:>14}  {}\n", "mean", "seq_length", "skip_trigger", "skip_size",
                     "close of all", "nearest");
  for (const seqcdc_bounds& b : facts.bounds) {
    out += fmt::format(
        "{:>6}  {:<11} {:<13} {:<12} {:>14}  {}/{}/{}: {} KiB\n", format_size(b.target_bytes),
        range(b.lowest.seq_length, b.highest.seq_length), range(b.lowest.skip_trigger, b.highest.skip_trigger),
        range(b.lowest.skip_size, b.highest.skip_size), fmt::format("{} of {}", b.close_count, b.trial_count),
        b.nearest.seq_length, b.nearest.skip_trigger, b.nearest.skip_size, kib(b.nearest_mean_bytes));
  }
  return out;
}

std::string model_lines(const tune_facts& facts) {
  if (facts.model.empty()) return {};
  std::string out =
      "\nSeqCDC's model, 1 / lambda_k, beside random bytes: no minimum, no skipping; k = seq_length + 1\n";
  out += fmt::format("{:>10} {:>3} {:>14} {:>14} {:>9} {:>12}\n", "seq_length", "k", "model, bytes", "measured",
                     "error %", "chunks");
  for (const model_row& row : facts.model) {
    out += fmt::format("{:>10} {:>3} {:>14.1f} {:>14.1f} {:>+9.2f} {:>12}\n", row.seq_length, row.seq_length + 1,
                       row.expected_bytes, row.measured_bytes, 100 * row.error_share(), human_count(row.chunk_count));
  }
  return out;
}

std::string table(const tune_facts& facts) {
  if (facts.rows.empty()) return {};
  const bool has_whole = facts.rows.front().whole.has_value();
  const bool is_for_a_store = facts.goal == tune_goal::store;
  const bool is_small = std::ranges::all_of(
      facts.rows, [&](const tune_row& row) { return facts.kept_bytes(row) < as_double(most_in_kib); });
  std::string out = fmt::format("\n  {:>9} {:>9} {:>8} {:>8} {:>8} {:>8}", "mean KiB", "chunks", "saved %",
                                !is_for_a_store ? "net %"
                                : is_small      ? "KiB kept"
                                                : "MiB kept",
                                "GiB/s", "cut only");
  if (has_whole) out += fmt::format(" {:>13}", "of all: saved");
  out += "  options\n";
  for (const tune_row& row : facts.rows) {
    out += fmt::format("{} {:>9} {:>9} {:>8} {:>8} {:>8} {:>8}", row.is_on_front ? '*' : ' ', kib(row.mean_bytes),
                       row.counts.chunk_count, percent(row.counts.savings().value_or(0)),
                       !is_for_a_store ? percent(facts.net_savings(row))
                       : is_small      ? kib(facts.kept_bytes(row))
                                       : mib(facts.kept_bytes(row)),
                       row.speed ? gib_per_second(row.speed->bytes_per_second()) : "-",
                       row.speed ? gib_per_second(row.speed->cut_bytes_per_second) : "-");
    if (has_whole) {
      out += fmt::format(" {:>13}", row.whole ? percent(row.whole->savings().value_or(0)) : std::string("-"));
    }
    out += fmt::format("  {}\n", options_of(row.candidate));
  }
  return out;
}

std::string context_lines(const tune_facts& facts) {
  if (!facts.context) return {};
  const context_proposal& proposal = *facts.context;
  std::string out = fmt::format(
      "\nRules by extension: at least 1 MiB in the sample\n{:>12} {:>10} {:>8} {:>8} {:>8} {:>10} {:>8}  {}\n",
      "extension", "sample", "saved %", "usual %", "GiB/s", "zstd to %", "MiB/s", "class and options");
  for (const extension_facts& each : proposal.extensions) {
    const tune_row& chosen = each.rows.front();
    out += fmt::format("{:>12} {:>10} {:>8} {:>8} {:>8} {:>10} {:>8.0f}  {}: {}\n", each.extension,
                       human_bytes(as_double(chosen.counts.bytes)), percent(chosen.counts.savings().value_or(0)),
                       percent(each.usual.counts.savings().value_or(0)),
                       gib_per_second(chosen.speed->bytes_per_second()), percent(chosen.compression->compressed_share),
                       chosen.compression->bytes_per_second / static_cast<double>(MiB),
                       each.class_name.empty() ? other_files : each.class_name, options_of(chosen.candidate));
  }
  return out + "\n" +
         line("expected", fmt::format("{} saved by these rules, {} by the recommended chunker alone; {} and {} stored "
                                      "after compression",
                                      human_percent(proposal.counts.savings().value_or(0)),
                                      human_percent(proposal.usual_counts.savings().value_or(0)),
                                      human_bytes(proposal.stored_bytes), human_bytes(proposal.usual_stored_bytes)));
}

std::string recommendation(const tune_facts& facts) {
  if (!facts.is_recommended) return {};
  const std::string warning = warning_about(facts);
  const std::string_view compression = facts.rows.front().compression ? ", and zstd compresses what is new" : "";
  const std::string costs =
      facts.goal == tune_goal::store
          ? fmt::format(
                "Kept: new chunks, compressed by zstd, {:.0f} bytes for each, and {} for each reference to a chunk",
                store_record_bytes, facts.chunk_cost)
          : fmt::format("Net: each chunk costs {} bytes{}", facts.chunk_cost, compression);
  const std::string encrypted = facts.goal == tune_goal::store ? encrypted_options(facts) : std::string();
  return fmt::format("\n* no other setting is better in savings and in speed. {}.\n\n{}{}", costs,
                     line("recommended", options_of(facts.rows.front().candidate)), line("", why_recommended(facts))) +
         (encrypted.empty() ? std::string() : line("encrypted", encrypted)) +
         (warning.empty() ? std::string() : line("warning", warning));
}

}  // namespace

std::string tune_report(const tune_facts& facts) {
  const std::string above = facts.has_inputs ? sample_lines(facts) + skipped_lines(facts) : std::string();
  std::string out =
      above + bounds_lines(facts) + model_lines(facts) + table(facts) + recommendation(facts) + context_lines(facts);
  return out.starts_with('\n') ? out.substr(1) : out;
}

// --- JSON ------------------------------------------------------------------------------------------------------------

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

json json_of(const tune_row& row, const tune_facts& facts) {
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
          {"net_savings_share", facts.net_savings(row)},
          {"kept_bytes", facts.goal == tune_goal::store ? json(std::llround(facts.kept_bytes(row))) : json()},
          {"is_default", row.is_usual},
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
  const auto candidate = [&](const tune_row& each) { return json_of(each, facts); };
  json recommendation;
  if (facts.is_recommended) {
    const tune_candidate& best = facts.rows.front().candidate;
    const std::string warning = warning_about(facts);
    recommendation = {{"candidate", 0},
                      {"cuts", best.cuts.canonical()},
                      {"options", options_of(best)},
                      {"encrypted_options", facts.goal == tune_goal::store ? json(encrypted_options(facts)) : json()},
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
