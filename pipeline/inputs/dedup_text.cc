// The report of a deduplication as text: what was cut, how long chunks are, and which files they are of.
#include <algorithm>
#include <cmath>

#include <cutpoint/dedup_report.h>
#include <cutpoint/report_text.h>
#include <fmt/format.h>

namespace cutpoint {

namespace {

constexpr std::size_t most_rows = 20;
constexpr std::size_t kinds_in_summary = 4;
constexpr std::size_t kinds_in_details = 10;
constexpr double bar_columns = 40;

std::string bytes_of(std::uint64_t count) {
  return fmt::format("{} ({})", human_bytes(as_double(count)), counted(count, "byte"));
}

std::string ratio_of(const std::optional<double>& ratio) {
  return or_dash(ratio, [](double number) { return fmt::format("{:.2f}", number); });
}

// --- What was cut ----------------------------------------------------------------------------------------------------

std::string settings_of(const dedup_report& facts) {
  const feed_options& feed = *facts.feed;
  std::string out = report_line("cuts", feed.cuts.canonical());
  out += report_line("fingerprint", std::string(name_of(feed.fingerprint)));
  out += report_line(
      "join", fmt::format("{}, segments of {}, {}", name_of(feed.join), human_bytes(as_double(facts.segment_bytes())),
                          counted(facts.thread_count, "thread")));
  return out;
}

std::string inputs_of(const dedup_report& facts) {
  std::string skipped;
  if (facts.repeated_count != 0)
    skipped = fmt::format(", {} of these files", counted(facts.repeated_count, "more name"));
  if (facts.other_kind_count != 0) {
    skipped += ", " + counted(facts.other_kind_count, "file of another kind", "files of other kinds");
  }
  return (facts.is_interrupted ? report_line("interrupted", "this report is about what was read until then")
                               : std::string()) +
         report_line("inputs", fmt::format("{} whole, {} failed{}", human_count(facts.input_count),
                                           human_count(facts.failed_count), skipped));
}

std::string savings_of(const dedup_counts& total) {
  return report_line("savings", fmt::format("{} ({} of {}), DER {}", or_dash(total.savings(), human_percent),
                                            human_bytes(as_double(total.duplicate_bytes())),
                                            human_bytes(as_double(total.bytes)), ratio_of(total.elimination_ratio())));
}

std::string counts_of(const dedup_counts& total) {
  return report_line("bytes", fmt::format("{} in {}", bytes_of(total.bytes), counted(total.chunk_count, "chunk"))) +
         report_line("unique",
                     fmt::format("{} in {}", bytes_of(total.unique_bytes), counted(total.unique_chunk_count, "chunk")));
}

std::string index_of(const fingerprint_index& index) {
  return report_line("index",
                     fmt::format("{}, {:.1f} bytes for each unique chunk", human_bytes(as_double(index.memory_bytes())),
                                 bytes_per_entry(index).value_or(0)));
}

// --- How long chunks are ---------------------------------------------------------------------------------------------

std::vector<length_distribution::bucket> rows_of(const length_distribution& lengths) {
  unsigned fineness = 3;
  while (fineness > 0 && lengths.buckets(fineness).size() > most_rows) --fineness;
  std::vector<length_distribution::bucket> rows = lengths.buckets(fineness);
  while (rows.size() > most_rows) {
    std::vector<length_distribution::bucket> pairs;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (i % 2 == 0) {
        pairs.push_back(rows[i]);
      } else {
        pairs.back().most = rows[i].most;
        pairs.back().chunk_count += rows[i].chunk_count;
      }
    }
    rows = std::move(pairs);
  }
  return rows;
}

std::string mean_of(const length_distribution& lengths) {
  return report_line("chunk length",
                     fmt::format("mean {}, from {} to {}", or_dash(lengths.mean(), human_bytes),
                                 or_dash(lengths.min(), human_bytes), or_dash(lengths.max(), human_bytes)));
}

std::string lengths_of(const length_distribution& lengths, const chunker& cuts) {
  std::string out = mean_of(lengths);
  if (const auto expected = cuts.expected_chunk_bytes()) {
    out += report_line("expected", fmt::format("mean of random bytes {} (PRUNE eq. 2)", human_bytes(*expected)));
  }
  std::string shares;
  for (const int percent : reported_percentiles) {
    shares += fmt::format("{}{} %: {}", shares.empty() ? "" : ", ", percent,
                          or_dash(lengths.percentile(percent), human_bytes));
  }
  out += report_line("percentiles", shares);
  const auto rows = rows_of(lengths);
  std::uint64_t longest = 0;
  for (const auto& row : rows) longest = std::max(longest, row.chunk_count);
  for (const auto& row : rows) {
    const double share = as_double(row.chunk_count) / as_double(lengths.chunk_count());
    const auto columns = std::lround(bar_columns * as_double(row.chunk_count) / as_double(longest));
    const std::string bar(static_cast<std::size_t>(columns), '#');
    out += fmt::format("  {:>8} to {:>8} {:>7}{}{}\n", human_bytes(as_double(row.least)),
                       human_bytes(as_double(row.most) + 1), human_percent(share), bar.empty() ? "" : " ", bar);
  }
  return out;
}

// --- Which files -----------------------------------------------------------------------------------------------------

std::string kind_row(std::string_view name, const dedup_counts& counts) {
  return fmt::format("  {:<18} {:>9} {:>9} {:>9} {:>8}\n", name, human_count(counts.stream_count),
                     human_bytes(as_double(counts.bytes)), human_bytes(as_double(counts.unique_bytes)),
                     or_dash(counts.savings(), human_percent));
}

/// Returns the classes of the context, with the chunkers of its rules.
std::string classes_of(const dedup_report& facts) {
  const std::vector<dedup_counts> counts = facts.classes();
  if (counts.empty()) return {};
  std::string out = fmt::format("  {:<18} {:>9} {:>9} {:>9} {:>8}  {:>9}  {}\n", "class", "files", "bytes", "unique",
                                "savings", "chunks", "cuts");
  for (std::size_t rule = 0; rule < counts.size(); ++rule) {
    const std::string row = kind_row(facts.context.class_name(rule), counts[rule]);
    const chunker& cuts = facts.feed->cuts_of(rule);
    out += fmt::format("{}  {:>9}  {}\n", std::string_view(row).substr(0, row.size() - 1),
                       human_count(counts[rule].chunk_count), cuts.canonical());
  }
  return out + '\n';
}

std::string kinds_of(const dedup_report& facts, std::size_t most_kinds) {
  const std::vector<std::size_t> order = facts.kinds_by_bytes();
  std::string out = fmt::format("  {:<18} {:>9} {:>9} {:>9} {:>8}\n", "kind", "files", "bytes", "unique", "savings");
  dedup_counts rest;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const dedup_counts& counts = facts.tally->kinds()[order[i]];
    if (i < most_kinds) {
      out += kind_row(printable(facts.kind_names[order[i]]), counts);
      continue;
    }
    rest += counts;
  }
  if (order.size() > most_kinds) out += kind_row(counted(order.size() - most_kinds, "other"), rest);
  return out;
}

// --- Beside the exact cuts -------------------------------------------------------------------------------------------

std::string missed_of(const dedup_report& facts) {
  const exact_comparison& exact = *facts.exact;
  const dedup_counts& total = facts.tally->total();
  return report_line("missed", fmt::format("{} of duplicates, {} of what the exact cuts find",
                                           human_bytes(static_cast<double>(exact.missed_bytes(total))),
                                           or_dash(exact.missed_share(total), human_percent)));
}

std::string comparison_of(const dedup_report& facts) {
  const cut_differences& differences = facts.exact->differences;
  const dedup_counts& exact = facts.exact->tally->total();
  return fmt::format("\nBeside the exact cuts (made at the same time: join {} alone takes less time)\n",
                     name_of(facts.feed->join)) +
         savings_of(exact) + counts_of(exact) + index_of(facts.exact->tally->index()) + missed_of(facts) +
         report_line("dirty", fmt::format("{} of {}, {}; {} for each of {}", human_count(differences.dirty_chunk_count),
                                          counted(differences.chunk_count, "chunk"),
                                          human_bytes(as_double(differences.dirty_bytes)),
                                          or_dash(differences.dirty_bytes_per_boundary(), human_bytes),
                                          counted(differences.boundary_count, "end of segments", "ends of segments")));
}

}  // namespace

std::string_view name_of(join_kind join) noexcept {
  constexpr std::string_view names[] = {"exact", "pdedupe", "none"};
  return names[static_cast<std::size_t>(join)];
}

std::string dedup_summary(const dedup_report& facts) {
  const dedup_counts& total = facts.tally->total();
  std::string out = savings_of(total) + inputs_of(facts) + counts_of(total) + mean_of(facts.tally->lengths());
  if (facts.exact) out += missed_of(facts);
  out += settings_of(facts);
  out +=
      report_line("time", fmt::format("{:.3f} s, {}, bottleneck {}", facts.wall_seconds,
                                      or_dash(facts.bytes_per_second(), human_rate), facts.bottleneck().value_or("-")));
  return out + '\n' + classes_of(facts) + kinds_of(facts, kinds_in_summary);
}

std::string dedup_contents(const dedup_report& facts) {
  const dedup_counts& total = facts.tally->total();
  std::string out =
      savings_of(total) + inputs_of(facts) + counts_of(total) + index_of(facts.tally->index()) + settings_of(facts);
  if (facts.exact) out += comparison_of(facts);
  out += "\nLengths of chunks\n" + lengths_of(facts.tally->lengths(), facts.feed->cuts);
  return out + "\nKinds of files\n" + classes_of(facts) + kinds_of(facts, kinds_in_details);
}

}  // namespace cutpoint
