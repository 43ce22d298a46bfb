// What the store knows of the names of objects besides `cutpoint/storage.h`.
#pragma once

#include <string>
#include <string_view>

#include <cutpoint/storage.h>

namespace cutpoint::store {

[[nodiscard]] bool is_valid_id(std::string_view id) noexcept;
/// Returns what an object is sealed for: its path, or its folder alone if its id is the hash of its bytes.
[[nodiscard]] std::string place_of(const object_name& name);

}  // namespace cutpoint::store
