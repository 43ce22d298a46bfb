// The source of a test's choices, which is a seeded generator here or a fuzzer's input in tests/fuzz, and the number of
// generated cases that a test runs.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "host/core/splitmix.h"

namespace cutpoint::tests {

class choices {
 public:
  choices() = default;
  choices(const choices&) = delete;
  choices& operator=(const choices&) = delete;
  virtual ~choices() = default;

  /// Returns any 64-bit word.
  virtual std::uint64_t word() = 0;

  /// Returns a number in [lowest, highest].
  std::uint64_t between(std::uint64_t lowest, std::uint64_t highest) {
    return lowest + word() % (highest - lowest + 1);
  }
  bool once_in(std::uint64_t count) { return between(1, count) == 1; }
  template <class Enum>
  Enum one_of(Enum last) {
    return static_cast<Enum>(between(0, static_cast<std::uint64_t>(last)));
  }
};

/// Choices from SplitMix64: equal seeds give equal choices on every machine.
class seeded_choices final : public choices {
 public:
  explicit seeded_choices(std::uint64_t seed) : words_(seed) {}
  std::uint64_t word() override { return words_.next(); }

 private:
  splitmix64 words_;
};

// The number of generated cases that a test runs.

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

/// Returns `few`, or `all` where CUTPOINT_ALL_CASES is set, as by `scripts/test --full`; with sanitizers and in an
/// emulator what `case_count(all)` returns. For tests in which the first cases find most faults that all of them find.
template <typename Count>
[[nodiscard]] Count case_count(Count few, Count all) {
  if (is_sanitized || is_emulated() || std::getenv("CUTPOINT_ALL_CASES") != nullptr) return case_count(all);
  return few;
}

/// Returns the number in an environment variable, or `usual` if it is not set. A developer sets it to run more cases or
/// to change the seed.
[[nodiscard]] inline std::uint64_t from_environment(const char* name, std::uint64_t usual) {
  const char* asked = std::getenv(name);
  return asked == nullptr ? usual : std::strtoull(asked, nullptr, 10);
}

}  // namespace cutpoint::tests
