// Numbers as people read them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace cutpoint::cli {

/// "0 B", "999 B", "1.50 KiB", "12.3 MiB", "123 GiB": three digits, with the unit that fits.
[[nodiscard]] std::string human_bytes(double bytes);
/// As `human_bytes`, for each second.
[[nodiscard]] std::string human_rate(double bytes_per_second);
/// GiB a second, three digits.
[[nodiscard]] std::string gib_per_second(double bytes_per_second);
/// "12.3 %".
[[nodiscard]] std::string human_percent(double share);
/// "59s", "9m59s", "99m", "47h", "12d": at most five characters, for less than 100 days.
[[nodiscard]] std::string human_seconds(double seconds);
/// "1,234,567".
[[nodiscard]] std::string human_count(std::uint64_t count);

/// `format` of the number, "-" where there is none.
template <class Number, class Format>
[[nodiscard]] std::string or_dash(const std::optional<Number>& number, Format&& format) {
  return number ? format(static_cast<double>(*number)) : std::string("-");
}

}  // namespace cutpoint::cli
