// The kinds of objects of a store, and their names.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace cutpoint::store {

/// What an object contains. docs/formats/store.md describes each kind.
enum class object_kind : std::uint8_t { config, key, container, shard, snapshot, lease, log_entry, temporary };
inline constexpr std::size_t object_kind_count = 8;

/// The name of an object. Names of different kinds never collide.
struct object_name {
  object_kind kind;
  std::string id;  ///< 1 to 100 of the characters a-z, 0-9, '-' and '.', beginning with a letter or a digit

  friend auto operator<=>(const object_name&, const object_name&) = default;
};

[[nodiscard]] bool is_valid_id(std::string_view id) noexcept;
/// Returns the folder of a kind, such as "containers"; empty for the config, which is in the root folder.
[[nodiscard]] std::string_view folder_of(object_kind kind) noexcept;
/// Returns what an object is sealed for: its path, or its folder alone if its id is the hash of its bytes.
[[nodiscard]] std::string place_of(const object_name& name);
/// Returns the path of an object below the root, which names it in messages too: "containers/00ff...".
[[nodiscard]] std::string path_of(const object_name& name);

}  // namespace cutpoint::store
