// Times in the local time zone, as the rules of a policy count them.
#pragma once

#include <cstdint>

#include <cutpoint/store_policy.h>

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
