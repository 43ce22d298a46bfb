// Options that take one of several names, and the values that the names stand for.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

#include <cutpoint/status.h>
#include <cutpoint/text.h>

namespace cutpoint::cli {

template <class Value, std::size_t count>
using choice = std::array<std::pair<std::string_view, Value>, count>;

template <class Value, std::size_t count>
[[nodiscard]] std::vector<std::string_view> names_in(const choice<Value, count>& choices) {
  std::vector<std::string_view> names;
  for (const auto& each : choices) names.push_back(each.first);
  return names;
}

/// Returns the value of a name. Errors: unknown_name, with the names that there are.
template <class Value, std::size_t count>
[[nodiscard]] result<Value> chosen(std::string_view what, std::string_view name, const choice<Value, count>& choices) {
  const auto row = std::find_if(choices.begin(), choices.end(), [&](const auto& each) { return each.first == name; });
  if (row != choices.end()) return row->second;
  return unknown_name(what, name, names_in(choices));
}

}  // namespace cutpoint::cli
