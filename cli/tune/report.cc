// The report as text: the sample, SeqCDC's bounds, the table and the recommendation.
#include "cli/tune/report.h"

#include <cutpoint/text.h>
#include <fmt/format.h>

#include "cli/common/units.h"

namespace cutpoint::cli {

namespace {

std::string kib(double bytes) { return fmt::format("{:.1f}", bytes / static_cast<double>(KiB)); }
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
  std::string out = fmt::format("\n  {:>9} {:>9} {:>8} {:>8} {:>8} {:>8}", "mean KiB", "chunks", "saved %", "net %",
                                "GiB/s", "cut only");
  if (has_whole) out += fmt::format(" {:>13}", "of all: saved");
  out += "  options\n";
  for (const tune_row& row : facts.rows) {
    out += fmt::format("{} {:>9} {:>9} {:>8} {:>8} {:>8} {:>8}", row.is_on_front ? '*' : ' ', kib(row.mean_bytes),
                       row.counts.chunk_count, percent(row.counts.savings().value_or(0)),
                       percent(row.net_savings(facts.chunk_cost)),
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
  return fmt::format(
             "\n* no other setting is better in savings and in speed. Net: each chunk costs {} bytes{}.\n\n{}{}",
             facts.chunk_cost, compression, line("recommended", options_of(facts.rows.front().candidate)),
             line("", why_recommended(facts))) +
         (warning.empty() ? std::string() : line("warning", warning));
}

}  // namespace

std::string tune_report(const tune_facts& facts) {
  const std::string above = facts.has_inputs ? sample_lines(facts) + skipped_lines(facts) : std::string();
  std::string out =
      above + bounds_lines(facts) + model_lines(facts) + table(facts) + recommendation(facts) + context_lines(facts);
  return out.starts_with('\n') ? out.substr(1) : out;
}

}  // namespace cutpoint::cli
