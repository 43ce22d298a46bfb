// Numbers, names and lines of reports, for people.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace cutpoint {

/// Replaces the bytes of control characters (C1 included), and of characters that change the direction of text, by
/// \xHH.
[[nodiscard]] std::string printable(std::string_view text);

/// Formats a size with three digits: "0 B", "999 B", "1.50 KiB", "12.3 MiB", "123 GiB".
[[nodiscard]] std::string human_bytes(double bytes);
/// Formats bytes per second as `human_bytes` does.
[[nodiscard]] std::string human_rate(double bytes_per_second);
/// Formats GiB per second with three digits.
[[nodiscard]] std::string gib_per_second(double bytes_per_second);
/// Formats a share as "12.3 %".
[[nodiscard]] std::string human_percent(double share);
/// Formats a time as "59s", "9m59s", "99m", "47h" or "12d". A time below 100 days has at most five characters.
[[nodiscard]] std::string human_seconds(double seconds);
/// The same, with tenths below ten seconds.
[[nodiscard]] std::string human_duration(double seconds);
/// Formats a count as "1,234,567".
[[nodiscard]] std::string human_count(std::uint64_t count);
/// Returns a count with a noun: in the plural, which is that with an s unless another is given, if the count is not 1.
[[nodiscard]] std::string counted(std::uint64_t count, std::string_view noun, std::string_view plural = {});

/// Formats a number with `format`; returns "-" for nullopt.
template <class Number, class Format>
[[nodiscard]] std::string or_dash(const std::optional<Number>& number, Format&& format) {
  return number ? format(static_cast<double>(*number)) : std::string("-");
}

/// Returns a line of a report: a name in a column of its own, and a text.
[[nodiscard]] std::string report_line(std::string_view name, std::string_view text);

/// Converts a count for `human_bytes` and the like, which show three digits.
[[nodiscard]] inline double as_double(std::uint64_t number) { return static_cast<double>(number); }

}  // namespace cutpoint
