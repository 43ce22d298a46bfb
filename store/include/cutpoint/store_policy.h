// Rules that say which snapshots of a store are kept: those of `cutpoint forget`, with restic's meaning.
//
// docs/store.md describes the rules.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <cutpoint/status.h>
#include <cutpoint/store.h>

namespace cutpoint {

/// A time span by the calendar: a month has as many days as the month in which it ends.
struct calendar_span {
  std::uint32_t years = 0;
  std::uint32_t months = 0;
  std::uint32_t days = 0;
  std::uint32_t hours = 0;

  [[nodiscard]] bool is_empty() const noexcept { return *this == calendar_span(); }
  friend bool operator==(const calendar_span&, const calendar_span&) = default;
};

/// The largest number of a `calendar_span`.
inline constexpr std::uint32_t most_calendar_units = 1'000'000;

/// Parses a span such as 1y2m3d4h. Errors: invalid_argument, which says what is wrong.
[[nodiscard]] result<calendar_span> parse_calendar_span(std::string_view text);
/// Returns a span as `parse_calendar_span` takes it, without units that are 0.
[[nodiscard]] std::string to_string(const calendar_span& span);

/// What snapshots are counted by. `last` counts every snapshot, and the others count the hours, days, ISO weeks, months
/// or years that have a snapshot.
enum class keep_period : std::uint8_t { last, hourly, daily, weekly, monthly, yearly };
inline constexpr std::size_t keep_period_count = 6;

/// A count that keeps the newest snapshot of all periods.
inline constexpr std::uint64_t unlimited_snapshots = UINT64_MAX;

/// A snapshot is kept if one of the rules keeps it. A rule that keeps an incomplete snapshot keeps the next older one that is
/// complete, too, so that the last complete one never goes for one that may lack what it has.
struct snapshot_policy {
  /// For each `keep_period` a number of periods. The newest snapshot of each of the newest periods is kept. If there are
  /// fewer periods, the oldest snapshot is kept too.
  std::array<std::uint64_t, keep_period_count> counts = {};
  /// For each `keep_period` a span. Of the snapshots that are less than the span older than the newest one, the newest of
  /// each period is kept, and so is the oldest snapshot of all if it is one of them. An empty span is no rule.
  std::array<calendar_span, keep_period_count> spans = {};
  /// Snapshots that have all tags of one of the lists are kept. A list with an empty word stands for no tags at all.
  std::vector<std::vector<std::string>> tags = {};

  [[nodiscard]] bool is_empty() const noexcept { return *this == snapshot_policy(); }
  friend bool operator==(const snapshot_policy&, const snapshot_policy&) = default;
};

/// What the snapshots of a group have in common. The rules are applied to each group on its own.
struct snapshot_grouping {
  bool uses_host = true;
  bool uses_paths = true;
  bool uses_tags = false;
};

/// Which snapshots are looked at. All of the conditions must hold; an empty list is no condition.
struct snapshot_filter {
  std::vector<std::string> hosts = {};              ///< one of them
  std::vector<std::string> paths = {};              ///< all of them, as the snapshot names them
  std::vector<std::vector<std::string>> tags = {};  ///< one of the lists, as in `snapshot_policy`

  [[nodiscard]] bool matches(const store_snapshot& snapshot) const;
};

struct snapshot_decision {
  store_snapshot snapshot;
  std::vector<std::string> reasons;  ///< such as "daily snapshot"; empty if no rule keeps it
  /// Whether it is kept because its time does not fit the time when it was put, which is then its only reason. No rule looks at it.
  bool is_distrusted = false;

  [[nodiscard]] bool is_kept() const noexcept { return !reasons.empty(); }
};

struct snapshot_group {
  // What the grouping uses; the others are empty. Paths and tags are sorted.
  std::string host;
  std::vector<std::string> paths;
  std::vector<std::string> tags;

  std::vector<snapshot_decision> decisions;  ///< the newest first
};

/// Puts snapshots into groups, in the order of their hosts, paths and tags. Nothing says yet which are kept. Thread-safe.
[[nodiscard]] std::vector<snapshot_group> group_snapshots(std::span<const store_snapshot> snapshots,
                                                          const snapshot_grouping& grouping);

/// When snapshots were put, by their ids, in nanoseconds since 1970 (UTC) by the clock of the storage.
using snapshot_put_times = std::map<std::string, std::int64_t>;

/// By how much the time of a snapshot plus its duration may differ from the time when it was put: an hour, in nanoseconds.
inline constexpr std::int64_t most_put_delay = 3'600'000'000'000;

/// Decides which snapshots a policy keeps, and removes nothing. Hours, days, weeks, months and years are those of the
/// local time zone of the process. `now`, in nanoseconds since 1970, is the present time: spans end at the newest snapshot
/// of the group that is not in the future. Groups are in the order of their hosts, paths and tags. Thread-safe, unless
/// another thread changes the time zone. Errors: invalid_argument, if the policy is empty, or if no rule keeps a snapshot
/// of a group, so that nothing of it would be left.
///
/// With `put_times` (`backup_store::put_times`) nothing that a snapshot says of its own time decides: whoever may only add
/// snapshots could otherwise give them times by which the rules keep them in the places of others. A snapshot counts at the time
/// when it was put. One whose time plus duration differs from that by more than `most_put_delay`, or that has no entry, is
/// distrusted, and takes no place.
[[nodiscard]] result<std::vector<snapshot_group>> apply_policy(std::span<const store_snapshot> snapshots,
                                                               const snapshot_policy& policy,
                                                               const snapshot_grouping& grouping, std::int64_t now,
                                                               const snapshot_put_times* put_times = nullptr);

}  // namespace cutpoint
