// Selects the snapshots that a policy keeps, by the calendar.
#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <ctime>
#include <functional>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include <cutpoint/store_policy.h>
#include <fmt/format.h>

namespace cutpoint::store {

/// A time in seconds and nanoseconds since 1970, whose seconds may be of any year.
struct exact_time {
  std::int64_t seconds = 0;
  std::int64_t nanoseconds = 0;  ///< at least 0 and less than a second

  friend auto operator<=>(const exact_time&, const exact_time&) = default;  // NOLINT(modernize-use-nullptr)
};
[[nodiscard]] exact_time time_of(std::int64_t nanoseconds) noexcept;

/// Returns a number that all times of one hour, day, ISO week, month or year have, and no other time. `period` is not
/// `keep_period::last`.
[[nodiscard]] std::int64_t period_of(keep_period period, std::int64_t nanoseconds);

/// Returns the time a span earlier. Years, months and days are subtracted from the local date, and hours after that. A
/// day that the month does not have is one of the next month.
[[nodiscard]] exact_time earlier(const exact_time& time, const calendar_span& span);

}  // namespace cutpoint::store

namespace cutpoint {

namespace {

struct span_unit {
  char letter;
  std::uint32_t calendar_span::*number;
};
constexpr std::array<span_unit, 4> span_units = {{{'y', &calendar_span::years},
                                                  {'m', &calendar_span::months},
                                                  {'d', &calendar_span::days},
                                                  {'h', &calendar_span::hours}}};

constexpr std::array<std::string_view, keep_period_count> period_names = {"last",   "hourly",  "daily",
                                                                          "weekly", "monthly", "yearly"};

/// Returns a time as a text in UTC.
std::string text_of(std::int64_t nanoseconds) {
  const std::time_t seconds = store::time_of(nanoseconds).seconds;
  std::tm fields = {};
  static_cast<void>(::gmtime_r(&seconds, &fields));
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", fields.tm_year + 1900, fields.tm_mon + 1, fields.tm_mday,
                     fields.tm_hour, fields.tm_min, fields.tm_sec);
}

bool has_tags(const store_snapshot& snapshot, const std::vector<std::string>& tags) {
  for (const std::string& each : tags) {
    if (each.empty() && snapshot.tags.empty()) return true;
    if (std::ranges::find(snapshot.tags, each) == snapshot.tags.end()) return false;
  }
  return true;
}

/// Sees to it that a rule which keeps an incomplete snapshot keeps the next older one that is complete, too: an incomplete
/// one may lack what the other has.
class complete_snapshot_keeper {
 public:
  /// Returns the name of the rule that keeps a snapshot, or nothing. `rule` is that name before, and `name` the rule's own.
  [[nodiscard]] std::string keeps(const store_snapshot& snapshot, std::string rule, std::string_view name) {
    if (!rule.empty()) {
      lacks_complete_ = snapshot.is_incomplete;
    } else if (lacks_complete_ && !snapshot.is_incomplete) {
      lacks_complete_ = false;
      rule = fmt::format("complete {}", name);
    }
    return rule;
  }

 private:
  bool lacks_complete_ = false;
};

/// Counts the periods of one kind while it is shown the snapshots of a group, the newest first.
class period_counter {
 public:
  explicit period_counter(std::size_t period)
      : period_(static_cast<keep_period>(period)), name_(period_names[period]) {}

  /// Returns the name of the rule that keeps a snapshot of a time, or nothing. The one at `index` is shown.
  [[nodiscard]] std::string keeps(std::int64_t time, std::size_t index, bool is_oldest) {
    const std::int64_t period =
        period_ == keep_period::last ? static_cast<std::int64_t>(index) : store::period_of(period_, time);
    const bool is_new = !last_ || *last_ != period;
    if (!is_new && !is_oldest) return {};
    last_ = period;
    return (is_new ? "" : "oldest ") + std::string(name_);
  }

 private:
  keep_period period_;
  std::string_view name_;
  std::optional<std::int64_t> last_;
};

/// A snapshot at which the rules look.
struct candidate {
  snapshot_decision* decision;
  std::int64_t time;  ///< at which it counts
};

/// Fills in the reasons for which a policy keeps candidates of a group, the newest first.
void decide(const std::vector<candidate>& candidates, const snapshot_policy& policy, std::int64_t now) {
  const auto newest = std::ranges::find_if(candidates, [&](const candidate& each) { return each.time < now; });
  std::vector<period_counter> counters;
  std::vector<period_counter> span_counters;
  for (std::size_t period = 0; period < keep_period_count; ++period) {
    counters.emplace_back(period);
    span_counters.emplace_back(period);
  }
  std::array<complete_snapshot_keeper, keep_period_count> complete;
  std::array<complete_snapshot_keeper, keep_period_count> complete_in_spans;
  auto left = policy.counts;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const store_snapshot& snapshot = candidates[i].decision->snapshot;
    std::vector<std::string>& reasons = candidates[i].decision->reasons;
    const std::int64_t time = candidates[i].time;
    const bool is_oldest = i + 1 == candidates.size();
    const auto is_in_span = [&](const calendar_span& span) {
      if (span.is_empty()) return false;
      return newest == candidates.end() || store::time_of(time) > store::earlier(store::time_of(newest->time), span);
    };
    for (const auto& each : policy.tags) {
      if (has_tags(snapshot, each)) reasons.push_back(fmt::format("has tags [{}]", fmt::join(each, ", ")));
    }
    const auto keep_in_span = [&](std::size_t period) {
      const calendar_span& span = policy.spans[period];
      std::string rule;
      if (is_in_span(span)) rule = period == 0 ? "all" : span_counters[period].keeps(time, i, is_oldest);
      rule = complete_in_spans[period].keeps(snapshot, std::move(rule), period_names[period]);
      if (rule.empty()) return;
      reasons.push_back((rule == "all" ? "" : rule + ' ') + "within " + to_string(span));
    };
    keep_in_span(0);
    for (std::size_t period = 0; period < keep_period_count; ++period) {
      std::string rule = left[period] == 0 ? std::string() : counters[period].keeps(time, i, is_oldest);
      if (!rule.empty() && left[period] != unlimited_snapshots) --left[period];
      rule = complete[period].keeps(snapshot, std::move(rule), period_names[period]);
      if (!rule.empty()) reasons.push_back(rule + " snapshot");
    }
    for (std::size_t period = 1; period < keep_period_count; ++period) keep_in_span(period);
  }
}

/// Returns whether a snapshot has the time at which it was put, about. A hostile one may have any numbers.
bool has_time_of(std::int64_t put_time, const store_snapshot& snapshot) {
  std::int64_t end = 0;
  std::int64_t delay = 0;
  return !__builtin_add_overflow(snapshot.time, snapshot.duration, &end) &&
         !__builtin_sub_overflow(put_time, end, &delay) && delay >= -most_put_delay && delay <= most_put_delay;
}

/// Returns a snapshot as one at which the rules look, or nullopt if its time is distrusted, which is then the reason to keep it.
std::optional<candidate> candidate_of(snapshot_decision& decision, const snapshot_put_times* put_times) {
  if (put_times == nullptr) return candidate{&decision, decision.snapshot.time};
  const auto put = put_times->find(decision.snapshot.id);
  if (put != put_times->end() && has_time_of(put->second, decision.snapshot)) return candidate{&decision, put->second};
  decision.is_distrusted = true;
  decision.reasons.push_back(put == put_times->end() ? "distrusted time"
                                                     : "distrusted time: put " + text_of(put->second));
  return std::nullopt;
}

std::string description_of(const snapshot_group& group) {
  std::vector<std::string> facts;
  if (!group.host.empty()) facts.push_back("host " + group.host);
  if (!group.paths.empty()) facts.push_back(fmt::format("paths {}", fmt::join(group.paths, " ")));
  if (!group.tags.empty()) facts.push_back(fmt::format("tags {}", fmt::join(group.tags, ", ")));
  return facts.empty() ? "all snapshots" : fmt::format("the snapshots of {}", fmt::join(facts, ", "));
}

}  // namespace

result<calendar_span> parse_calendar_span(std::string_view text) {
  const auto wrong = [&](std::string_view what) {
    return status(status_code::invalid_argument,
                  fmt::format("{}: {}; a span is written as 1y2m3d4h, for years, months, days and hours", text, what));
  };
  if (text.empty()) return wrong("it is empty");
  calendar_span span;
  for (std::string_view rest = text; !rest.empty();) {
    std::uint32_t number = 0;
    const auto [end, failed] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
    if (failed == std::errc::result_out_of_range || (failed == std::errc() && number > most_calendar_units)) {
      return wrong(fmt::format("a number is at most {}", most_calendar_units));
    }
    if (failed != std::errc()) return wrong("a number is missing");
    rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
    const auto unit = rest.empty() ? span_units.end() : std::ranges::find(span_units, rest.front(), &span_unit::letter);
    if (unit == span_units.end()) return wrong(fmt::format("no unit follows the number {}", number));
    if (span.*unit->number != 0) return wrong(fmt::format("the unit {} stands there twice", unit->letter));
    span.*unit->number = number;
    rest.remove_prefix(1);
  }
  return span;
}

std::string to_string(const calendar_span& span) {
  std::string text;
  for (const span_unit& each : span_units) {
    if (span.*each.number != 0) text += fmt::format("{}{}", span.*each.number, each.letter);
  }
  return text;
}

bool snapshot_filter::matches(const store_snapshot& snapshot) const {
  const bool has_host = hosts.empty() || std::ranges::find(hosts, snapshot.host) != hosts.end();
  const bool has_paths = std::ranges::all_of(
      paths, [&](const std::string& each) { return std::ranges::find(snapshot.paths, each) != snapshot.paths.end(); });
  return has_host && has_paths &&
         (tags.empty() || std::ranges::any_of(tags, [&](const auto& each) { return has_tags(snapshot, each); }));
}

std::vector<snapshot_group> group_snapshots(std::span<const store_snapshot> snapshots,
                                            const snapshot_grouping& grouping) {
  const auto sorted = [](std::vector<std::string> words) {
    std::ranges::sort(words);
    return words;
  };
  using words = std::vector<std::string>;
  std::map<std::tuple<std::string, words, words>, std::vector<snapshot_decision>> by_key;
  for (const store_snapshot& each : snapshots) {
    by_key[{grouping.uses_host ? each.host : std::string(), grouping.uses_paths ? sorted(each.paths) : words(),
            grouping.uses_tags ? sorted(each.tags) : words()}]
        .push_back({each, {}});
  }
  std::vector<snapshot_group> groups;
  for (auto& [key, decisions] : by_key) {
    std::ranges::reverse(decisions);  // versions of a snapshot follow it in a store, and have its time and number
    std::ranges::stable_sort(decisions, std::greater(), [](const snapshot_decision& each) {
      return std::pair(each.snapshot.time, each.snapshot.sequence);
    });
    const auto& [host, paths, tags] = key;
    groups.push_back({host, paths, tags, std::move(decisions)});
  }
  return groups;
}

result<std::vector<snapshot_group>> apply_policy(std::span<const store_snapshot> snapshots,
                                                 const snapshot_policy& policy, const snapshot_grouping& grouping,
                                                 std::int64_t now, const snapshot_put_times* put_times) {
  if (policy.is_empty()) return status(status_code::invalid_argument, "no rule says which snapshots are kept");
  auto groups = group_snapshots(snapshots, grouping);
  for (snapshot_group& group : groups) {
    std::vector<candidate> candidates;
    for (snapshot_decision& each : group.decisions) {
      if (const auto looked_at = candidate_of(each, put_times)) candidates.push_back(*looked_at);
    }
    std::ranges::stable_sort(candidates, std::greater(), &candidate::time);
    decide(candidates, policy, now);
    const auto is_kept = [](const candidate& each) { return each.decision->is_kept(); };
    // Distrusted snapshots are no reason to remove all others.
    if (!candidates.empty() && std::ranges::none_of(candidates, is_kept)) {
      return status(status_code::invalid_argument,
                    fmt::format("the rules keep none of {}: nothing is removed, because nothing would be left",
                                description_of(group)));
    }
  }
  return groups;
}

}  // namespace cutpoint

namespace cutpoint::store {

namespace {

constexpr std::int64_t second = 1'000'000'000;
constexpr std::int64_t hour = 3600;
constexpr std::int64_t day = 24 * hour;

constexpr std::int64_t floor_divided(std::int64_t number, std::int64_t divisor) noexcept {
  return number / divisor - (number % divisor < 0 ? 1 : 0);
}

std::tm local_fields(std::int64_t seconds) {
  const std::time_t time = seconds;
  std::tm fields = {};
  static_cast<void>(::localtime_r(&time, &fields));
  return fields;
}

/// Returns the seconds by which local time is ahead of UTC.
std::int64_t zone_offset(std::int64_t seconds) { return local_fields(seconds).tm_gmtoff; }

}  // namespace

exact_time time_of(std::int64_t nanoseconds) noexcept {
  const std::int64_t rest = nanoseconds % second;
  return {floor_divided(nanoseconds, second), rest < 0 ? rest + second : rest};
}

std::int64_t period_of(keep_period period, std::int64_t nanoseconds) {
  const std::int64_t seconds = time_of(nanoseconds).seconds;
  const std::tm fields = local_fields(seconds);
  const std::int64_t local = seconds + fields.tm_gmtoff;
  switch (period) {
    case keep_period::last:
      break;
    case keep_period::hourly:
      return floor_divided(local, hour);
    case keep_period::daily:
      return floor_divided(local, day);
    case keep_period::weekly:  // 1970 began on a Thursday
      return floor_divided(floor_divided(local, day) + 3, 7);
    case keep_period::monthly:
      return std::int64_t{fields.tm_year} * 12 + fields.tm_mon;
    case keep_period::yearly:
      return fields.tm_year;
  }
  return 0;
}

exact_time earlier(const exact_time& time, const calendar_span& span) {
  std::tm fields = local_fields(time.seconds);
  fields.tm_year -= static_cast<int>(span.years);
  fields.tm_mon -= static_cast<int>(span.months);
  fields.tm_mday -= static_cast<int>(span.days);
  const std::int64_t local = ::timegm(&fields);
  // A second look-up, because the first one is of a time that is not UTC. restic does the same, so that both choose the
  // same one of two times where clocks are put back.
  const std::int64_t earlier = local - zone_offset(local - zone_offset(local));
  return {earlier - std::int64_t{span.hours} * hour, time.nanoseconds};
}

}  // namespace cutpoint::store
