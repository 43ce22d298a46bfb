// Describes a candidate by options, and says why it is recommended.
#include <algorithm>
#include <array>

#include <cutpoint/text.h>
#include <cutpoint/tune/search.h>
#include <fmt/format.h>

#include "cli/common/units.h"
#include "cli/tune/report.h"

namespace cutpoint::cli {

std::string options_of(const tune_candidate& candidate) {
  const auto value = [&](std::string_view name) {
    const auto setting = std::find_if(candidate.settings.begin(), candidate.settings.end(),
                                      [&](const parameter_setting& s) { return s.name == name; });
    return setting != candidate.settings.end() ? format_size(*parse_size(setting->value)) : std::string();
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

std::string why_recommended(const tune_facts& facts) {
  const auto net_savings = [&](const tune_row& row) { return row.net_savings(facts.chunk_cost); };
  const tune_row& chosen = facts.rows.front();
  const auto unmeasured =
      std::find_if(facts.rows.begin(), facts.rows.end(), [](const tune_row& row) { return !row.speed; });
  const tune_row& best = *std::max_element(
      facts.rows.begin(), unmeasured, [&](const auto& a, const auto& b) { return net_savings(a) < net_savings(b); });
  const std::string speed = human_rate(chosen.speed->bytes_per_second());
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
  if (!facts.rows.front().candidate.cuts.fixed_chunk_bytes()) return {};
  return "chunks of a fixed length save hardly anything once bytes are inserted or removed, which a single copy of the "
         "data does not show: give two versions of it";
}

}  // namespace cutpoint::cli
