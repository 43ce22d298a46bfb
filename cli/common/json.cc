#include "cli/common/json.h"

#include <fmt/format.h>

namespace cutpoint::cli {

void add_text(ordered_json& record, const std::string& key, std::string_view text) {
  const ordered_json& added = record[key] = text;
  const std::string shown = added.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
  if (shown == added.dump(-1, ' ', false, ordered_json::error_handler_t::ignore)) return;
  const auto* bytes = reinterpret_cast<const unsigned char*>(text.data());
  record[key + "_hex"] = fmt::format("{:02x}", fmt::join(bytes, bytes + text.size(), ""));
}

}  // namespace cutpoint::cli
