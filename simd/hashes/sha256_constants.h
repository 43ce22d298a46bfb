// The round constants of SHA-256 in the layout that vectors load: four copies of each.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "host/hash/sha_constants.h"

namespace cutpoint::simd {

inline constexpr std::size_t sha256_rounds = sha256_cube_roots.size();
inline constexpr std::size_t sha256_copies = 4;  ///< copies of each constant, which fill 128 bits

namespace detail {

constexpr std::array<std::uint32_t, sha256_rounds * sha256_copies> copied_sha256_constants() {
  std::array<std::uint32_t, sha256_rounds* sha256_copies> copies = {};
  for (std::size_t i = 0; i < copies.size(); ++i) copies[i] = sha256_cube_roots[i / sha256_copies];
  return copies;
}

}  // namespace detail

alignas(64) inline constexpr auto sha256_constants = detail::copied_sha256_constants();

}  // namespace cutpoint::simd
