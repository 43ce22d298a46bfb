// The fields of parameter aggregates as text, and the checks and defaults that all aggregates share.
#pragma once

#include <charconv>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include <cutpoint/text.h>
#include <fmt/format.h>

#include "host/algorithms/reference.h"

namespace cutpoint {

using parameter_key = std::array<std::uint8_t, 32>;

inline std::string format_value(std::uint64_t value, const parameter_info& info) {
  return info.kind == value_kind::word ? fmt::format("{:#x}", value) : fmt::format("{}", value);
}

inline std::string format_value(const std::optional<std::uint64_t>& value, const parameter_info& info) {
  return value ? format_value(*value, info) : std::string();
}

inline std::string format_value(const parameter_key& key, const parameter_info&) {
  return fmt::format("{:02x}", fmt::join(key, ""));
}

template <class Choice>
requires std::is_enum_v<Choice> std::string format_value(Choice value, const parameter_info&) {
  return std::string(choice_names(value)[static_cast<std::size_t>(value)]);
}

inline status parse_value(std::string_view text, const parameter_info& info, std::uint64_t& value) {
  const result<std::uint64_t> parsed = info.kind == value_kind::size ? parse_size(text) : parse_number(text);
  if (!parsed) return {parsed.error().code(), fmt::format("{}: {}", info.name, parsed.error().message())};
  value = *parsed;
  return {};
}

inline status parse_value(std::string_view text, const parameter_info& info, std::optional<std::uint64_t>& value) {
  return parse_value(text, info, value.emplace());
}

inline status parse_value(std::string_view text, const parameter_info& info, parameter_key& key) {
  const auto wrong = [&] {
    return status{status_code::invalid_argument,
                  fmt::format("{} = '{}' must be {} hexadecimal digits", info.name, text, 2 * key.size())};
  };
  if (text.size() != 2 * key.size()) return wrong();
  for (std::size_t i = 0; i < key.size(); ++i) {
    const char* digits = text.data() + 2 * i;
    if (std::from_chars(digits, digits + 2, key[i], 16).ptr != digits + 2) return wrong();
  }
  return {};
}

template <class Choice>
requires std::is_enum_v<Choice> status parse_value(std::string_view text, const parameter_info& info, Choice& value) {
  const auto names = choice_names(Choice{});
  const auto choice = std::find(names.begin(), names.end(), text);
  if (choice == names.end()) {
    return {status_code::invalid_argument,
            fmt::format("{} = '{}' must be one of {}", info.name, text, fmt::join(names, ", "))};
  }
  value = static_cast<Choice>(choice - names.begin());
  return {};
}

template <class Field>
std::vector<std::string_view> choices_of(const Field&) {
  if constexpr (std::is_enum_v<Field>) {
    const auto names = choice_names(Field{});
    return {names.begin(), names.end()};
  } else {
    return {};
  }
}

inline status check_bounds(std::uint64_t value, const parameter_info& info) {
  if (value < info.lowest) return out_of_bounds(info.name, value, fmt::format("at least {}", info.lowest));
  if (value > info.highest) return out_of_bounds(info.name, value, fmt::format("at most {}", info.highest));
  return {};
}

inline status check_bounds(const std::optional<std::uint64_t>& value, const parameter_info& info) {
  return check_bounds(value.value(), info);
}

inline status check_bounds(const parameter_key&, const parameter_info&) { return {}; }

template <class Choice>
requires std::is_enum_v<Choice> status check_bounds(Choice value, const parameter_info& info) {
  const auto index = static_cast<std::uint64_t>(value);
  const std::size_t count = choice_names(value).size();
  if (index >= count) return out_of_bounds(info.name, index, fmt::format("a choice below {}", count));
  return {};
}

inline bool is_left_out(const std::optional<std::uint64_t>& value) { return !value; }
inline bool is_left_out(const auto&) { return false; }

/// The types that a field of an aggregate may have.
template <class Field>
concept parameter_field = std::is_same_v<Field, std::uint64_t> || std::is_same_v<Field, std::optional<std::uint64_t>> ||
    std::is_same_v<Field, parameter_key> || requires(Field field) {
  choice_names(field);
};

/// Describes how a parameter that is left out gets its value.
inline std::string rule_of(const parameter_info& info, size_ratios ratios) {
  if (info.name == "min_bytes" && ratios.min_divisor != 0) return fmt::format("avg_bytes / {}", ratios.min_divisor);
  if (info.name == "max_bytes" && ratios.max_factor != 0) return fmt::format("avg_bytes * {}", ratios.max_factor);
  return std::string(info.when_left_out);
}

/// Checks each field that is given against its bounds.
template <class Parameters>
status check_given(const Parameters& p) {
  status first_error;
  reference_of<Parameters>::type::visit_fields(p, [&]<class Field>(const Field& field, const parameter_info& info) {
    static_assert(
        parameter_field<Field>,
        "a parameter is std::uint64_t, std::optional of it, an enumeration with choice_names, or a parameter_key");
    if (first_error.ok() && !is_left_out(field)) first_error = check_bounds(field, info);
  });
  return first_error;
}

template <class Parameters>
void fill(Parameters& p, size_ratios ratios) {
  if constexpr (requires { p.min_bytes.has_value(); }) {
    if (!p.min_bytes && ratios.min_divisor != 0) p.min_bytes = p.avg_bytes / ratios.min_divisor;
  }
  if constexpr (requires { p.max_bytes.has_value(); }) {
    if (!p.max_bytes && ratios.max_factor != 0) p.max_bytes = p.avg_bytes * ratios.max_factor;
  }
  reference_of<Parameters>::type::fill(p);
}

/// Checks the fields that were filled in. The message of an error describes how the value was derived.
template <class Parameters>
status check_filled(const Parameters& parameters, const Parameters& filled, size_ratios ratios) {
  using reference = typename reference_of<Parameters>::type;
  std::vector<bool> left_out;
  reference::visit_fields(parameters,
                          [&](const auto& field, const parameter_info&) { left_out.push_back(is_left_out(field)); });
  status first_error;
  std::size_t index = 0;
  reference::visit_fields(filled, [&](const auto& field, const parameter_info& info) {
    if (!left_out[index++] || !first_error.ok()) return;
    const status checked = check_bounds(field, info);
    if (checked.ok()) return;
    first_error = {checked.code(),
                   fmt::format("{}; it was left out, so it is {}", checked.message(), rule_of(info, ratios))};
  });
  return first_error;
}

inline std::optional<std::uint64_t> number_of(std::uint64_t value) { return value; }
inline std::optional<std::uint64_t> number_of(const std::optional<std::uint64_t>& value) { return value; }
inline std::optional<std::uint64_t> number_of(const auto&) { return std::nullopt; }

/// Checks the rules between fields, all of which must have a value.
template <class Parameters>
status check_between(const Parameters& p) {
  using reference = typename reference_of<Parameters>::type;
  std::vector<parameter_number> numbers;
  reference::visit_fields(p, [&](const auto& field, const parameter_info& info) {
    if (const auto number = number_of(field)) numbers.push_back({info.name, *number});
  });
  const status broken = check_rules(reference::rules_of(p), numbers);
  return broken.ok() ? reference::check(p) : broken;
}

/// Fills in the fields that are left out, and checks all bounds and rules. The message of an error begins with `name`.
template <class Parameters>
result<Parameters> complete(const Parameters& parameters, size_ratios ratios, std::string_view name) {
  Parameters filled = parameters;
  status outcome = check_given(parameters);
  if (outcome.ok()) {
    fill(filled, ratios);
    outcome = check_filled(parameters, filled, ratios);
  }
  if (outcome.ok()) outcome = check_between(filled);
  if (!outcome.ok()) return status{outcome.code(), fmt::format("{}: {}", name, outcome.message())};
  return filled;
}

}  // namespace cutpoint
