// JSON values that several reports share.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <cutpoint/backends.h>
#include <nlohmann/json.hpp>

namespace cutpoint::cli {

using nlohmann::ordered_json;

template <class Value>
[[nodiscard]] ordered_json or_null(const std::optional<Value>& value) {
  return value ? ordered_json(*value) : ordered_json();
}

/// Returns the list that `rows` make by `json_of_row`.
template <class Rows, class Function>
[[nodiscard]] ordered_json json_list(const Rows& rows, Function&& json_of_row) {
  ordered_json list = ordered_json::array();
  for (const auto& row : rows) list.push_back(json_of_row(row));
  return list;
}

[[nodiscard]] inline ordered_json back_ends_json() {
  return json_list(backends(), [](const backend_info& each) {
    return ordered_json{{"name", each.name}, {"meaning", each.meaning}, {"runs_here", each.runs_here}};
  });
}

/// Adds text to a record. If it is not UTF-8, the record also has its bytes in hexadecimal, as `<key>_hex`.
void add_text(ordered_json& record, const std::string& key, std::string_view text);

/// Adds a list of texts to a record in the same way: `<key>_hex` has the bytes of each text, if one of them is not UTF-8.
void add_texts(ordered_json& record, const std::string& key, const std::vector<std::string>& texts);

/// Returns a report as text. Text that is not UTF-8 gets replacement characters, because JSON cannot represent it.
[[nodiscard]] inline std::string json_text(const ordered_json& report) {
  return report.dump(2, ' ', false, ordered_json::error_handler_t::replace) + '\n';
}

/// Returns a value as one line, with the same replacement.
[[nodiscard]] inline std::string json_line(const ordered_json& value) {
  return value.dump(-1, ' ', false, ordered_json::error_handler_t::replace) + '\n';
}

}  // namespace cutpoint::cli
