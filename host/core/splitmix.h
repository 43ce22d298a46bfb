// SplitMix64: pseudo-random words that depend only on the seed.
#pragma once

#include <cstdint>

namespace cutpoint {

class splitmix64 {
 public:
  static constexpr std::uint64_t step = 0x9e3779b97f4a7c15;

  explicit constexpr splitmix64(std::uint64_t seed) noexcept : state_(seed) {}

  constexpr std::uint64_t next() noexcept { return mixed(state_ += step); }

  /// The generator's final mixing function, in which every bit of the input affects every bit of the result.
  static constexpr std::uint64_t mixed(std::uint64_t word) noexcept {
    word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9;
    word = (word ^ (word >> 27)) * 0x94d049bb133111eb;
    return word ^ (word >> 31);
  }

 private:
  std::uint64_t state_;
};

}  // namespace cutpoint
