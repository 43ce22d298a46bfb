#include "cli/common/json.h"

#include <fmt/format.h>

namespace cutpoint::cli {

namespace {

/// Returns whether all strings of a value are UTF-8.
bool is_utf8(const ordered_json& value) {
  return value.dump(-1, ' ', false, ordered_json::error_handler_t::replace) ==
         value.dump(-1, ' ', false, ordered_json::error_handler_t::ignore);
}

std::string hexadecimal(std::string_view text) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(text.data());
  return fmt::format("{:02x}", fmt::join(bytes, bytes + text.size(), ""));
}

}  // namespace

void add_text(ordered_json& record, const std::string& key, std::string_view text) {
  if (const ordered_json& added = record[key] = text; is_utf8(added)) return;
  record[key + "_hex"] = hexadecimal(text);
}

void add_texts(ordered_json& record, const std::string& key, const std::vector<std::string>& texts) {
  if (const ordered_json& added = record[key] = texts; is_utf8(added)) return;
  record[key + "_hex"] = json_list(texts, hexadecimal);
}

}  // namespace cutpoint::cli
