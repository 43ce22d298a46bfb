// Candidates of the tuner, with sizes that suit the kind of algorithm.
#include <algorithm>
#include <bit>
#include <variant>

#include <cutpoint/backends.h>
#include <cutpoint/text.h>
#include <cutpoint/tune/candidate.h>
#include <fmt/format.h>

namespace cutpoint {

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
  const auto reference = make_chunker(name, chosen);
  if (!reference) return reference.error();
  auto fastest = chunker_on(reference->chunker, backend::automatic);
  if (!fastest) return fastest.error();
  return tune_candidate{.name = std::string(name),
                        .kind = kind,
                        .target_bytes = target,
                        .settings = std::move(chosen),
                        .cuts = *std::move(fastest)};
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
  const auto entry = find_entry(name);
  if (!entry) return entry.error();
  return candidate_of(name, entry_kind::algorithm, target_bytes, sizes_at(**entry, nominal_bytes));
}

result<tune_candidate> candidate_of(std::string_view name, std::uint64_t target_bytes, const seqcdc_values& values) {
  settings chosen = seqcdc_sizes(target_bytes);
  chosen.push_back(setting("seq_length", values.seq_length));
  chosen.push_back(setting("skip_trigger", values.skip_trigger));
  chosen.push_back(setting("skip_size", values.skip_size));
  return candidate_of(name, entry_kind::algorithm, target_bytes, std::move(chosen));
}

result<tune_candidate> candidate_of_profile(std::string_view name) {
  return candidate_of(name, entry_kind::profile, 0, {});
}

}  // namespace cutpoint
