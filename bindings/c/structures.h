// Reads and writes structures of the caller, which may be shorter or longer than this release's.
#pragma once

#include <algorithm>
#include <cstring>
#include <string>
#include <type_traits>

#include "bindings/c/outcome.h"

namespace cutpoint::embed {

/// No structure of any release is larger than this. A larger `struct_bytes` was not initialized.
inline constexpr std::uint64_t largest_structure_bytes = 4096;

inline outcome check_structure_bytes(std::string_view name, std::uint64_t struct_bytes, std::uint64_t smallest) {
  if (struct_bytes >= smallest && struct_bytes <= largest_structure_bytes) return {};
  return {CUTPOINT_INVALID_ARGUMENT, std::string(name) + "'s struct_bytes = " + std::to_string(struct_bytes) +
                                         " is not the size of a cutpoint_" + std::string(name)};
}

/// Copies the structure `user_structure` into `read`, which must be zeros. If `user_structure` is null, `read` keeps its zeros, which stand
/// for the defaults. `first_bytes` is the size of the structure in the first release.
template <class Structure>
outcome read_structure(const Structure* user_structure, std::string_view name, std::uint64_t first_bytes,
                       Structure& read) {
  static_assert(std::is_trivially_copyable_v<Structure> && sizeof(Structure) <= largest_structure_bytes);
  if (user_structure == nullptr) return {};
  if (outcome size = check_structure_bytes(name, user_structure->struct_bytes, first_bytes); !size.ok()) return size;
  const auto* const begin = reinterpret_cast<const unsigned char*>(user_structure);
  const std::uint64_t known_bytes = std::min<std::uint64_t>(user_structure->struct_bytes, sizeof(Structure));
  if (std::any_of(begin + known_bytes, begin + user_structure->struct_bytes, [](unsigned char b) { return b != 0; })) {
    return {CUTPOINT_INVALID_ARGUMENT,
            std::string(name) + " has fields that this release of the library does not have; leave them 0"};
  }
  std::memcpy(&read, user_structure, known_bytes);
  return {};
}

/// Copies as much of `known` as fits into the caller's structure, and fills the rest of it with zeros.
template <class Structure>
outcome write_structure(const Structure& known, std::string_view name, Structure& user_structure) {
  static_assert(std::is_trivially_copyable_v<Structure>);
  const std::uint64_t struct_bytes = user_structure.struct_bytes;
  if (outcome size = check_structure_bytes(name, struct_bytes, sizeof struct_bytes); !size.ok()) return size;
  auto* const begin = reinterpret_cast<unsigned char*>(&user_structure);
  const std::uint64_t known_bytes = std::min<std::uint64_t>(struct_bytes, sizeof(Structure));
  std::memcpy(begin, &known, known_bytes);
  std::fill(begin + known_bytes, begin + struct_bytes, static_cast<unsigned char>(0));
  user_structure.struct_bytes = struct_bytes;
  return {};
}

}  // namespace cutpoint::embed
