// Numbers, names and lines of reports, for people.
#include <algorithm>
#include <array>
#include <cmath>

#include <cutpoint/report_text.h>
#include <fmt/format.h>

namespace cutpoint {

namespace {

/// Returns the length of the UTF-8 character at the beginning of the text, or 1 if there is none.
std::size_t character_bytes(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text.front());
  const std::size_t length = lead < 0xc2 || lead > 0xf4 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  if (length > text.size()) return 1;
  const auto is_continuation = [](char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; };
  return std::all_of(text.begin() + 1, text.begin() + length, is_continuation) ? length : 1;
}

/// Returns whether a terminal may act on the character: a control character (C1 also as a byte of Latin-1), or one that
/// changes the direction of text (U+061C, U+200E, U+200F, U+202A to U+202E, U+2066 to U+2069).
bool is_control(std::string_view character) {
  const auto last = static_cast<unsigned char>(character.back());
  if (character.size() == 1) return last < 0x20 || (last >= 0x7f && last < 0xa0);
  const std::string_view lead = character.substr(0, character.size() - 1);
  if (lead == "\xc2") return last < 0xa0;
  if (lead == "\xd8") return last == 0x9c;
  if (lead == "\xe2\x80") return last == 0x8e || last == 0x8f || (last >= 0xaa && last <= 0xae);
  return lead == "\xe2\x81" && last >= 0xa6 && last <= 0xa9;
}

}  // namespace

std::string printable(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::string_view character = text.substr(0, character_bytes(text));
    if (is_control(character)) {
      for (const char c : character) out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      out += character;
    }
    text.remove_prefix(character.size());
  }
  return out;
}

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

std::string counted(std::uint64_t count, std::string_view noun, std::string_view plural) {
  const bool takes_s = count != 1 && plural.empty();
  return fmt::format("{} {}{}", human_count(count), count == 1 || takes_s ? noun : plural, takes_s ? "s" : "");
}

std::string report_line(std::string_view name, std::string_view text) { return fmt::format("{:<14} {}\n", name, text); }

}  // namespace cutpoint
