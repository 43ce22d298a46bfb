// Parses and formats numbers, finds the nearest name, tells statuses, and reads the clock of a thread.
#include <algorithm>
#include <cerrno>
#include <charconv>
#include <ctime>
#include <limits>
#include <numeric>
#include <system_error>
#include <vector>

#include <cutpoint/status.h>
#include <cutpoint/text.h>
#include <cutpoint/timing.h>
#include <fmt/format.h>
#include <sys/resource.h>

namespace cutpoint {

namespace {

constexpr std::string_view suffixes = "KMGT";

char upper(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }

/// Returns the power of two that a suffix stands for, or -1 if it is not a suffix.
int suffix_shift(std::string_view suffix) {
  if (suffix.empty() || (suffix.size() == 1 && upper(suffix[0]) == 'B')) return 0;
  const auto index = suffixes.find(upper(suffix[0]));
  if (index == std::string_view::npos) return -1;
  const std::string_view rest = suffix.substr(1);
  const bool is_plain = rest.empty() || (rest.size() == 1 && upper(rest[0]) == 'B');
  const bool is_binary = rest.size() == 2 && upper(rest[0]) == 'I' && upper(rest[1]) == 'B';
  return is_plain || is_binary ? 10 * (static_cast<int>(index) + 1) : -1;
}

status too_large(std::string_view text) {
  return {status_code::invalid_argument, fmt::format("'{}' does not fit in 64 bits", text)};
}

/// Returns the name that takes the fewest edits, or an empty string if no name is near.
std::string_view nearest_name(std::string_view name, std::span<const std::string_view> names) {
  std::string_view nearest;
  std::size_t least_edits = std::max<std::size_t>(1, name.size() / 3) + 1;
  for (const std::string_view candidate : names) {
    // Levenshtein distance, one row at a time.
    std::vector<std::size_t> row(candidate.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 0; i < name.size(); ++i) {
      std::size_t diagonal = row[0];
      row[0] = i + 1;
      for (std::size_t j = 0; j < candidate.size(); ++j) {
        const std::size_t substituted = diagonal + (name[i] == candidate[j] ? 0 : 1);
        diagonal = row[j + 1];
        row[j + 1] = std::min({substituted, row[j] + 1, row[j + 1] + 1});
      }
    }
    if (row.back() < least_edits) {
      least_edits = row.back();
      nearest = candidate;
    }
  }
  return nearest;
}

}  // namespace

result<std::uint64_t> parse_size(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::result_out_of_range) return too_large(text);
  const auto digits = static_cast<std::size_t>(end - text.data());
  const int shift = suffix_shift(text.substr(digits));
  if (error != std::errc{} || shift < 0) {
    return status{status_code::invalid_argument,
                  fmt::format("'{}' is not a size: digits, then nothing or K, M, G, T (powers of 1024)", text)};
  }
  if (value > (std::numeric_limits<std::uint64_t>::max() >> shift)) return too_large(text);
  return value << shift;
}

result<std::uint64_t> parse_number(std::string_view text) {
  const bool is_hexadecimal = text.starts_with("0x") || text.starts_with("0X");
  const std::string_view digits = is_hexadecimal ? text.substr(2) : text;
  std::uint64_t value = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), value, is_hexadecimal ? 16 : 10);
  if (error == std::errc::result_out_of_range) return too_large(text);
  if (error != std::errc{} || end != digits.data() + digits.size()) {
    return status{status_code::invalid_argument,
                  fmt::format("'{}' is not a number: decimal digits, or hexadecimal ones after 0x", text)};
  }
  return value;
}

bool read_hex(std::string_view text, std::span<std::uint8_t> bytes) noexcept {
  if (text.size() != 2 * bytes.size()) return false;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const char* const digits = text.data() + 2 * i;
    if (std::from_chars(digits, digits + 2, bytes[i], 16).ptr != digits + 2) return false;
  }
  return true;
}

std::string format_size(std::uint64_t bytes) {
  std::size_t suffix = 0;
  while (suffix < suffixes.size() && bytes != 0 && bytes % 1024 == 0) {
    bytes /= 1024;
    ++suffix;
  }
  return suffix == 0 ? fmt::format("{}", bytes) : fmt::format("{}{}", bytes, suffixes[suffix - 1]);
}

std::string lower_case(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return lower;
}

std::string size_with_unit(std::uint64_t bytes) {
  if (bytes == 1) return "1 byte";
  return bytes != 0 && bytes % 1024 == 0 ? format_size(bytes) : fmt::format("{} bytes", bytes);
}

status unknown_name(std::string_view what, std::string_view name, std::span<const std::string_view> known) {
  const std::string_view nearest = nearest_name(name, known);
  const std::string hint = nearest.empty() ? fmt::format("; there are {}", fmt::join(known, ", "))
                                           : fmt::format(", did you mean '{}'?", nearest);
  return {status_code::unknown_name, fmt::format("no {} '{}'{}", what, name, hint)};
}

// The names of status codes, and the messages of failed system calls.

std::string_view to_string(status_code code) noexcept {
  constexpr std::string_view names[] = {"ok",           "invalid_argument", "unknown_name", "io_error",
                                        "memory_limit", "unavailable",      "cancelled",    "backend_failure"};
  const auto index = static_cast<std::size_t>(code);
  return index < std::size(names) ? names[index] : "unknown";
}

namespace {

/// Returns a note with the limit of this process that a call met which failed with `error`, or an empty string.
std::string limit_note(int error) {
  rlimit limit = {};
  const auto is_met = [&](int number, auto resource) {
    return error == number && ::getrlimit(resource, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
  };
  if (is_met(EFBIG, RLIMIT_FSIZE))
    return fmt::format(" (the limit of file sizes, ulimit -f, is {} bytes)", std::uint64_t{limit.rlim_cur});
  if (is_met(EMFILE, RLIMIT_NOFILE))
    return fmt::format(" (the limit of open files, ulimit -n, is {})", std::uint64_t{limit.rlim_cur});
  return {};
}

}  // namespace

status system_failure(std::string_view name, std::string_view done, int error) {
  return {status_code::io_error,
          fmt::format("{}: cannot be {}: {}{}", name, done, std::generic_category().message(error), limit_note(error)),
          error};
}

// Reads the clock of a thread, and computes medians.

double thread_seconds() noexcept {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

}  // namespace cutpoint
