// The rules of `forget` keep what restic keeps.
#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <map>

#include <cutpoint/store_policy.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/host/support/tests_folder.h"
#include "tests/host/support/value_of.h"

namespace cutpoint::tests {
namespace {

constexpr std::int64_t nanoseconds_of_a_second = 1'000'000'000;

/// Sets the time zone of the process until it goes out of scope.
class time_zone {
 public:
  explicit time_zone(const char* name) {
    ::setenv("TZ", name, 1);
    ::tzset();
  }
  ~time_zone() {
    ::unsetenv("TZ");
    ::tzset();
  }
};

/// Reads "2016-01-18 12:02:03" or "2016-01-18 12:02:03.1", in UTC.
std::int64_t nanoseconds_of(const std::string& text) {
  std::tm fields = {};
  const char* const rest = ::strptime(text.c_str(), "%Y-%m-%d %H:%M:%S", &fields);
  EXPECT_NE(rest, nullptr) << text;
  const std::int64_t tenths = *rest == '.' ? rest[1] - '0' : 0;
  return std::int64_t{::timegm(&fields)} * nanoseconds_of_a_second + tenths * (nanoseconds_of_a_second / 10);
}

store_snapshot taken_at(const std::string& time, std::vector<std::string> tags = {}) {
  store_snapshot snapshot;
  snapshot.id = time;
  snapshot.time = nanoseconds_of(time);
  snapshot.tags = std::move(tags);
  return snapshot;
}

/// Returns the times of what is kept of one group, in order.
std::vector<std::string> kept_times(const std::vector<store_snapshot>& snapshots, const snapshot_policy& policy,
                                    std::int64_t now = INT64_MAX, const snapshot_put_times* put_times = nullptr) {
  std::vector<std::string> times;
  const auto groups = apply_policy(snapshots, policy, {}, now, put_times);
  EXPECT_TRUE(groups.ok() && groups->size() == 1) << (groups.ok() ? "" : groups.error().message());
  if (!groups.ok()) return times;
  for (const snapshot_decision& each : groups->front().decisions) {
    if (each.is_kept()) times.push_back(each.snapshot.id);
  }
  return times;
}

snapshot_policy counting(keep_period period, std::uint64_t count) {
  snapshot_policy policy;
  policy.counts[static_cast<std::size_t>(period)] = count;
  return policy;
}

snapshot_policy within(const calendar_span& span) { return {.spans = {span}}; }

TEST(snapshot_policy, keeps_what_restic_keeps_for_the_same_reasons) {
  const time_zone zone("UTC");
  const auto facts = nlohmann::json::parse(std::ifstream(tests_folder() + "/store/data/restic_policies.json"));
  std::vector<store_snapshot> snapshots;
  for (const auto& each : facts["snapshots"]) {
    snapshots.push_back(taken_at(each["time"], each.value("tags", std::vector<std::string>())));
    snapshots.back().sequence = 1000 - snapshots.size();  // of two with one time, the first is the newer one
  }
  std::size_t compared = 0;
  for (const auto& fact : facts["policies"]) {
    snapshot_policy policy;
    for (std::size_t i = 0; i < keep_period_count; ++i) {
      if (fact.contains("counts")) {
        const int count = fact["counts"][i];
        policy.counts[i] = count < 0 ? unlimited_snapshots : static_cast<std::uint64_t>(count);
      }
      if (fact.contains("spans") && fact["spans"][i] != "") {
        policy.spans[i] = *parse_calendar_span(fact["spans"][i].get<std::string>());
      }
    }
    policy.tags = fact.value("tags", policy.tags);
    const auto groups = value_of(apply_policy(snapshots, policy, {}, INT64_MAX));
    ASSERT_EQ(groups.size(), 1u);
    std::map<std::string, std::vector<std::size_t>> reasons;
    for (std::size_t i = 0; i < snapshots.size(); ++i) {
      const snapshot_decision& decision = groups.front().decisions[i];
      EXPECT_EQ(decision.snapshot.sequence, snapshots[i].sequence);
      for (const std::string& each : decision.reasons) reasons[each].push_back(i);
    }
    EXPECT_EQ(reasons, fact["kept"]) << fact.dump();
    ++compared;
  }
  EXPECT_EQ(compared, 39u);
}

TEST(snapshot_policy, days_are_those_of_the_local_time_zone) {
  const std::vector<store_snapshot> snapshots = {taken_at("2021-01-01 06:00:00"), taken_at("2021-01-01 03:00:00"),
                                                 taken_at("2021-01-01 02:00:00")};
  {
    const time_zone zone("UTC");  // one day: its newest snapshot, and the oldest of all
    EXPECT_EQ(kept_times(snapshots, counting(keep_period::daily, 2)),
              (std::vector<std::string>{"2021-01-01 06:00:00", "2021-01-01 02:00:00"}));
  }
  const time_zone zone("America/New_York");
  EXPECT_EQ(kept_times(snapshots, counting(keep_period::daily, 2)),
            (std::vector<std::string>{"2021-01-01 06:00:00", "2021-01-01 03:00:00"}));
}

TEST(snapshot_policy, a_day_before_has_the_same_hour_although_clocks_were_changed) {
  const time_zone zone("Europe/Berlin");  // clocks were put forward on 2021-03-28
  const std::vector<store_snapshot> snapshots = {taken_at("2021-03-28 10:00:00"), taken_at("2021-03-27 11:00:01"),
                                                 taken_at("2021-03-27 11:00:00")};
  EXPECT_EQ(kept_times(snapshots, within({.days = 1})),
            (std::vector<std::string>{"2021-03-28 10:00:00", "2021-03-27 11:00:01"}));
  EXPECT_EQ(kept_times(snapshots, within({.hours = 24})),
            (std::vector<std::string>{"2021-03-28 10:00:00", "2021-03-27 11:00:01", "2021-03-27 11:00:00"}));
}

TEST(snapshot_policy, a_month_without_the_day_ends_in_the_next_one) {
  const time_zone zone("UTC");
  EXPECT_EQ(kept_times({taken_at("2021-03-31 00:00:00"), taken_at("2021-03-03 00:00:01"),
                        taken_at("2021-03-03 00:00:00"), taken_at("2021-02-28 00:00:00")},
                       within({.months = 1})),
            (std::vector<std::string>{"2021-03-31 00:00:00", "2021-03-03 00:00:01"}));
}

TEST(snapshot_policy, spans_end_at_the_newest_snapshot_that_is_not_in_the_future) {
  const time_zone zone("UTC");
  const std::vector<store_snapshot> snapshots = {taken_at("2031-01-01 00:00:00"), taken_at("2021-01-02 00:00:00"),
                                                 taken_at("2021-01-01 12:00:00"), taken_at("2020-01-01 00:00:00")};
  EXPECT_EQ(kept_times(snapshots, within({.days = 1}), nanoseconds_of("2022-01-01 00:00:00")).size(), 3u);
  EXPECT_EQ(kept_times(snapshots, within({.days = 1}), nanoseconds_of("2032-01-01 00:00:00")).size(), 1u);
  EXPECT_EQ(kept_times(snapshots, within({.days = 1}), nanoseconds_of("2010-01-01 00:00:00")).size(), 4u);
}

TEST(snapshot_policy, the_largest_spans_and_times_are_counted) {
  const time_zone zone("Asia/Kolkata");
  store_snapshot first = taken_at("2021-01-01 00:00:00");
  store_snapshot last = first;
  first.time = INT64_MIN;
  last.time = INT64_MAX - 1;
  const calendar_span longest{most_calendar_units, most_calendar_units, most_calendar_units, most_calendar_units};
  EXPECT_EQ(kept_times({first, last}, within(longest)).size(), 2u);
  for (const keep_period each : {keep_period::hourly, keep_period::weekly, keep_period::yearly}) {
    EXPECT_EQ(kept_times({first, last}, counting(each, unlimited_snapshots)).size(), 2u);
  }
}

TEST(snapshot_policy, an_empty_tag_stands_for_no_tags) {
  const std::vector<store_snapshot> snapshots = {taken_at("2021-01-02 00:00:00", {"a", "b"}),
                                                 taken_at("2021-01-01 00:00:00")};
  EXPECT_EQ(kept_times(snapshots, {.tags = {{""}}}), (std::vector<std::string>{"2021-01-01 00:00:00"}));
  EXPECT_EQ(kept_times(snapshots, {.tags = {{"b", "a"}, {"c"}}}), (std::vector<std::string>{"2021-01-02 00:00:00"}));
}

TEST(snapshot_policy, rules_are_applied_to_each_group) {
  std::vector<store_snapshot> snapshots;
  for (const char* const host : {"h2", "h1"}) {
    for (const auto& paths : std::vector<std::vector<std::string>>{{"/b", "/a"}, {"/a", "/b"}, {"/c"}}) {
      snapshots.push_back(taken_at("2021-01-01 00:00:00", {"t" + std::to_string(snapshots.size() % 2)}));
      snapshots.back().host = host;
      snapshots.back().paths = paths;
      snapshots.back().sequence = snapshots.size();
    }
  }
  const auto counts = [&](const snapshot_grouping& grouping) {
    std::vector<std::string> group_texts;
    const auto groups = value_of(apply_policy(snapshots, counting(keep_period::last, 1), grouping, INT64_MAX));
    for (const snapshot_group& each : groups) {
      std::string key = each.host;
      for (const std::string& path : each.paths) key += path;
      for (const std::string& tag : each.tags) key += tag;
      EXPECT_TRUE(each.decisions.front().is_kept());  // the one that was committed last
      EXPECT_EQ(std::ranges::count_if(each.decisions, &snapshot_decision::is_kept), 1);
      group_texts.push_back(key + "=" + std::to_string(each.decisions.size()));
    }
    return group_texts;
  };
  EXPECT_EQ(counts({}), (std::vector<std::string>{"h1/a/b=2", "h1/c=1", "h2/a/b=2", "h2/c=1"}));
  EXPECT_EQ(counts({.uses_host = false, .uses_paths = false}), (std::vector<std::string>{"=6"}));
  EXPECT_EQ(counts({.uses_host = false, .uses_paths = false, .uses_tags = true}),
            (std::vector<std::string>{"t0=3", "t1=3"}));
}

TEST(snapshot_policy, nothing_is_decided_if_a_group_would_be_lost) {
  std::vector<store_snapshot> snapshots = {taken_at("2021-01-01 00:00:00", {"kept"}), taken_at("2021-01-01 00:00:00")};
  snapshots[1].host = "other";
  snapshots[1].paths = {"/home", "/etc"};
  const status refused = error_of(apply_policy(snapshots, {.tags = {{"kept"}}}, {}, INT64_MAX));
  EXPECT_EQ(refused.message(),
            "the rules keep none of the snapshots of host other, paths /etc /home: nothing is removed, because nothing "
            "would be left");
  EXPECT_FALSE(apply_policy(snapshots, {}, {}, INT64_MAX).ok());
  EXPECT_TRUE(apply_policy({}, {.tags = {{"kept"}}}, {}, INT64_MAX)->empty());
}

TEST(snapshot_policy, a_filter_has_restics_meaning) {
  store_snapshot snapshot = taken_at("2021-01-01 00:00:00", {"x", "y"});
  snapshot.host = "h";
  snapshot.paths = {"/a", "/b"};
  EXPECT_TRUE(snapshot_filter().matches(snapshot));
  EXPECT_TRUE((snapshot_filter{.hosts = {"g", "h"}}.matches(snapshot)));
  EXPECT_FALSE((snapshot_filter{.hosts = {"g"}}.matches(snapshot)));
  EXPECT_TRUE((snapshot_filter{.paths = {"/b"}}.matches(snapshot)));
  EXPECT_FALSE((snapshot_filter{.paths = {"/b", "/c"}}.matches(snapshot)));
  EXPECT_TRUE((snapshot_filter{.tags = {{"z"}, {"y", "x"}}}.matches(snapshot)));
  EXPECT_FALSE((snapshot_filter{.tags = {{"x", "z"}}}.matches(snapshot)));
  EXPECT_FALSE((snapshot_filter{.tags = {{""}}}.matches(snapshot)));
}

TEST(snapshot_policy, spans_that_mean_nothing_are_refused) {
  EXPECT_EQ(*parse_calendar_span("4h1y"), (calendar_span{.years = 1, .hours = 4}));
  EXPECT_EQ(to_string(*parse_calendar_span("0d12m")), "12m");
  const std::pair<const char*, const char*> wrong[] = {{"", "it is empty"},
                                                       {"d", "a number is missing"},
                                                       {"1d2", "no unit follows the number 2"},
                                                       {"3w", "no unit follows"},
                                                       {"-1d", "a number is missing"},
                                                       {"1d1d", "the unit d stands there twice"},
                                                       {"1000001h", "at most 1000000"},
                                                       {"99999999999999999999y", "at most 1000000"}};
  for (const auto& [text, message] : wrong) {
    const status parsed = error_of(parse_calendar_span(text));
    EXPECT_NE(parsed.message().find(message), std::string::npos) << parsed.message();
  }
}

TEST(snapshot_policy, never_gives_up_a_complete_snapshot_for_an_incomplete_one) {
  const time_zone zone("UTC");
  std::vector<store_snapshot> snapshots = {taken_at("2026-01-01 10:00:00"), taken_at("2026-01-01 11:00:00"),
                                           taken_at("2026-01-02 10:00:00"), taken_at("2026-01-03 10:00:00"),
                                           taken_at("2026-01-03 11:00:00")};
  for (const std::size_t i : {2u, 3u, 4u}) snapshots[i].is_incomplete = true;
  using times = std::vector<std::string>;
  const times last_two = {"2026-01-03 11:00:00", "2026-01-01 11:00:00"};
  EXPECT_EQ(kept_times(snapshots, counting(keep_period::last, 1)), last_two);
  EXPECT_EQ(kept_times(snapshots, counting(keep_period::daily, 1)), last_two);
  EXPECT_EQ(kept_times(snapshots, counting(keep_period::daily, 2)),
            times({"2026-01-03 11:00:00", "2026-01-02 10:00:00", "2026-01-01 11:00:00"}));
  EXPECT_EQ(kept_times(snapshots, within({.hours = 2})),
            times({"2026-01-03 11:00:00", "2026-01-03 10:00:00", "2026-01-01 11:00:00"}));
  snapshots[3].is_incomplete = false;  // the newer one of the same day is not
  EXPECT_EQ(kept_times(snapshots, counting(keep_period::daily, 1)),
            times({"2026-01-03 11:00:00", "2026-01-03 10:00:00"}));
  snapshots[4].is_incomplete = false;
  EXPECT_EQ(kept_times(snapshots, counting(keep_period::last, 1)), times({"2026-01-03 11:00:00"}));
}

/// Five backups at noon, and an attack at one o'clock after the last.
class distrusted_times : public testing::Test {
 protected:
  distrusted_times() {
    for (const char* const day : {"1", "2", "3", "4", "5"}) add(std::string("2026-01-0") + day + " 12:00:00");
  }
  /// Adds a snapshot that was put when its time and duration say.
  store_snapshot& add(const std::string& time) {
    snapshots_.push_back(taken_at(time));
    put_times_[time] = snapshots_.back().time;
    return snapshots_.back();
  }
  void forge(const std::string& time, std::vector<std::string> tags = {}) {
    add(time).tags = std::move(tags);
    put_times_[time] = attack_;
  }
  [[nodiscard]] std::vector<std::string> remaining(const snapshot_policy& policy, std::int64_t now = INT64_MAX) const {
    return kept_times(snapshots_, policy, now, &put_times_);
  }
  /// Returns the ids of the snapshots that are distrusted.
  [[nodiscard]] std::vector<std::string> distrusted() const {
    std::vector<std::string> ids;
    const auto groups = value_of(apply_policy(snapshots_, counting(keep_period::last, 1), {}, INT64_MAX, &put_times_));
    for (const snapshot_decision& each : groups.front().decisions) {
      if (each.is_distrusted) ids.push_back(each.snapshot.id);
    }
    return ids;
  }

  using times = std::vector<std::string>;
  const time_zone zone_{"UTC"};
  const std::int64_t attack_ = nanoseconds_of("2026-01-05 13:00:00");
  std::vector<store_snapshot> snapshots_;
  snapshot_put_times put_times_;
};

TEST_F(distrusted_times, take_no_place_and_are_kept) {
  const times future = {"2027-01-03 00:00:00", "2027-01-02 00:00:00", "2027-01-01 00:00:00"};
  for (const std::string& each : future) forge(each);
  forge("2026-01-04 23:00:00");
  for (const auto& policy : {counting(keep_period::daily, 3), counting(keep_period::last, 3)}) {
    EXPECT_EQ(kept_times(snapshots_, policy), future);  // the attack, if times are trusted
    EXPECT_EQ(remaining(policy), times({future[0], future[1], future[2], "2026-01-05 12:00:00", "2026-01-04 23:00:00",
                                        "2026-01-04 12:00:00", "2026-01-03 12:00:00"}));
  }
  EXPECT_EQ(distrusted(), times({future[0], future[1], future[2], "2026-01-04 23:00:00"}));
  const auto groups = value_of(apply_policy(snapshots_, counting(keep_period::last, 1), {}, INT64_MAX, &put_times_));
  EXPECT_EQ(groups.front().decisions.front().reasons, times({"distrusted time: put 2026-01-05T13:00:00Z"}));
}

TEST_F(distrusted_times, end_no_span) {
  forge("2026-03-01 00:00:00");
  const std::int64_t now = nanoseconds_of("2026-04-01 00:00:00");
  EXPECT_EQ(kept_times(snapshots_, within({.days = 2}), now), times({"2026-03-01 00:00:00"}));
  EXPECT_EQ(remaining(within({.days = 2}), now),
            times({"2026-03-01 00:00:00", "2026-01-05 12:00:00", "2026-01-04 12:00:00"}));
}

TEST_F(distrusted_times, differ_by_more_than_an_hour_from_the_end_of_a_backup) {
  constexpr std::int64_t hour = 3600 * nanoseconds_of_a_second;
  store_snapshot& longest = snapshots_[0];
  longest.duration = 30 * hour;
  std::int64_t& put = put_times_[longest.id];
  EXPECT_EQ(distrusted(), times({longest.id}));
  for (const std::int64_t delay : {-hour, hour}) {
    put = longest.time + longest.duration + delay;
    EXPECT_EQ(distrusted(), times()) << delay;
    put += delay < 0 ? -1 : 1;
    EXPECT_EQ(distrusted(), times({longest.id})) << delay;
  }
  put_times_.erase(longest.id);
  EXPECT_EQ(distrusted(), times({longest.id}));
}

TEST_F(distrusted_times, are_not_hidden_by_a_false_duration) {
  store_snapshot& forged = add("2026-01-01 23:00:00");
  forged.duration = attack_ - forged.time;
  put_times_[forged.id] = attack_;
  EXPECT_EQ(distrusted(), times());
  // It counts on the day of the attack, and takes no place before that.
  EXPECT_EQ(
      remaining(counting(keep_period::daily, 5)),
      times({"2026-01-04 12:00:00", "2026-01-03 12:00:00", "2026-01-02 12:00:00", forged.id, "2026-01-01 12:00:00"}));
}

TEST_F(distrusted_times, may_be_any_numbers) {
  store_snapshot& last = snapshots_.back();
  for (const std::int64_t time : {INT64_MIN, INT64_MAX}) {
    for (const std::int64_t duration : {INT64_MIN, INT64_MAX}) {
      last.time = time;
      last.duration = duration;
      for (const std::int64_t put : {std::int64_t{INT64_MIN}, attack_, std::int64_t{INT64_MAX}}) {
        put_times_[last.id] = put;
        EXPECT_EQ(distrusted(), times({last.id}));
      }
    }
  }
}

TEST_F(distrusted_times, are_no_reason_to_remove_all_others) {
  forge("2026-01-04 23:00:00", {"x"});
  EXPECT_TRUE(apply_policy(snapshots_, {.tags = {{"x"}}}, {}, INT64_MAX).ok());
  EXPECT_FALSE(apply_policy(snapshots_, {.tags = {{"x"}}}, {}, INT64_MAX, &put_times_).ok());
  for (auto& [id, put] : put_times_) put = attack_ + 7200 * nanoseconds_of_a_second;  // as after a copy
  EXPECT_EQ(remaining({.tags = {{"y"}}}).size(), snapshots_.size());
}

}  // namespace
}  // namespace cutpoint::tests
