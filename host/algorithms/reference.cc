// Checks conditions, and describes them in words.
#include "host/algorithms/reference.h"

#include <cmath>

#include "host/algorithms/gf2.h"

namespace cutpoint {

namespace {

using condition = parameter_rule::condition;

std::uint64_t value_of(std::string_view name, const std::vector<parameter_number>& values) {
  const auto entry = std::find_if(values.begin(), values.end(), [&](const auto& each) { return each.name == name; });
  return entry != values.end() ? entry->value : 0;
}

std::uint64_t bytes_to_hold(const std::vector<parameter_number>& values) {
  return (std::uint64_t{1} << value_of("min_exp", values)) + value_of("window", values) + 1;
}

std::uint64_t mean_of_bounds(const std::vector<parameter_number>& values) {
  return (value_of("min_bytes", values) + value_of("max_bytes", values) + 1) / 2;
}

bool holds(const parameter_rule& rule, const std::vector<parameter_number>& values) {
  const std::uint64_t value = value_of(rule.parameter, values);
  if (rule.exception == value) return true;
  const std::uint64_t other = rule.other.empty() ? rule.value : value_of(rule.other, values);
  if (rule.allows_no_other && other == 0) return true;
  switch (rule.must) {
    case condition::at_least:
      return value >= other;
    case condition::at_most:
      return value <= other;
    case condition::more_than:
      return value > other;
    case condition::less_than:
      return value < other;
    case condition::power_of_two:
      return std::has_single_bit(value);
    case condition::even:
      return value % 2 == 0;
    case condition::odd:
      return value % 2 == 1;
    case condition::irreducible:
      return gf2::is_irreducible(value);
    case condition::holds_window:
      return std::uint64_t{1} << value >= bytes_to_hold(values);
    case condition::has_mask:
      return value + rounded_log2(value_of("avg_bytes", values)) <= rule.value;
    case condition::mean_of_bounds:
      return value == mean_of_bounds(values);
  }
  return false;
}

/// The texts of each condition, in the order of the enumeration.
struct condition_text {
  std::string_view name;
  std::string_view sentence;  ///< {} is the bound
};
constexpr condition_text condition_texts[] = {
    {"at_least", "at least {}"},
    {"at_most", "at most {}"},
    {"more_than", "more than {}"},
    {"less_than", "less than {}"},
    {"power_of_two", "a power of two"},
    {"even", "even"},
    {"odd", "odd"},
    {"irreducible", "irreducible over GF(2)"},
    {"holds_window", "so large that 2^max_exp holds {}"},
    {"has_mask", "at most {}"},
    {"mean_of_bounds", "the mean of min_bytes and max_bytes, {}"},
};

/// Describes a condition. `bound` is the text for the value that it compares with.
std::string sentence(const parameter_rule& rule, std::string_view bound) {
  const std::string_view text = condition_texts[static_cast<std::size_t>(rule.must)].sentence;
  return fmt::format(fmt::runtime(text), bound) + (rule.exception ? fmt::format(", or {}", *rule.exception) : "");
}

std::string bound_of(const parameter_rule& rule, const std::vector<parameter_number>& values) {
  if (rule.must == condition::holds_window) {
    return fmt::format("2^min_exp + window + 1 = {} bytes", bytes_to_hold(values));
  }
  if (rule.must == condition::has_mask) {
    return fmt::format("{}", rule.value - rounded_log2(value_of("avg_bytes", values)));
  }
  if (rule.must == condition::mean_of_bounds) return fmt::format("{}", mean_of_bounds(values));
  if (rule.other.empty()) return fmt::format("{}", rule.value);
  return fmt::format("{} = {}", rule.other, value_of(rule.other, values));
}

status broken(const parameter_rule& rule, const std::vector<parameter_number>& values) {
  const std::uint64_t value = value_of(rule.parameter, values);
  const std::string shown =
      rule.must == condition::irreducible ? fmt::format("{:#x}", value) : fmt::format("{}", value);
  return {status_code::invalid_argument,
          fmt::format("{} = {} must be {}", rule.parameter, shown, sentence(rule, bound_of(rule, values)))};
}

}  // namespace

std::uint64_t rounded_log2(std::uint64_t avg_bytes) {
  return static_cast<std::uint64_t>(std::lround(std::log2(static_cast<double>(avg_bytes))));
}

std::string_view to_string(parameter_rule::condition which) noexcept {
  const auto index = static_cast<std::size_t>(which);
  return index < std::size(condition_texts) ? condition_texts[index].name : "unknown";
}

std::string describe(const parameter_rule& rule) {
  if (rule.must == condition::holds_window) return sentence(rule, "2^min_exp + window + 1 bytes");
  if (rule.must == condition::has_mask) return sentence(rule, fmt::format("{} less log2(avg_bytes)", rule.value));
  if (rule.must == condition::mean_of_bounds) return sentence(rule, "rounded up");
  return sentence(rule, rule.other.empty() ? fmt::format("{}", rule.value) : std::string(rule.other));
}

status check_rules(const parameter_rules& all, const std::vector<parameter_number>& values) {
  const auto first = std::find_if(all.begin(), all.end(), [&](const auto& rule) { return !holds(rule, values); });
  return first != all.end() ? broken(*first, values) : status();
}

}  // namespace cutpoint
