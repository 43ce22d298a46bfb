// The number of generated cases that a test runs.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>

namespace cutpoint::tests {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool is_sanitized = true;
#else
inline constexpr bool is_sanitized = false;
#endif

/// Whether an emulator runs the tests that takes some hundred times as long as a processor (tests/simd/avx512/).
[[nodiscard]] inline bool is_emulated() { return std::getenv("CUTPOINT_EMULATED") != nullptr; }

/// Returns `all`, or a thirtieth of it and at least 1 in a build with sanitizers, which check the use of memory and
/// threads, in which the cases hardly differ, and in an emulator.
template <typename Count>
[[nodiscard]] Count case_count(Count all) {
  return is_sanitized || is_emulated() ? std::max<Count>(all / 30, 1) : all;
}

/// Returns the number in an environment variable, or `usual` if it is not set. A developer sets it to run more cases or
/// to change the seed.
[[nodiscard]] inline std::uint64_t from_environment(const char* name, std::uint64_t usual) {
  const char* asked = std::getenv(name);
  return asked == nullptr ? usual : std::strtoull(asked, nullptr, 10);
}

}  // namespace cutpoint::tests
