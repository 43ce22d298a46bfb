#include "cli/common/options.h"

#include <fmt/format.h>

namespace cutpoint::cli {

namespace {

/// Options that several commands have stand in help under a heading for each concern.
struct option_group {
  const char* heading;
  std::vector<std::string_view> names;
};
const option_group option_groups[] = {
    {"Inputs",
     {"--files-from", "--files-from0", "--follow", "--exclude", "--iexclude", "--exclude-file", "--exclude-if-present",
      "--exclude-larger-than", "--include", "--one-file-system", "--exclude-caches", "--stdin-name",
      "--stdin-from-command", "--input"}},
    {"Cuts and fingerprints", {"--algorithm", "--profile", "--cuts", "--size", "--param", "--hash", "--hash-key"}},
    {"Back ends, threads and memory",
     {"--backend", "--device", "--device-memory", "--batch", "--memory", "--threads", "--segment", "--join"}},
    {"Store",
     {"--store", "--password-file", "--password-command", "--key-file", "--from-store", "--from-password-file",
      "--from-password-command", "--from-key-file"}},
    {"Output", {"--format", "--details", "--json", "--output", "--trace", "--quiet", "--verbose"}},
};

const char* help_heading_of(const option& added) {
  const std::vector<std::string> words = added.words();
  for (const option_group& each : option_groups) {
    if (!words.empty() && std::ranges::find(each.names, words.back()) != each.names.end()) return each.heading;
  }
  return "Options";
}

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

option& option::excludes(option& other) {
  excluded.push_back(&other);
  other.excluded.push_back(this);
  return *this;
}

option& option::required() {
  is_required = true;
  return *this;
}

option& option::one_of(std::vector<std::string_view> values) {
  choices = std::move(values);
  return *this;
}

option& option::or_variable(std::string name) {
  environment = std::move(name);
  return *this;
}

option& option::or_else(option& other) {
  alternatives.push_back(&other);
  other.alternatives.push_back(this);
  return *this;
}

option& option::not_empty(std::string problem) {
  empty_problem = std::move(problem);
  return *this;
}

std::vector<std::string> option::words() const {
  std::vector<std::string> words;
  for (std::size_t begin = 0; !is_argument() && begin < names.size();) {
    const std::size_t end = std::min(names.find(',', begin), names.size());
    words.push_back(names.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

option_list::option_list(std::string command_name) : command_name_(std::move(command_name)) {
  add_question("-h,--help", "Print this help message and exit");
}

option& option_list::add(std::string_view names, option_target target, std::string_view value,
                         std::string_view meaning) {
  option& added = options_.emplace_back();
  added.names = names;
  added.value = value;
  added.meaning = meaning;
  added.target = std::move(target);
  added.heading = help_heading_of(added);
  const auto* const text = std::get_if<std::string*>(&added.target);
  if (text != nullptr && !added.is_argument()) added.default_value = **text;
  return added;
}

option& option_list::add_flag(std::string_view names, bool& target, std::string_view meaning) {
  return add(names, &target, {}, meaning);
}

option& option_list::add_flag(std::string_view names, std::function<void()> function, std::string_view meaning) {
  return add(names, std::move(function), {}, meaning);
}

option& option_list::add_quiet(verbosity& level) {
  return add_flag(
      "-q,--quiet", [&level] { level = verbosity::quiet; }, "Print only errors");
}

void option_list::add_verbosity(verbosity& level) {
  option& quiet = add_quiet(level);
  add_flag(
      "-v,--verbose", [&level] { level = verbosity::verbose; }, "Print what is done")
      .excludes(quiet);
}

option& option_list::find(std::string_view word) {
  return *std::ranges::find_if(options_, [&](const option& each) {
    const std::vector<std::string> words = each.words();
    return std::ranges::find(words, word) != words.end();
  });
}

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
  CUTPOINT_TRY(const auto percent, checked_number(option, number, 0, 100));
  return static_cast<double>(percent) / 100;
}

}  // namespace cutpoint::cli
