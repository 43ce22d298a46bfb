#include "cli/store/forget_rules.h"

#include <algorithm>

#include <fmt/format.h>

#include "cli/common/options.h"
#include "cli/store_options/snapshot_options.h"

namespace cutpoint::cli {

namespace {

/// The options of a `keep_period`.
struct period_options {
  const char* count;
  const char* count_meaning;
  const char* span;
  const char* span_meaning;
};

constexpr std::array<period_options, keep_period_count> periods = {{
    {"--keep-last", "Keep the N newest snapshots; 'unlimited' or -1 keeps all, also below", "--keep-within",
     "Keep the snapshots that are less than SPAN older than the newest one, such as 1y2m3d4h"},
    {"--keep-hourly", "Keep the newest snapshot of each of the last N hours that have one", "--keep-within-hourly",
     "Keep the newest snapshot of each hour in the SPAN before the newest one"},
    {"--keep-daily", "Keep the newest snapshot of each of the last N days that have one", "--keep-within-daily",
     "Keep the newest snapshot of each day in the SPAN before the newest one"},
    {"--keep-weekly", "Keep the newest snapshot of each of the last N weeks that have one", "--keep-within-weekly",
     "Keep the newest snapshot of each week in the SPAN before the newest one"},
    {"--keep-monthly", "Keep the newest snapshot of each of the last N months that have one", "--keep-within-monthly",
     "Keep the newest snapshot of each month in the SPAN before the newest one"},
    {"--keep-yearly", "Keep the newest snapshot of each of the last N years that have one", "--keep-within-yearly",
     "Keep the newest snapshot of each year in the SPAN before the newest one"},
}};

std::vector<std::vector<std::string>> lists_of(const std::vector<std::string>& texts) {
  std::vector<std::vector<std::string>> lists;
  for (const std::string& each : texts) lists.push_back(words_of(each));
  return lists;
}

}  // namespace

void rule_options::add_to(option_list& options) {
  for (std::size_t i = 0; i < keep_period_count; ++i) {
    options_.push_back(&options.add_value(periods[i].count, counts_[i], "N", periods[i].count_meaning));
  }
  for (std::size_t i = 0; i < keep_period_count; ++i) {
    options_.push_back(&options.add_value(periods[i].span, spans_[i], "SPAN", periods[i].span_meaning));
  }
  options_.push_back(&options.add_value("--keep-tag", keep_tags_, "TAG,...",
                                        "Keep the snapshots that have all of the tags; '' means without tags"));
  options_.push_back(&options.add_value("--group-by", group_by_, "LIST",
                                        "Apply the rules to each group: 'host', 'paths', 'tags', or '' for one group"));
  options_.push_back(&options.add_value("--host", hosts_, "HOST", "Look only at snapshots of this host"));
  options_.push_back(&options.add_value("--path", paths_, "PATH", "Look only at snapshots with this absolute path"));
  options_.push_back(&options.add_value("--tag", tags_, "TAG,...", "Look only at snapshots that have all of the tags"));
}

bool rule_options::is_any_given() const {
  return std::ranges::any_of(options_, [](const option* each) { return each->is_given; });
}

result<forget_rules> rule_options::read() const {
  forget_rules rules;
  for (std::size_t i = 0; i < keep_period_count; ++i) {
    if (!counts_[i].empty()) {
      const bool is_unlimited = counts_[i] == "unlimited" || counts_[i] == "-1";
      const auto count = is_unlimited ? unlimited_snapshots : checked_number(periods[i].count, counts_[i], 0);
      if (!count) return count.error();
      rules.policy.counts[i] = *count;
    }
    if (!spans_[i].empty()) {
      const auto span = parse_calendar_span(spans_[i]);
      if (!span) return usage_error(fmt::format("{} {}", periods[i].span, span.error().message()));
      rules.policy.spans[i] = *span;
    }
  }
  rules.policy.tags = lists_of(keep_tags_);
  const auto grouping = checked_grouping(group_by_);
  if (!grouping) return grouping.error();
  rules.grouping = *grouping;
  rules.filter = {.hosts = hosts_, .paths = paths_, .tags = lists_of(tags_)};
  return rules;
}

}  // namespace cutpoint::cli
