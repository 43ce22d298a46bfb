// Structures that grow between releases, read from callers of any of them.
#pragma once

#include <algorithm>
#include <cstring>
#include <string>
#include <type_traits>

#include "bindings/c/outcome.h"

namespace cutpoint::embed {

/// No structure is larger, now or later: a size above it was never set.
inline constexpr std::uint64_t largest_structure_bytes = 4096;

inline outcome check_structure_bytes(std::string_view name, std::uint64_t given, std::uint64_t smallest) {
  if (given >= smallest && given <= largest_structure_bytes) return {};
  return {CUTPOINT_INVALID_ARGUMENT, std::string(name) + "'s struct_bytes = " + std::to_string(given) +
                                         " is not the size of a cutpoint_" + std::string(name)};
}

/// Copies what is given, which may be null for all defaults, into `read`, which is zeros. `first_bytes`: the size that
/// the structure had in the first release.
template <class Structure>
outcome read_structure(const Structure* given, std::string_view name, std::uint64_t first_bytes, Structure& read) {
  static_assert(std::is_trivially_copyable_v<Structure> && sizeof(Structure) <= largest_structure_bytes);
  if (given == nullptr) return {};
  if (outcome size = check_structure_bytes(name, given->struct_bytes, first_bytes); !size.ok()) return size;
  const auto* const begin = reinterpret_cast<const unsigned char*>(given);
  const std::uint64_t known_bytes = std::min<std::uint64_t>(given->struct_bytes, sizeof(Structure));
  if (std::any_of(begin + known_bytes, begin + given->struct_bytes, [](unsigned char b) { return b != 0; })) {
    return {CUTPOINT_INVALID_ARGUMENT,
            std::string(name) + " has fields that this release of the library does not have; leave them 0"};
  }
  std::memcpy(&read, given, known_bytes);
  return {};
}

/// Copies what is `known` into the caller's structure as far as it reaches, and zeros into the rest of it.
template <class Structure>
outcome write_structure(const Structure& known, std::string_view name, Structure& given) {
  static_assert(std::is_trivially_copyable_v<Structure>);
  const std::uint64_t struct_bytes = given.struct_bytes;
  if (outcome size = check_structure_bytes(name, struct_bytes, sizeof struct_bytes); !size.ok()) return size;
  auto* const begin = reinterpret_cast<unsigned char*>(&given);
  const std::uint64_t known_bytes = std::min<std::uint64_t>(struct_bytes, sizeof(Structure));
  std::memcpy(begin, &known, known_bytes);
  std::fill(begin + known_bytes, begin + struct_bytes, static_cast<unsigned char>(0));
  given.struct_bytes = struct_bytes;
  return {};
}

}  // namespace cutpoint::embed
