// What the store knows of the names of objects besides `cutpoint/storage.h`.
#pragma once

#include <string>
#include <string_view>

#include <cutpoint/storage.h>

namespace cutpoint::store {

/// Returns whether an id is one that an object other than a container may have.
[[nodiscard]] bool is_valid_id(std::string_view id) noexcept;
[[nodiscard]] bool is_valid(const object_name& name) noexcept;
/// Returns the session of a lease, a container or a temporary file, which is what the id has before `.`, `/` or `-`.
[[nodiscard]] std::string_view session_of(std::string_view id) noexcept;
/// Returns what an object is sealed for: its path, or its folder alone if its id is the hash of its bytes.
[[nodiscard]] std::string place_of(const object_name& name);

}  // namespace cutpoint::store
