#include "store/policy/calendar.h"

#include <ctime>

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
