// Checks and completes parameters, writes them as canonical strings, and reads sizes.
//
// It is apart from the catalog and from the chunkers, since compiling it for every algorithm takes long.
#include "host/core/parameters.h"

#include <algorithm>
#include <array>
#include <bit>
#include <iterator>
#include <utility>

#include <cutpoint/chunk_sizes.h>

#include "host/algorithms/all.h"

namespace cutpoint {

namespace {

status check_bounds(std::uint64_t value, const parameter_info& info) {
  if (value < info.lowest) return out_of_bounds(info.name, value, fmt::format("at least {}", info.lowest));
  if (value > info.highest) return out_of_bounds(info.name, value, fmt::format("at most {}", info.highest));
  return {};
}

status check_bounds(const std::optional<std::uint64_t>& value, const parameter_info& info) {
  return check_bounds(value.value(), info);
}

status check_bounds(const parameter_key&, const parameter_info&) { return {}; }
status check_bounds(const secret_key&, const parameter_info&) { return {}; }

template <class Choice>
requires std::is_enum_v<Choice> status check_bounds(Choice value, const parameter_info& info) {
  const auto index = static_cast<std::uint64_t>(value);
  const std::size_t count = choice_names(value).size();
  if (index >= count) return out_of_bounds(info.name, index, fmt::format("a choice below {}", count));
  return {};
}

bool is_left_out(const std::optional<std::uint64_t>& value) { return !value; }
bool is_left_out(const auto&) { return false; }

/// The types that a field of an aggregate may have.
template <class Field>
concept parameter_field = std::is_same_v<Field, std::uint64_t> || std::is_same_v<Field, std::optional<std::uint64_t>> ||
    std::is_same_v<Field, parameter_key> || std::is_same_v<Field, secret_key> || requires(Field field) {
  choice_names(field);
};

/// Checks each field that is given against its bounds.
template <class Parameters>
status check_given(const Parameters& p) {
  status first_error;
  reference_of<Parameters>::visit_fields(p, [&]<class Field>(const Field& field, const parameter_info& info) {
    static_assert(
        parameter_field<Field>,
        "a parameter is std::uint64_t, std::optional of it, an enumeration with choice_names, a parameter_key or a "
        "secret_key");
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
  reference_of<Parameters>::fill(p);
}

/// Checks the fields that were filled in. The message of an error describes how the value was derived.
template <class Parameters>
status check_filled(const Parameters& parameters, const Parameters& filled, size_ratios ratios) {
  using reference = reference_of<Parameters>;
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

std::optional<std::uint64_t> number_of(std::uint64_t value) { return value; }
std::optional<std::uint64_t> number_of(const std::optional<std::uint64_t>& value) { return value; }
std::optional<std::uint64_t> number_of(const auto&) { return std::nullopt; }

/// Checks the rules between fields, all of which must have a value.
template <class Parameters>
status check_between(const Parameters& p) {
  using reference = reference_of<Parameters>;
  std::vector<parameter_number> numbers;
  reference::visit_fields(p, [&](const auto& field, const parameter_info& info) {
    if (const auto number = number_of(field)) numbers.push_back({info.name, *number});
  });
  const status broken = check_rules(reference::rules_of(p), numbers);
  return broken.ok() ? reference::check(p) : broken;
}

}  // namespace

result<algorithm_parameters> complete(const algorithm_parameters& values, std::optional<size_ratios> ratios,
                                      std::optional<std::string_view> name) {
  return std::visit(
      [&](auto filled) -> result<algorithm_parameters> {
        using parameters = decltype(filled);
        using reference = reference_of<parameters>;
        const auto& before = std::get<parameters>(values);
        const size_ratios used_ratios = ratios.value_or(reference::ratios);
        status outcome = check_given(before);
        if (outcome.ok()) {
          fill(filled, used_ratios);
          outcome = check_filled(before, filled, used_ratios);
        }
        if (outcome.ok()) outcome = check_between(filled);
        if (!outcome.ok()) {
          return status{outcome.code(), fmt::format("{}: {}", name.value_or(reference::name), outcome.message())};
        }
        return algorithm_parameters(std::move(filled));
      },
      values);
}

std::string canonical_of(const algorithm_parameters& parameters) {
  std::vector<std::string> settings;
  const auto name = std::visit(
      [&](const auto& values) -> std::string_view {
        using reference = reference_of<std::decay_t<decltype(values)>>;
        reference::visit_fields(values, [&](const auto& field, const parameter_info& info) {
          settings.push_back(fmt::format("{}={}", info.name, format_value(field, info)));
        });
        return reference::name;
      },
      parameters);
  return fmt::format("{}({})", name, fmt::join(settings, ","));
}

// Tries several forms of the same sizes in turn.

namespace {

using settings = std::vector<parameter_setting>;

status wrong(std::string message) { return {status_code::invalid_argument, std::move(message)}; }

template <class Wanted>
settings those(std::span<const parameter_setting> sizes, Wanted&& wanted) {
  settings selected;
  std::copy_if(sizes.begin(), sizes.end(), std::back_inserter(selected), wanted);
  return selected;
}

/// Converts sizes to exponents of 2. Returns an empty list if a size is not a power of two.
settings powers_of_two(std::span<const parameter_setting> sizes) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 3> names = {
      {{"min_bytes", "min_exp"}, {"avg_bytes", "mask_bits"}, {"max_bytes", "max_exp"}}};
  settings selected;
  for (const parameter_setting& size : sizes) {
    const auto name = std::find_if(names.begin(), names.end(), [&](const auto& n) { return n.first == size.name; });
    const auto bytes = parse_size(size.value);
    if (name == names.end() || !bytes || !std::has_single_bit(*bytes)) return {};
    selected.push_back({std::string(name->second), fmt::format("{}", std::countr_zero(*bytes))});
  }
  return selected;
}

/// Returns whether the entry has all of these parameters and lets a caller set them.
bool takes(const catalog_entry& entry, const settings& size_settings) {
  return std::all_of(size_settings.begin(), size_settings.end(), [&entry](const parameter_setting& s) {
    return std::any_of(entry.parameters.begin(), entry.parameters.end(),
                       [&s](const listed_parameter& p) { return p.info.name == s.name && !p.is_fixed; });
  });
}

}  // namespace

result<std::vector<parameter_setting>> size_settings(const std::string& size) {
  const auto colons = std::count(size.begin(), size.end(), ':');
  if (colons == 0) return settings{{"avg_bytes", size}};
  if (colons != 2) return wrong(fmt::format("{}: must be MIN:AVG:MAX or AVG", size));
  const std::size_t first = size.find(':');
  const std::size_t second = size.rfind(':');
  const std::array<parameter_setting, 3> bounds = {{{"min_bytes", size.substr(0, first)},
                                                    {"avg_bytes", size.substr(first + 1, second - first - 1)},
                                                    {"max_bytes", size.substr(second + 1)}}};
  settings size_settings = those(bounds, [](const parameter_setting& bound) { return !bound.value.empty(); });
  if (size_settings.empty()) return wrong(fmt::format("{}: must have a part that is not empty", size));
  return size_settings;
}

result<chunker> chunker_at(std::string_view name, std::span<const parameter_setting> sizes) {
  CUTPOINT_TRY(const auto entry, find_entry(name));
  const std::array<settings, 4> alternatives = {
      settings(sizes.begin(), sizes.end()), those(sizes, [](const auto& s) { return s.name != "min_bytes"; }),
      those(sizes, [](const auto& s) { return s.name == "avg_bytes"; }), powers_of_two(sizes)};
  for (const settings& alternative : alternatives) {
    if (alternative.empty() || !takes(*entry, alternative)) continue;
    CUTPOINT_TRY(const auto chosen, make_chunker(name, alternative));
    if (chosen.warnings.empty()) return chosen.chunker;
  }
  return wrong(fmt::format("{} takes no such sizes", name));
}

}  // namespace cutpoint
