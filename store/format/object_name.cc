#include "store/format/object_name.h"

#include <algorithm>
#include <array>

namespace cutpoint::store {

bool is_valid_id(std::string_view id) noexcept {
  const auto is_alphanumeric = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  return !id.empty() && id.size() <= 100 && is_alphanumeric(id.front()) &&
         std::all_of(id.begin(), id.end(), [&](char c) { return is_alphanumeric(c) || c == '-' || c == '.'; });
}

bool is_valid(const object_name& name) noexcept {
  const std::string_view id = name.id;
  if (name.kind != object_kind::container) return is_valid_id(id);
  const std::size_t slash = id.find('/');
  return slash != std::string_view::npos && is_valid_id(id.substr(0, slash)) && is_valid_id(id.substr(slash + 1));
}

std::string_view session_of(std::string_view id) noexcept { return id.substr(0, id.find_first_of("./-")); }

std::string_view folder_of(object_kind kind) noexcept {
  static constexpr std::array<std::string_view, object_kind_count> folders = {
      "", "keys", "containers", "shards", "snapshots", "leases", "log", "temporary"};
  return folders[static_cast<std::size_t>(kind)];
}

std::string place_of(const object_name& name) {
  const bool is_named_by_hash = name.kind == object_kind::container || name.kind == object_kind::snapshot;
  return is_named_by_hash ? std::string(folder_of(name.kind)) : path_of(name);
}

std::string path_of(const object_name& name) {
  const std::string_view folder = folder_of(name.kind);
  return folder.empty() ? name.id : std::string(folder) + "/" + name.id;
}

}  // namespace cutpoint::store
