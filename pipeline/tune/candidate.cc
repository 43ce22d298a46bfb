// Candidates of the tuner, with sizes that suit the kind of algorithm.
#include <algorithm>
#include <array>
#include <bit>

#include <cutpoint/backends.h>
#include <cutpoint/text.h>
#include <cutpoint/tune/candidate.h>
#include <fmt/format.h>

namespace cutpoint {

namespace {

using settings = std::vector<parameter_setting>;

constexpr std::uint64_t longest_window = 64;
/// FastCDC needs even sizes, also for its minimum, which is a quarter of the average.
constexpr std::uint64_t fastcdc_step = 8;

/// Algorithms that cut where a hash has a pattern; the mean distance of such positions is a power of two.
constexpr std::array<std::string_view, 7> divided = {"gear",  "rabin",   "rabin-inck", "adler",
                                                     "crc32", "buzhash", "tttd"};

parameter_setting setting(std::string_view name, std::uint64_t value) {
  return {std::string(name), fmt::format("{}", value)};
}

settings sizes_at(std::string_view name, std::uint64_t nominal) {
  if (name == "fastcdc")
    return {setting("avg_bytes", std::max(nominal / fastcdc_step, std::uint64_t{32}) * fastcdc_step)};
  if (std::find(divided.begin(), divided.end(), name) == divided.end()) return {setting("avg_bytes", nominal)};
  const std::uint64_t divisor = std::max(std::bit_ceil(nominal / 2), longest_window);
  const std::uint64_t min = std::max(nominal - std::min(nominal, divisor), longest_window);
  return {setting("min_bytes", min), setting("avg_bytes", divisor), setting("max_bytes", 2 * (min + divisor))};
}

result<tune_candidate> made(std::string_view name, entry_kind kind, std::uint64_t target, settings chosen) {
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

bool is_seqcdc(std::string_view name) { return name == "seqcdc-inc" || name == "seqcdc-dec"; }

std::vector<parameter_setting> seqcdc_sizes(std::uint64_t target_bytes) {
  const std::uint64_t min = target_bytes <= 4 * KiB ? target_bytes / 4 : target_bytes / 2;
  return {setting("min_bytes", min), setting("avg_bytes", target_bytes), setting("max_bytes", 2 * target_bytes)};
}

result<tune_candidate> candidate_at(std::string_view name, std::uint64_t target_bytes, std::uint64_t nominal_bytes) {
  return made(name, entry_kind::algorithm, target_bytes, sizes_at(name, nominal_bytes));
}

result<tune_candidate> candidate_of(std::string_view name, std::uint64_t target_bytes, const seqcdc_values& values) {
  settings chosen = seqcdc_sizes(target_bytes);
  chosen.push_back(setting("seq_length", values.seq_length));
  chosen.push_back(setting("skip_trigger", values.skip_trigger));
  chosen.push_back(setting("skip_size", values.skip_size));
  return made(name, entry_kind::algorithm, target_bytes, std::move(chosen));
}

result<tune_candidate> candidate_of_profile(std::string_view name) { return made(name, entry_kind::profile, 0, {}); }

}  // namespace cutpoint
