// The candidates of the tuner, and the order of its rows.
#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <span>
#include <utility>
#include <variant>

#include <cutpoint/backends.h>
#include <cutpoint/tune/candidate.h>
#include <cutpoint/tune/search.h>
#include <fmt/format.h>

#include "pipeline/tune/count.h"

namespace cutpoint {

namespace {

std::vector<tune_merit> merits_of(std::span<const tune_row> measured, const tune_facts& facts) {
  std::vector<tune_merit> merits;
  for (const tune_row& row : measured) merits.push_back({facts.net_savings(row), row.speed->bytes_per_second()});
  return merits;
}

/// Puts what a store usually has first, unless the first row's store is smaller by more than the spread.
void prefer_usual(std::vector<tune_row>& sorted, const tune_facts& facts) {
  const auto usual = std::ranges::find_if(sorted, &tune_row::is_usual);
  if (usual == sorted.end()) return;
  const double saved = 1 - facts.kept_bytes(sorted.front()) / std::max(facts.kept_bytes(*usual), 1.0);
  if (saved <= facts.spread_between(sorted.front(), *usual)) std::rotate(sorted.begin(), usual, usual + 1);
}

}  // namespace

std::string_view to_string(tune_goal goal) {
  constexpr std::string_view names[] = {"savings", "balanced", "speed", "store"};
  const auto index = static_cast<std::size_t>(goal);
  return index < std::size(names) ? names[index] : "unknown";
}

double tune_facts::kept_bytes(const tune_row& row) const {
  const dedup_counts& counts = row.best_counts();
  const double references = static_cast<double>(counts.chunk_count) * static_cast<double>(chunk_cost);
  if (goal != tune_goal::store) return row.stored_bytes() + references;
  const double share = row.compression ? row.compression->compressed_share : 1;  // a store decides for each chunk
  return static_cast<double>(counts.unique_bytes) * share +
         static_cast<double>(counts.unique_chunk_count) * store_record_bytes + references;
}

double tune_facts::net_savings(const tune_row& row) const {
  const auto bytes = static_cast<double>(row.best_counts().bytes);
  return bytes == 0 ? 0 : (bytes - kept_bytes(row)) / bytes;
}

double tune_facts::spread_between(const tune_row& row, const tune_row& other) const {
  const bool is_all = row.whole || sample_bytes == input_bytes;
  if (is_all || row.kept_by_block.size() != other.kept_by_block.size() || row.kept_by_block.size() < 2)
    return least_difference;
  const auto count = static_cast<double>(row.kept_by_block.size());
  const double kept_bytes_of_other = std::accumulate(other.kept_by_block.begin(), other.kept_by_block.end(), 0.0);
  const double difference = std::accumulate(row.kept_by_block.begin(), row.kept_by_block.end(), -kept_bytes_of_other);
  double squares = 0;
  for (std::size_t i = 0; i < row.kept_by_block.size(); ++i) {
    const double distance = row.kept_by_block[i] - other.kept_by_block[i] - difference / count;
    squares += distance * distance;
  }
  return std::max(least_difference, 2 * std::sqrt(count / (count - 1) * squares) / std::max(kept_bytes_of_other, 1.0));
}

double tune_row::stored_bytes() const {
  const auto new_bytes = static_cast<double>(best_counts().unique_bytes);
  return compression && compression->pays() ? new_bytes * compression->compressed_share : new_bytes;
}

double required_savings_share(tune_goal goal) {
  switch (goal) {
    case tune_goal::savings:
    case tune_goal::store:
      return 1;
    case tune_goal::balanced:
      return 0.98;
    case tune_goal::speed:
      return 0.9;
  }
  return 1;
}

std::vector<std::size_t> ranked(const std::vector<tune_merit>& merits, tune_goal goal) {
  double most = 0;
  for (const tune_merit& m : merits) most = std::max(most, m.net_savings);
  const auto is_enough = [&](const tune_merit& m) {
    return most <= 0 || m.net_savings >= required_savings_share(goal) * most;
  };
  std::vector<std::size_t> order(merits.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t left, std::size_t right) {
    const tune_merit& a = merits[left];
    const tune_merit& b = merits[right];
    if (is_enough(a) != is_enough(b)) return is_enough(a);
    return is_enough(a) ? a.bytes_per_second > b.bytes_per_second : a.net_savings > b.net_savings;
  });
  return order;
}

std::vector<bool> pareto_front(const std::vector<tune_merit>& merits) {
  std::vector<bool> is_on_front;
  for (const tune_merit& m : merits) {
    is_on_front.push_back(std::none_of(merits.begin(), merits.end(), [&](const tune_merit& other) {
      const bool is_as_good = other.net_savings >= m.net_savings && other.bytes_per_second >= m.bytes_per_second;
      return is_as_good && (other.net_savings > m.net_savings || other.bytes_per_second > m.bytes_per_second);
    }));
  }
  return is_on_front;
}

void choose(tune_facts& facts) {
  const auto first_unmeasured = std::stable_partition(facts.rows.begin(), facts.rows.end(),
                                                      [](const tune_row& row) { return row.speed.has_value(); });
  std::stable_sort(first_unmeasured, facts.rows.end(),
                   [&](const tune_row& a, const tune_row& b) { return facts.net_savings(a) > facts.net_savings(b); });
  const std::span<tune_row> measured(facts.rows.begin(), first_unmeasured);
  std::vector<tune_row> sorted;
  for (const std::size_t index : ranked(merits_of(measured, facts), facts.goal)) {
    sorted.push_back(std::move(measured[index]));
  }
  std::stable_partition(sorted.begin(), sorted.end(), [](const tune_row& row) { return row.whole.has_value(); });
  if (facts.goal == tune_goal::store) prefer_usual(sorted, facts);
  std::move(sorted.begin(), sorted.end(), measured.begin());
  const std::vector<bool> front = pareto_front(merits_of(measured, facts));
  for (std::size_t i = 0; i < front.size(); ++i) measured[i].is_on_front = front[i];
  facts.is_recommended = !measured.empty() && measured.front().counts.bytes != 0;
}

// Candidates of the tuner, with sizes that suit the kind of algorithm.

namespace {

using settings = std::vector<parameter_setting>;

/// A minimum that holds the default window of a rolling hash.
constexpr std::uint64_t longest_window = 64;
/// Averages are multiples of this: some algorithms need even sizes, and their minimum is a quarter of the average.
constexpr std::uint64_t average_step = 8;

parameter_setting setting(std::string_view name, std::uint64_t value) {
  return {std::string(name), fmt::format("{}", value)};
}

/// Returns whether the average must be a power of two. It is then the mean distance of candidates, without limits.
bool is_average_a_divisor(const catalog_entry& entry) {
  for (const listed_parameter& each : entry.parameters) {
    for (const parameter_rule& rule : each.rules) {
      if (rule.must == parameter_rule::condition::power_of_two) return true;
    }
  }
  return false;
}

settings sizes_at(const catalog_entry& entry, std::uint64_t nominal) {
  if (!is_average_a_divisor(entry)) return {setting("avg_bytes", nominal / average_step * average_step)};
  const std::uint64_t divisor = std::max(std::bit_ceil(nominal / 2), longest_window);
  const std::uint64_t min = std::max(nominal - std::min(nominal, divisor), longest_window);
  return {setting("min_bytes", min), setting("avg_bytes", divisor), setting("max_bytes", 2 * (min + divisor))};
}

result<tune_candidate> candidate_of(std::string_view name, entry_kind kind, std::uint64_t target, settings chosen) {
  CUTPOINT_TRY(const auto reference, make_chunker(name, chosen));
  CUTPOINT_TRY(auto fastest, chunker_on(reference.chunker, backend::automatic));
  return tune_candidate{.name = std::string(name),
                        .kind = kind,
                        .target_bytes = target,
                        .settings = std::move(chosen),
                        .cuts = std::move(fastest)};
}

}  // namespace

bool is_seqcdc(std::string_view name) {
  const auto entry = find_entry(name);
  return entry && std::holds_alternative<seqcdc_parameters>((*entry)->defaults.parameters());
}

std::vector<parameter_setting> seqcdc_sizes(std::uint64_t target_bytes) {
  const std::uint64_t min = target_bytes <= 4 * KiB ? target_bytes / 4 : target_bytes / 2;
  return {setting("min_bytes", min), setting("avg_bytes", target_bytes), setting("max_bytes", 2 * target_bytes)};
}

result<tune_candidate> candidate_at(std::string_view name, std::uint64_t target_bytes, std::uint64_t nominal_bytes) {
  CUTPOINT_TRY(const auto entry, find_entry(name));
  return candidate_of(name, entry_kind::algorithm, target_bytes, sizes_at(*entry, nominal_bytes));
}

result<tune_candidate> candidate_of(std::string_view name, std::uint64_t target_bytes, const seqcdc_values& values) {
  settings chosen = seqcdc_sizes(target_bytes);
  chosen.push_back(setting("seq_length", values.seq_length));
  chosen.push_back(setting("skip_trigger", values.skip_trigger));
  chosen.push_back(setting("skip_size", values.skip_size));
  return candidate_of(name, entry_kind::algorithm, target_bytes, std::move(chosen));
}

result<tune_candidate> candidate_with(std::string_view name, std::uint64_t target_bytes,
                                      std::vector<parameter_setting> settings) {
  return candidate_of(name, entry_kind::algorithm, target_bytes, std::move(settings));
}

result<tune_candidate> candidate_of_profile(std::string_view name) {
  return candidate_of(name, entry_kind::profile, 0, {});
}

}  // namespace cutpoint
