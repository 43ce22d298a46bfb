#include "cli/common/option_values.h"

#include <utility>

#include <cutpoint/text.h>
#include <fmt/format.h>

namespace cutpoint::cli {

namespace {

/// Checks a parsed value. `shown` formats a bound as the user would write it.
template <class Shown>
result<std::uint64_t> within(std::string_view option, std::string_view text, const result<std::uint64_t>& value,
                             std::uint64_t least, std::uint64_t most, Shown&& shown) {
  if (!value) return usage_error(fmt::format("{}: {}", option, value.error().message()));
  if (*value >= least && *value <= most) return value;
  const std::string bounds = most == unbounded ? fmt::format("at least {}", shown(least))
                                               : fmt::format("between {} and {}", shown(least), shown(most));
  return usage_error(fmt::format("{} {}: must be {}", option, text, bounds));
}

}  // namespace

status usage_error(std::string message) { return {status_code::invalid_argument, std::move(message)}; }

result<std::uint64_t> checked_number(std::string_view option, std::string_view text, std::uint64_t least,
                                     std::uint64_t most) {
  return within(option, text, parse_number(text), least, most, [](std::uint64_t bound) { return bound; });
}

result<std::uint64_t> checked_size(std::string_view option, std::string_view text, std::uint64_t least,
                                   std::uint64_t most) {
  return within(option, text, parse_size(text), least, most, format_size);
}

result<std::string> id_that_begins(const std::string& text, const std::vector<std::string>& ids,
                                   std::string_view noun) {
  const auto begins = [&](const std::string& id) { return id.starts_with(text); };
  const auto count = std::count_if(ids.begin(), ids.end(), begins);
  if (count == 1) return *std::find_if(ids.begin(), ids.end(), begins);
  const std::string which = count == 0 ? fmt::format("no {}", noun) : fmt::format("{} {}s", count, noun);
  return usage_error(fmt::format("{}: {} begins with it", text, which));
}

result<double> checked_percent(std::string_view option, std::string_view text) {
  const std::string_view number = text.ends_with('%') ? text.substr(0, text.size() - 1) : text;
  const auto percent = checked_number(option, number, 0, 100);
  if (!percent) return percent.error();
  return static_cast<double>(*percent) / 100;
}

}  // namespace cutpoint::cli
