// How many generated cases a test runs.
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

/// All cases, or a tenth of them, one at least, in a build with sanitizers: they look at memory and threads, which the cases share, and
/// the values are compared in every build.
template <typename Count>
[[nodiscard]] constexpr Count case_count(Count all) {
  return is_sanitized ? std::max<Count>(all / 10, 1) : all;
}

/// The number in an environment variable, by which a developer asks for more cases or for another seed.
[[nodiscard]] inline std::uint64_t from_environment(const char* name, std::uint64_t usual) {
  const char* asked = std::getenv(name);
  return asked == nullptr ? usual : std::strtoull(asked, nullptr, 10);
}

}  // namespace cutpoint::tests
