// Parameters: their fields as text, their checks and completion, and their canonical strings.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <cutpoint/algorithms.h>
#include <cutpoint/status.h>
#include <cutpoint/text.h>
#include <fmt/format.h>

#include "host/algorithms/reference.h"

namespace cutpoint {

/// Fills in the fields that are left out, and checks all bounds and rules. The message of an error begins with `name`. The ratios and the
/// name of the algorithm stand in for those that are not given.
[[nodiscard]] result<algorithm_parameters> complete(const algorithm_parameters& values,
                                                    std::optional<size_ratios> ratios = {},
                                                    std::optional<std::string_view> name = {});

[[nodiscard]] std::string canonical_of(const algorithm_parameters& parameters);

// The fields of parameter aggregates as text.

using parameter_key = std::array<std::uint8_t, 32>;

inline std::string format_value(std::uint64_t value, const parameter_info& info) {
  return info.kind == value_kind::word ? fmt::format("{:#x}", value) : fmt::format("{}", value);
}

inline std::string format_value(const std::optional<std::uint64_t>& value, const parameter_info& info) {
  return value ? format_value(*value, info) : std::string();
}

inline std::string format_value(const secret_key& key, const parameter_info&) { return key.fingerprint(); }

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
  if (read_hex(text, key)) return {};
  return {status_code::invalid_argument,
          fmt::format("{} = '{}' must be {} hexadecimal digits", info.name, text, 2 * key.size())};
}

/// Accepts the fingerprint of the key that was given, and nothing else. No message contains the text, which may be a key.
inline status parse_value(std::string_view text, const parameter_info& info, const secret_key& key) {
  if (text == key.fingerprint()) return {};
  return {
      status_code::invalid_argument,
      fmt::format("{} is not the fingerprint of the key that was given, {}: text never has the key itself, which is "
                  "given apart",
                  info.name, key == secret_key() ? "which is none" : key.fingerprint())};
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

/// Describes how a parameter that is left out gets its value.
inline std::string rule_of(const parameter_info& info, size_ratios ratios) {
  if (info.name == "min_bytes" && ratios.min_divisor != 0) return fmt::format("avg_bytes / {}", ratios.min_divisor);
  if (info.name == "max_bytes" && ratios.max_factor != 0) return fmt::format("avg_bytes * {}", ratios.max_factor);
  return std::string(info.when_left_out);
}

}  // namespace cutpoint
