// Formats numbers with three digits and a unit.
#include "cli/common/units.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

namespace cutpoint::cli {

std::string human_bytes(double bytes) {
  constexpr std::array<std::string_view, 7> units = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  std::size_t unit = 0;
  while (std::abs(bytes) >= 999.5 && unit + 1 < units.size()) {
    bytes /= 1024;
    ++unit;
  }
  const double size = std::abs(bytes);
  const int decimals = unit == 0 || size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2;
  return fmt::format("{:.{}f} {}", bytes, decimals, units[unit]);
}

std::string human_rate(double bytes_per_second) { return human_bytes(bytes_per_second) + "/s"; }

std::string gib_per_second(double bytes_per_second) {
  const double rate = bytes_per_second / (1024.0 * 1024 * 1024);
  return fmt::format("{:.{}f}", rate, rate >= 99.95 ? 0 : rate >= 9.995 ? 1 : 2);
}

std::string human_percent(double share) { return fmt::format("{:.1f} %", share * 100); }

std::string human_seconds(double seconds) {
  constexpr std::uint64_t minute = 60;
  constexpr std::uint64_t hour = 60 * minute;
  constexpr std::uint64_t day = 24 * hour;
  const auto whole = static_cast<std::uint64_t>(std::min(std::max(0.0, seconds), 1e15));
  if (whole < minute) return fmt::format("{}s", whole);
  if (whole < 10 * minute) return fmt::format("{}m{:02}s", whole / minute, whole % minute);
  if (whole < 100 * minute) return fmt::format("{}m", whole / minute);
  if (whole < 2 * day) return fmt::format("{}h", whole / hour);
  return fmt::format("{}d", whole / day);
}

std::string human_duration(double seconds) {
  return seconds < 9.95 ? fmt::format("{:.1f}s", std::max(0.0, seconds)) : human_seconds(seconds);
}

std::string human_count(std::uint64_t count) {
  const std::string digits = fmt::format("{}", count);
  std::string out;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i != 0 && (digits.size() - i) % 3 == 0) out += ',';
    out += digits[i];
  }
  return out;
}

std::string line(std::string_view name, std::string_view text) { return fmt::format("{:<14} {}\n", name, text); }

}  // namespace cutpoint::cli
