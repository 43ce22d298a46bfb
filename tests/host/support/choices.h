// The source of a test's choices: a seeded generator here, or a fuzzer's input in tests/fuzz.
#pragma once

#include <cstdint>

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

}  // namespace cutpoint::tests
